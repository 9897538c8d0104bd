package io.heddle.dataplane;

/**
 * @param seed of the hash; gateways in a row want different ones
 * @param markShift where in the packet's mark the eight bits of the list lie, 0 to 24
 * @param gapNs for how long a queue pair must have paused before it moves; 0 moves at once
 * @param deadlineNs after which it moves all the same
 */
public record DataPlaneSettings(int seed, int markShift, long gapNs, long deadlineNs) {
  /** The bits of the mark that are the list's. */
  public int markMask() {
    return 0xff << markShift;
  }

  public int mark(int list) {
    return list << markShift;
  }
}
