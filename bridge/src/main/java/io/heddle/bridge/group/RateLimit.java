package io.heddle.bridge.group;

import java.util.List;

/**
 * How fast packets may leave.
 *
 * @param packetsPerSecond 0 for no limit
 * @param burst packets that may leave at once after a pause, at least 1
 * @param queuePackets that may wait
 * @param dropsOldest which one goes where the queue is full: the oldest, or else the newcomer
 */
public record RateLimit(long packetsPerSecond, int burst, int queuePackets, boolean dropsOldest) {
  public static final int BURST = 10;
  public static final int QUEUE = 1000;

  /** Fast enough for everything. */
  public static final RateLimit NONE = new RateLimit(0, BURST, QUEUE, true);

  /** Words for what goes where the queue is full. */
  public static final List<String> POLICIES = List.of("oldest", "tail");

  public boolean isNone() {
    return packetsPerSecond == 0;
  }

  /** As in the configuration; empty for no limit. */
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
