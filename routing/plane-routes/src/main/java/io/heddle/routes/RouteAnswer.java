package io.heddle.routes;

/**
 * Result of a look-up of one destination in the routes file. Mutable, so that a look-up allocates
 * nothing; owned by the caller.
 */
public final class RouteAnswer {
  private static final int WHOLE_PERCENT = 100;

  final int[] cells = new int[RoutesLayout.MAX_PLANES];
  final short[] lengths = new short[RoutesLayout.MAX_PLANES];
  int planes;
  long generation;
  MissingFigure missingFigure = MissingFigure.EQUAL;
  int defaultWeight;
  int borrowedPercent;

  /** Returns the number of planes. The other methods take plane numbers below it. */
  public int planes() {
    return planes;
  }

  /**
   * Prepares this answer to collect the results of a connection's planes, each of which has its own
   * destination. {@link #copyPlane} then copies the result of each plane.
   */
  public void begin(int count) {
    planes = count;
    java.util.Arrays.fill(cells, 0, count, RouteCell.EMPTY);
  }

  /**
   * Copies one plane's result from another answer, in which the plane has the number {@code
   * theirs}.
   */
  public void copyPlane(int plane, RouteAnswer from, int theirs) {
    cells[plane] = from.cells[theirs];
    lengths[plane] = from.lengths[theirs];
    generation = from.generation;
    missingFigure = from.missingFigure;
    defaultWeight = from.defaultWeight;
    borrowedPercent = from.borrowedPercent;
  }

  /**
   * Returns the generation of the routes file when it was read. It grows with each change of the
   * file.
   */
  public long generation() {
    return generation;
  }

  public WeightReason reason(int plane) {
    return RouteCell.reason(cells[plane]);
  }

  /** Returns the length of the prefix whose route the plane uses; −1 if it has no route. */
  public int prefixLength(int plane) {
    return cells[plane] == RouteCell.EMPTY ? -1 : lengths[plane];
  }

  /**
   * Returns the weight in the plane's cell, in Mbit/s. It is 1 for a route without a bandwidth, and
   * 0 if the plane carries no traffic. {@link #weight} also applies the rules for missing
   * bandwidths.
   */
  public int bandwidthMbps(int plane) {
    return RouteCell.weight(cells[plane]);
  }

  /** Returns whether the plane reaches the destination only over another plane's path. */
  public boolean isOverOtherPlane(int plane) {
    return RouteCell.isOverOtherPlane(cells[plane]);
  }

  /**
   * Returns the plane's weight relative to the weights of the other planes; 0 if the plane doesn't
   * reach the destination. Only ratios of weights in one answer have a meaning.
   */
  public int weight(int plane) {
    if (!reason(plane).carriesTraffic()) {
      return 0;
    }
    int base = unscaled(plane);
    /* The product can't overflow: a weight has 24 bits, and the factor is at most 100. */
    return isOverOtherPlane(plane)
        ? Math.max(base > 0 ? 1 : 0, base * borrowedPercent)
        : base * WHOLE_PERCENT;
  }

  private int unscaled(int plane) {
    boolean missing = false;
    boolean present = false;
    for (int i = 0; i < planes; i++) {
      WeightReason other = reason(i);
      missing |= other == WeightReason.NO_FIGURE;
      present |= other.carriesTraffic() && other != WeightReason.NO_FIGURE;
    }
    if (!missing) {
      return bandwidthMbps(plane);
    }
    boolean isMissing = reason(plane) == WeightReason.NO_FIGURE;
    return switch (missingFigure) {
      case EQUAL -> 1;
      case SKIP -> !present ? 1 : isMissing ? 0 : bandwidthMbps(plane);
      case DEFAULT -> isMissing ? Math.max(1, defaultWeight) : bandwidthMbps(plane);
    };
  }
}
