package io.heddle.bridge.status;

import java.util.Locale;

/** Why a packet wasn't forwarded. Each is counted by group and direction. */
public enum DropReason {
  /** It came from the bridge's own address. */
  OWN_SOURCE,

  /** It came from another bridge. */
  KNOWN_BRIDGE,

  /** Its source is outside the fabric's prefixes. */
  FOREIGN_SOURCE,

  /** It is a copy of what the bridge sent there within the last 100 ms. */
  STORM_COPY,

  /** The group was suspended after 100 such copies within a second. */
  SUSPENDED,

  /** The group goes the other way only. */
  ONE_WAY,

  /** It is no datagram of the unreliable datagram service. */
  MALFORMED,

  /** Its destination queue pair isn't that of multicast. */
  NOT_MULTICAST,

  /** Its invariant CRC is wrong. */
  BAD_CHECKSUM,

  /** It doesn't fit the other fabric's MTU. */
  TOO_LARGE,

  /** The group's queue at its rate limit was full. */
  QUEUE_FULL,

  /** The memory of all queues was full. */
  POOL_FULL,

  /** It waited when its group was taken out of the configuration. */
  GROUP_REMOVED,

  /** The system refused to send it. */
  NOT_SENT,

  /** Its destination isn't a host of the other fabric. */
  FOREIGN_DESTINATION,

  /** Its destination is a queue pair that no host has for datagrams of its own. */
  WRONG_QUEUE_PAIR,

  /** It goes to queue pair 1 and doesn't have that one's queue key. */
  WRONG_QUEUE_KEY,

  /** It goes to queue pair 1 and is no management datagram, or a damaged one. */
  MALFORMED_MAD,

  /** It is a management datagram that datagram services don't need. */
  OTHER_MAD,

  /** It asked for a reliable connection, and the bridge refused that. */
  RELIABLE_CONNECTION,

  /** It is a reply to a request that doesn't wait for one. */
  UNKNOWN_REPLY,

  /** It is a reply from or for another host than the request's. */
  FOREIGN_REPLY,

  /** Another bridge owns the group. */
  STANDBY,

  /**
   * No bridge owned the group, as far as this one knew: at a start, or while it was handed over.
   */
  NO_OWNER,

  /** No address in the other fabric stands for its sender, or none of the same version of IP. */
  NO_STAND_IN,

  /**
   * Its queue pair's number stands for none, or none of the bridge's own is free to stand for its
   * sender.
   */
  NO_NUMBER,

  /** An operator had the bridge drop one packet of so many, to try what hosts do. */
  ON_PURPOSE,

  /**
   * It is from or for a host of InfiniBand, and at which LID that host is isn't known, or not any
   * more.
   */
  NO_PATH;

  /** As it is written in a table: {@code own-source}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
