package io.heddle.bgp.bfd;

/**
 * BFD timing: transmission interval and detection multiplier.
 *
 * @param intervalMs interval between two packets, for both directions
 * @param multiplier number of intervals without a packet after which the path counts as down
 */
public record BfdOptions(int intervalMs, int multiplier) {
  public static final BfdOptions DEFAULT = new BfdOptions(100, 3);

  /**
   * @throws IllegalArgumentException for an interval outside 10 ms to a minute, or a multiplier
   *     outside 1 to 255
   */
  public BfdOptions {
    if (intervalMs < 10 || intervalMs > 60_000) {
      throw new IllegalArgumentException("a BFD interval is 10 to 60000 ms, not " + intervalMs);
    }
    if (multiplier < 1 || multiplier > 255) {
      throw new IllegalArgumentException("a BFD multiplier is 1 to 255, not " + multiplier);
    }
  }
}
