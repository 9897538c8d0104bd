package io.heddle.bridge.fabric;

import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.verbs.Gid;
import java.util.List;

/**
 * Port of the bridge in one fabric, which hides the kind of fabric from the forwarding.
 *
 * <p>The data thread polls and sends. The control path opens, joins, leaves, checks, creates paths,
 * and closes.
 */
public interface FabricPort extends AutoCloseable {
  String name();

  /** Returns kind, interface and addresses, for people. */
  String describe();

  /** Returns the bridge's own addresses in the fabric, with IPv4 in mapped form. */
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
   * Returns the maximum length of a packet, from the BTH to the end of the CRC.
   *
   * @param ipv4 whether the destination has an IPv4 address
   */
  int mostBytes(boolean ipv4);

  /** Sets the address of the port's counters in the status file. Called before the first packet. */
  void countAt(long counters);

  /**
   * Checks the state of the port.
   *
   * @return the fault in words; empty for none
   */
  String check();

  /**
   * Returns whether packets keep their sequence numbers and source queue pairs through this port.
   * Otherwise a packet that comes back can be recognized only by its payload.
   */
  boolean keepsHeaders();

  /**
   * Joins a group as a receiver. If the group was joined with another MGID before, that one is
   * left.
   */
  void join(GroupAddress group);

  void leave(Gid group);

  /**
   * Returns the path to a group.
   *
   * @param trafficClass traffic class in the IP header
   */
  SendPath sendPathTo(GroupAddress group, int trafficClass);

  /** Frees the resources of a path that is no longer used. */
  void retire(SendPath sendPath);

  /**
   * Returns the path to a host from an address that needn't be the port's own. Only a port that was
   * opened for foreign source addresses can send from them.
   */
  SendPath sendPathBetween(Gid source, Gid destination, int trafficClass);

  /**
   * Receives without waiting. The batch is valid until the next call.
   *
   * @return number of received segment trains
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
   * @param crc CRC of these bytes, from {@link #checksum}
   */
  boolean isIntact(int train, long packet, int covered, int crc);

  /**
   * Queues a packet, which must stay in place until the next {@link #flush}. The invariant CRC in
   * it is recomputed.
   *
   * @param lengthBytes length of the packet from the BTH to the end of the CRC
   * @param crc CRC of the packet's bytes, from {@link #checksum}
   * @param counters address of the counters of the packet's group and direction
   * @param arrivedNs time when the system received the packet, by {@link System#nanoTime}
   */
  void send(
      SendPath sendPath, long packet, int lengthBytes, int crc, long counters, long arrivedNs);

  /** Passes the queued packets to the system, and counts the results. */
  void flush();

  /**
   * Drops the queued packets without counting them: their memory may contain other packets by now.
   */
  void discard();

  @Override
  void close();
}
