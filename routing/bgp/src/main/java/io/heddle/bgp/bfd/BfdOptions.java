package io.heddle.bgp.bfd;

/**
 * How often to speak and how much silence is a failure.
 *
 * @param intervalMs between two packets, ours and the peer's
 * @param multiplier packets that may be missed
 */
public record BfdOptions(int intervalMs, int multiplier) {
  public static final BfdOptions DEFAULT = new BfdOptions(100, 3);

  /**
   * @throws IllegalArgumentException for less than 10 ms or more than a minute, or a multiplier
   *     that isn't 1 to 255
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
