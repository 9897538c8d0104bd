package io.heddle.bridge.status;

import java.util.Locale;

/** Reason why a packet wasn't forwarded. Packets are counted by reason, group and direction. */
public enum DropReason {
  /** The packet's source is the bridge's own address. */
  OWN_SOURCE,

  /** The packet's source is another bridge. */
  KNOWN_BRIDGE,

  /** The packet's source is outside the fabric's prefixes. */
  FOREIGN_SOURCE,

  /** The bridge itself sent the packet into this fabric within the last 100 ms. */
  STORM_COPY,

  /** The group is suspended: 100 of its packets came back within a second. */
  SUSPENDED,

  /** The group is forwarded in the other direction only. */
  ONE_WAY,

  /** The packet is no unreliable datagram. */
  MALFORMED,

  /** The packet's destination queue pair isn't the multicast queue pair. */
  NOT_MULTICAST,

  /** The packet's invariant CRC is wrong. */
  BAD_CHECKSUM,

  /** The packet doesn't fit the other fabric's MTU. */
  TOO_LARGE,

  /** The group's queue at its rate limit was full. */
  QUEUE_FULL,

  /** The memory of all queues was full. */
  POOL_FULL,

  /** The packet was queued when its group was removed from the configuration. */
  GROUP_REMOVED,

  /** The system refused to send the packet. */
  NOT_SENT,

  /** The packet's destination isn't a host of the other fabric. */
  FOREIGN_DESTINATION,

  /**
   * The packet's destination is queue pair 0, the multicast queue pair, or queue pair 1 of a
   * libibverbs device, which the bridge doesn't own.
   */
  WRONG_QUEUE_PAIR,

  /** The packet's destination is queue pair 1, and its queue key is wrong. */
  WRONG_QUEUE_KEY,

  /**
   * The packet's destination is queue pair 1, and it is no management datagram, or a damaged one.
   */
  MALFORMED_MAD,

  /** The packet is a management datagram that datagram services don't need. */
  OTHER_MAD,

  /** The packet requested a reliable connection, which the bridge rejected. */
  RELIABLE_CONNECTION,

  /** The packet is a SIDR reply, and no request waits for it. */
  UNKNOWN_REPLY,

  /** The packet is a SIDR reply from or for another host than the request's. */
  FOREIGN_REPLY,

  /** Another bridge owns the group. */
  STANDBY,

  /** No bridge was known to own the group: after a start, or during a handover. */
  NO_OWNER,

  /**
   * No address in the other fabric represents the packet's sender, or none of the same IP version.
   */
  NO_PROXY_ADDRESS,

  /**
   * The packet's destination queue pair is unassigned, or none of the bridge's queue pairs is free
   * to represent the sender.
   */
  NO_QUEUE_PAIR,

  /** The packet was dropped on an operator's order, to test how hosts react. */
  INJECTED,

  /**
   * The packet is from or for a host of InfiniBand whose path isn't known yet, or is no longer
   * known.
   */
  NO_PATH;

  /** Returns the name of the reason in tables, such as {@code own-source}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
