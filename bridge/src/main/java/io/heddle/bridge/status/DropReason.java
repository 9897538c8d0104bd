package io.heddle.bridge.status;

import java.util.Locale;

/** Reason why a packet wasn't forwarded. Each is counted by group and direction. */
public enum DropReason {
  /** Its source is the bridge's own address. */
  OWN_SOURCE,

  /** Its source is another bridge. */
  KNOWN_BRIDGE,

  /** Its source is outside the fabric's prefixes. */
  FOREIGN_SOURCE,

  /** It is a copy of a packet that the bridge sent there within the last 100 ms. */
  STORM_COPY,

  /** The group was suspended after 100 such copies within a second. */
  SUSPENDED,

  /** The group is forwarded in the other direction only. */
  ONE_WAY,

  /** It is no unreliable datagram. */
  MALFORMED,

  /** Its destination queue pair isn't the multicast queue pair. */
  NOT_MULTICAST,

  /** Its invariant CRC is wrong. */
  BAD_CHECKSUM,

  /** It doesn't fit the other fabric's MTU. */
  TOO_LARGE,

  /** The group's queue at its rate limit was full. */
  QUEUE_FULL,

  /** The memory of all queues was full. */
  POOL_FULL,

  /** It was queued when its group was removed from the configuration. */
  GROUP_REMOVED,

  /** The system refused to send it. */
  NOT_SENT,

  /** Its destination isn't a host of the other fabric. */
  FOREIGN_DESTINATION,

  /** Its destination is a queue pair that no host uses for datagrams of its own. */
  WRONG_QUEUE_PAIR,

  /** Its destination is queue pair 1, and its queue key is wrong. */
  WRONG_QUEUE_KEY,

  /** Its destination is queue pair 1, and it is no management datagram, or a damaged one. */
  MALFORMED_MAD,

  /** It is a management datagram that datagram services don't need. */
  OTHER_MAD,

  /** It requested a reliable connection, which the bridge rejected. */
  RELIABLE_CONNECTION,

  /** It is a reply, and no request waits for it. */
  UNKNOWN_REPLY,

  /** It is a reply from or for another host than the request's. */
  FOREIGN_REPLY,

  /** Another bridge owns the group. */
  STANDBY,

  /** No bridge was known to own the group: after a start, or during a handover. */
  NO_OWNER,

  /** No address in the other fabric represents its sender, or none of the same version of IP. */
  NO_PROXY_ADDRESS,

  /**
   * Its destination queue pair is unassigned, or none of the bridge's own is free to represent its
   * sender.
   */
  NO_QUEUE_PAIR,

  /**
   * An operator ordered the bridge to drop one of this many packets, to test the reaction of hosts.
   */
  INJECTED,

  /** It is from or for a host of InfiniBand whose LID isn't known, or no longer. */
  NO_PATH;

  /** Returns the word for tables, such as {@code own-source}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
