package io.heddle.tools.bench.contest;

/**
 * Bound of a value.
 *
 * @param side side of the limit on which the bound is kept
 * @param limit value that is still kept, in the unit of the value
 */
public record Bound(Side side, double limit) {
  /** Side of a limit. */
  public enum Side {
    AT_LEAST,
    AT_MOST
  }

  public static Bound atLeast(double limit) {
    return new Bound(Side.AT_LEAST, limit);
  }

  public static Bound atMost(double limit) {
    return new Bound(Side.AT_MOST, limit);
  }

  /** Returns whether a value keeps the bound; false if it is not a number. */
  public boolean holds(double value) {
    return side == Side.AT_LEAST ? value >= limit : value <= limit;
  }

  public String text() {
    return (side == Side.AT_LEAST ? "≥ " : "≤ ") + Figure.number(limit);
  }
}
