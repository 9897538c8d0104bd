package io.heddle.flowspec.table;

import io.heddle.bgp.wire.Prefix;
import java.util.List;

/**
 * What a peer may ask for.
 *
 * @param destinations prefixes that a rule's destination has to lie in; empty for none at all
 * @param mostRules rules that it may have here at once
 * @param changesPerSecond rules that are taken a second once {@code mostRules} of them have come at
 *     a stroke; more wait for their turn
 */
public record RuleLimits(List<Prefix> destinations, int mostRules, int changesPerSecond) {
  public static final int MOST_RULES = 10_000;
  public static final int CHANGES_PER_SECOND = 1_000;

  /**
   * @throws IllegalArgumentException where a number isn't positive
   */
  public RuleLimits {
    destinations = List.copyOf(destinations);
    if (mostRules < 1 || changesPerSecond < 1) {
      throw new IllegalArgumentException(
          "a peer with %s rules and %s changes a second could do nothing"
              .formatted(mostRules, changesPerSecond));
    }
  }

  public static RuleLimits to(List<Prefix> destinations) {
    return new RuleLimits(destinations, MOST_RULES, CHANGES_PER_SECOND);
  }
}
