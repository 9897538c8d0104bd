package io.heddle.routes;

/**
 * Route of a plane for one prefix, in 32 bits. Bit 31 is set if the plane borrows another plane's
 * path. Bits 24 to 30 are the code of the weight's reason, and bits 0 to 23 the weight in Mbit/s.
 * Zero means that the plane has no route for this prefix, so a shorter prefix decides.
 */
public final class RouteCell {
  /** Cell without a route. */
  public static final int EMPTY = 0;

  /** Largest weight, to which greater weights are limited. */
  public static final int LARGEST_WEIGHT = (1 << 24) - 1;

  private static final int REASON_SHIFT = 24;
  private static final int REASON_MASK = 0x7f;

  private RouteCell() {}

  /**
   * Returns a cell.
   *
   * @param weight weight in Mbit/s, limited to 1 to {@link #LARGEST_WEIGHT}; ignored for a reason
   *     with which the plane carries no traffic
   * @throws IllegalArgumentException for {@link WeightReason#NO_ROUTE}, which is {@link #EMPTY}
   */
  public static int of(WeightReason reason, long weight) {
    if (reason == WeightReason.NO_ROUTE) {
      throw new IllegalArgumentException("a cell without a route is empty");
    }
    long cut = reason.carriesTraffic() ? Math.clamp(weight, 1, LARGEST_WEIGHT) : 0;
    return reason.ordinal() << REASON_SHIFT | (int) cut;
  }

  /**
   * Returns this cell for a plane that has lost its own path through the fabric, and still reaches
   * the prefix over another plane's spine.
   */
  public static int borrowed(int cell) {
    return cell | Integer.MIN_VALUE;
  }

  public static boolean isOverOtherPlane(int cell) {
    return cell < 0;
  }

  public static int weight(int cell) {
    return cell & LARGEST_WEIGHT;
  }

  public static WeightReason reason(int cell) {
    return WeightReason.ofCode(cell >>> REASON_SHIFT & REASON_MASK);
  }
}
