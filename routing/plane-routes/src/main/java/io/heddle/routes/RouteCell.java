package io.heddle.routes;

/**
 * What a plane says of one prefix, in 32 bits: whether the plane borrows another plane's way in bit
 * 31, the reason's code in bits 24 to 30, the weight in Mbit/s below. Zero says nothing, and leaves
 * the plane to a shorter prefix.
 */
public final class RouteCell {
  /** Nothing is said. */
  public static final int EMPTY = 0;

  /** The greatest weight; more is cut to it. */
  public static final int LARGEST_WEIGHT = (1 << 24) - 1;

  private static final int REASON_SHIFT = 24;
  private static final int REASON_MASK = 0x7f;

  private RouteCell() {}

  /**
   * @param weight in Mbit/s; a reason that carries has at least 1, another has 0
   * @throws IllegalArgumentException for {@link WeightReason#NO_ROUTE}, which {@link #EMPTY} says
   */
  public static int of(WeightReason reason, long weight) {
    if (reason == WeightReason.NO_ROUTE) {
      throw new IllegalArgumentException("a cell without a route is empty");
    }
    long cut = reason.carries() ? Math.clamp(weight, 1, LARGEST_WEIGHT) : 0;
    return reason.ordinal() << REASON_SHIFT | (int) cut;
  }

  /**
   * The same cell of a plane whose own way through the fabric is lost: its prefix is still reached,
   * over another plane's spine.
   */
  public static int borrowed(int cell) {
    return cell | Integer.MIN_VALUE;
  }

  public static boolean isBorrowed(int cell) {
    return cell < 0;
  }

  public static int weight(int cell) {
    return cell & LARGEST_WEIGHT;
  }

  public static WeightReason reason(int cell) {
    return WeightReason.ofCode(cell >>> REASON_SHIFT & REASON_MASK);
  }
}
