package io.heddle.bridge.fabric;

import io.heddle.bridge.group.GroupAddress;
import io.heddle.bridge.group.LoopRules;
import io.heddle.verbs.Gid;
import java.util.List;

/**
 * A bridge's end in one fabric: the seam between what forwards and what a fabric is made of.
 *
 * <p>The control thread opens, joins, leaves and closes. Everything else is the data thread's.
 */
public interface FabricPort extends AutoCloseable {
  String name();

  /** Kind, interface and addresses, for people. */
  String describe();

  /** The bridge's own addresses there, IPv4 ones mapped. */
  List<Gid> ownAddresses();

  /** Prefixes of the fabric's hosts, by the interface's addresses. */
  List<LoopRules.Prefix> ownPrefixes();

  /** What becomes readable when packets come. */
  int descriptor();

  /**
   * Prepares for a sleep until {@link #descriptor} is readable.
   *
   * @return false where something has come already, so that there is no sleep
   */
  boolean mayRest();

  /**
   * Bytes that a packet to such an address may have, from the BTH to the end of the CRC.
   *
   * @param ipv4 the family of the address
   */
  int mostBytes(boolean ipv4);

  /** Where it counts, from the status file. Before the first packet. */
  void countAt(long counters);

  /**
   * Looks what became of the fabric's end.
   *
   * @return what is wrong, in words; empty for nothing
   */
  String look();

  /**
   * Whether packets keep their numbers and their senders' queue pairs on their way through this
   * fabric's end. Otherwise a copy is known by its payload alone.
   */
  boolean keepsHeaders();

  /** Receives a group from now on, under this name instead of another that it had. */
  void join(GroupAddress group);

  void leave(Gid group);

  /**
   * How packets are sent to a group.
   *
   * @param trafficClass of the IP header
   */
  Way wayTo(GroupAddress group, int trafficClass);

  /** Frees what a way has that isn't used any more. */
  void retire(Way way);

  /**
   * How packets are sent to a host from another host's address. Only of a fabric that was opened
   * for that.
   */
  Way wayBetween(Gid source, Gid destination, int trafficClass);

  /**
   * Receives without waiting. What the batch holds is good until the next call.
   *
   * @return trains received
   */
  int poll();

  /** What the last {@link #poll} received. */
  TrainBatch batch();

  /**
   * The CRC-32 of a packet of the batch, with congestion marks as zeros.
   *
   * @param covered bytes from the BTH to the end of the pad
   */
  int checksum(long packet, int covered);

  /**
   * Whether a packet of the batch is what its sender made.
   *
   * @param covered bytes from the BTH to the end of the pad
   * @param crc of them, as {@link #checksum} has it
   */
  boolean isRight(int train, long packet, int covered, int crc);

  /**
   * Queues a packet, which must stay where it is until the next {@link #flush}. Its CRC is made
   * anew.
   *
   * @param lengthBytes from the BTH to the end of the CRC
   * @param crc of the bytes before the CRC, congestion marks as zeros
   * @param counters of its group and direction
   * @param arrivedNs when the system received it, by {@link System#nanoTime}
   */
  void send(Way way, long packet, int lengthBytes, int crc, long counters, long arrivedNs);

  /** Hands over to the system what is queued, and counts what became of it. */
  void flush();

  /** Drops what is queued, uncounted: where it lies there may be other packets by now. */
  void discard();

  @Override
  void close();
}
