package io.heddle.bridge.fabric;

import io.heddle.bridge.group.GroupAddress;
import io.heddle.bridge.group.LoopRules;
import io.heddle.verbs.Gid;
import java.util.List;

/**
 * The bridge's port in one fabric: the interface between forwarding and the kinds of fabrics.
 *
 * <p>The control thread opens, joins, leaves and closes. Everything else belongs to the data
 * thread.
 */
public interface FabricPort extends AutoCloseable {
  String name();

  /** Returns kind, interface and addresses, for people. */
  String describe();

  /** Returns the bridge's own addresses there, with IPv4 in mapped form. */
  List<Gid> ownAddresses();

  /** Returns the prefixes of the fabric's hosts, from the interface's addresses. */
  List<LoopRules.Prefix> ownPrefixes();

  /** Returns the descriptor that becomes readable when packets arrive. */
  int descriptor();

  /**
   * Prepares for a sleep until {@link #descriptor} is readable.
   *
   * @return false if packets are pending, so that the thread must not sleep
   */
  boolean maySleep();

  /**
   * Returns the maximum length of a packet to this family, from the BTH to the end of the CRC.
   *
   * @param ipv4 the family of the address
   */
  int mostBytes(boolean ipv4);

  /** Sets the address of its counters in the status file. Called before the first packet. */
  void countAt(long counters);

  /**
   * Checks the state of the port.
   *
   * @return the fault in words; empty for none
   */
  String check();

  /**
   * Returns whether packets keep their sequence numbers and source queue pairs through this port.
   * Otherwise a copy can be recognized by its payload only.
   */
  boolean keepsHeaders();

  /** Joins a group to receive it. A group known under an earlier name is left under that name. */
  void join(GroupAddress group);

  void leave(Gid group);

  /**
   * Returns the path to a group.
   *
   * @param trafficClass of the IP header
   */
  SendPath sendPathTo(GroupAddress group, int trafficClass);

  /** Frees the resources of a path that is no longer used. */
  void retire(SendPath sendPath);

  /**
   * Returns the path to a host from another host's address. Only on a fabric that was opened for
   * that.
   */
  SendPath sendPathBetween(Gid source, Gid destination, int trafficClass);

  /**
   * Receives without waiting. The batch is valid until the next call.
   *
   * @return trains received
   */
  int poll();

  /** Returns the packets of the last {@link #poll}. */
  TrainBatch batch();

  /**
   * Returns the CRC-32 of a packet of the batch, with congestion marks as zeros.
   *
   * @param covered bytes from the BTH to the end of the pad
   */
  int checksum(long packet, int covered);

  /**
   * Returns whether a packet of the batch is intact.
   *
   * @param covered bytes from the BTH to the end of the pad
   * @param crc of them, from {@link #checksum}
   */
  boolean isIntact(int train, long packet, int covered, int crc);

  /**
   * Queues a packet, which must stay in place until the next {@link #flush}. Its CRC is recomputed.
   *
   * @param lengthBytes from the BTH to the end of the CRC
   * @param crc of the bytes before the CRC, congestion marks as zeros
   * @param counters of its group and direction
   * @param arrivedNs when the system received it, by {@link System#nanoTime}
   */
  void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs);

  /** Passes the queued packets to the system, and counts the results. */
  void flush();

  /** Drops the queued packets, uncounted: their memory may hold other packets by now. */
  void discard();

  @Override
  void close();
}
