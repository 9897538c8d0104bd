package io.heddle.bridge.status;

import java.util.Locale;

/** Why a packet wasn't forwarded. Each is counted by group and direction. */
public enum DropReason {
  OWN_SOURCE("it came from the bridge's own address"),
  KNOWN_BRIDGE("it came from another bridge"),
  FOREIGN_SOURCE("its source is outside the fabric's prefixes"),
  STORM_COPY("it is a copy of what the bridge sent there within the last 100 ms"),
  SUSPENDED("the group was suspended after 100 such copies within a second"),
  ONE_WAY("the group goes the other way only"),
  MALFORMED("it is no datagram of the unreliable datagram service"),
  NOT_MULTICAST("its destination queue pair isn't that of multicast"),
  BAD_CHECKSUM("its invariant CRC is wrong"),
  TOO_LARGE("it doesn't fit the other fabric's MTU"),
  QUEUE_FULL("the group's queue at its rate limit was full"),
  POOL_FULL("the memory of all queues was full"),
  GROUP_REMOVED("it waited when its group was taken out of the configuration"),
  NOT_SENT("the system refused to send it");

  private final String because;

  DropReason(String because) {
    this.because = because;
  }

  /** As it is written in a table: {@code own-source}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** As a clause. */
  public String because() {
    return because;
  }
}
