package io.heddle.routes;

/**
 * What the routes file says of one destination. Mutable, so that a look-up allocates nothing; owned
 * by whoever asks.
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

  /** How many planes the file has; the others of this class take numbers below it. */
  public int planes() {
    return planes;
  }

  /**
   * Makes this an answer about as many planes as a connection has, whose routes lie at destinations
   * of their own; {@link #take} fills it.
   */
  public void begin(int count) {
    planes = count;
    java.util.Arrays.fill(cells, 0, count, RouteCell.EMPTY);
  }

  /** Takes over what another answer says of one of its planes. */
  public void take(int plane, RouteAnswer from, int theirs) {
    cells[plane] = from.cells[theirs];
    lengths[plane] = from.lengths[theirs];
    generation = from.generation;
    missingFigure = from.missingFigure;
    defaultWeight = from.defaultWeight;
    borrowedPercent = from.borrowedPercent;
  }

  /** The state of the file that this was read from; grows with each change. */
  public long generation() {
    return generation;
  }

  public WeightReason reason(int plane) {
    return RouteCell.reason(cells[plane]);
  }

  /** Length of the prefix that decided about a plane; −1 where none did. */
  public int prefixLength(int plane) {
    return cells[plane] == RouteCell.EMPTY ? -1 : lengths[plane];
  }

  /**
   * The figure of the plane's route itself, in Mbit/s, before planes without one are considered.
   */
  public int figure(int plane) {
    return RouteCell.weight(cells[plane]);
  }

  /** Whether the plane reaches the destination only by another plane's way. */
  public boolean isBorrowed(int plane) {
    return RouteCell.isBorrowed(cells[plane]);
  }

  /**
   * The plane's weight beside the others'; 0 where it doesn't reach the destination. Only the ratio
   * of weights of one answer means anything.
   */
  public int weight(int plane) {
    if (!reason(plane).carries()) {
      return 0;
    }
    int base = unscaled(plane);
    /* No overflow: 24 bits × 100. */
    return isBorrowed(plane)
        ? Math.max(base > 0 ? 1 : 0, base * borrowedPercent)
        : base * WHOLE_PERCENT;
  }

  private int unscaled(int plane) {
    boolean missing = false;
    boolean present = false;
    for (int i = 0; i < planes; i++) {
      WeightReason other = reason(i);
      missing |= other == WeightReason.NO_FIGURE;
      present |= other.carries() && other != WeightReason.NO_FIGURE;
    }
    if (!missing) {
      return figure(plane);
    }
    boolean isMissing = reason(plane) == WeightReason.NO_FIGURE;
    return switch (missingFigure) {
      case EQUAL -> 1;
      case SKIP -> !present ? 1 : isMissing ? 0 : figure(plane);
      case DEFAULT -> isMissing ? Math.max(1, defaultWeight) : figure(plane);
    };
  }
}
