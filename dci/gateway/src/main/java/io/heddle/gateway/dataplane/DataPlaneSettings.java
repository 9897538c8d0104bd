package io.heddle.gateway.dataplane;

/**
 * Settings of a data plane.
 *
 * @param seed seed of the packet hash; consecutive gateways on a path need different seeds
 * @param markShift position of the list's eight bits in the packet's mark, 0 to 24
 * @param gapNs pause between packets after which a queue pair may move to another list; 0 moves at
 *     once
 * @param deadlineNs time after which a queue pair moves even without such a pause
 */
public record DataPlaneSettings(int seed, int markShift, long gapNs, long deadlineNs) {
  /** Returns the mask of the mark's bits that contain the list's id. */
  public int markMask() {
    return 0xff << markShift;
  }

  public int mark(int list) {
    return list << markShift;
  }
}
