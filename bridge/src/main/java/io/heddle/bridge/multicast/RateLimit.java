package io.heddle.bridge.multicast;

import java.util.List;

/**
 * Rate limit of forwarded packets.
 *
 * @param packetsPerSecond maximum rate; 0 for no limit
 * @param burst packets that may be sent at once after a pause, at least 1
 * @param queuePackets capacity of the queue of delayed packets
 * @param dropsOldest whether a full queue drops its oldest packet; otherwise it drops the new one
 */
public record RateLimit(long packetsPerSecond, int burst, int queuePackets, boolean dropsOldest) {
  public static final int BURST = 10;
  public static final int QUEUE = 1000;

  /** No limit. */
  public static final RateLimit NONE = new RateLimit(0, BURST, QUEUE, true);

  /** Names of the policies for a full queue. */
  public static final List<String> POLICIES = List.of("oldest", "tail");

  public boolean isNone() {
    return packetsPerSecond == 0;
  }

  /** Returns the limit as {@code key=value} pairs; empty for no limit. */
  public String describe() {
    return isNone()
        ? ""
        : " rate="
            + packetsPerSecond
            + " burst="
            + burst
            + " queue="
            + queuePackets
            + " policy="
            + POLICIES.get(dropsOldest ? 0 : 1);
  }
}
