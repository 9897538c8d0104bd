package io.heddle.controller.solver;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Order of preference among the moves that lower the maximum enough. The maximum is the utilisation
 * of a policy's busiest list. Ties are broken by the lower maximum, then by fewer lists at that
 * maximum. Next, a flow moves preferably to the list that its hash selects. The last criteria are
 * the flow's lower rate, the lower list id and the lower flow id.
 */
public enum Strategy {
  /** Prefers the move that leaves the lowest maximum. */
  MIN_MAX("min-max", Comparator.comparingDouble(each -> 0)),
  /** Prefers the largest flow, as section 4.2 of draft-lll-srv6ops-dci-srv6-lb does. */
  LARGEST_FIRST("largest-first", Comparator.comparingDouble(each -> -each.elephant().rate())),
  /** Prefers the smallest flow, as the example in draft-lll-srv6ops-dci-srv6-lb does. */
  SMALLEST_MOVE("smallest-move", Comparator.comparingDouble(each -> each.elephant().rate()));

  private final String text;
  private final Comparator<MoveCandidate> order;

  Strategy(String text, Comparator<MoveCandidate> first) {
    this.text = text;
    this.order = first.thenComparing(ties());
  }

  private static Comparator<MoveCandidate> ties() {
    return Comparator.<MoveCandidate>comparingLong(
            each -> Math.round(each.predicted() / Loads.SAME))
        .thenComparingInt(MoveCandidate::busiest)
        .thenComparing(each -> !each.home())
        .thenComparingDouble(each -> each.elephant().rate())
        .thenComparingInt(MoveCandidate::listId)
        .thenComparing(each -> each.elephant().id());
  }

  /** Returns the name in configurations. */
  public String text() {
    return text;
  }

  /** Returns the order of candidates, the preferred one first. */
  Comparator<MoveCandidate> order() {
    return order;
  }

  /**
   * Returns the strategy with this name in a configuration.
   *
   * @throws IllegalArgumentException if no strategy has this name
   */
  public static Strategy of(String text) {
    Optional<Strategy> found =
        Arrays.stream(values()).filter(each -> each.text.equals(text)).findFirst();
    return found.orElseThrow(() -> new IllegalArgumentException(text + " is no strategy"));
  }

  /** Returns the names of all strategies. */
  public static List<String> names() {
    return Arrays.stream(values()).map(Strategy::text).toList();
  }
}
