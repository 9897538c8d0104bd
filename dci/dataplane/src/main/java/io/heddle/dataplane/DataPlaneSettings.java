package io.heddle.dataplane;

/**
 * @param seed of the hash; consecutive gateways need different ones
 * @param markShift position of the list's eight bits in the packet's mark, 0 to 24
 * @param gapNs pause after which a queue pair may move; 0 moves at once
 * @param deadlineNs time after which it moves even without a gap
 */
public record DataPlaneSettings(int seed, int markShift, long gapNs, long deadlineNs) {
  /** Returns the bits of the mark that hold the list. */
  public int markMask() {
    return 0xff << markShift;
  }

  public int mark(int list) {
    return list << markShift;
  }
}
