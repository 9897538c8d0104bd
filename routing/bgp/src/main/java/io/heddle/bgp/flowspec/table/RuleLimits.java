package io.heddle.bgp.flowspec.table;

import io.heddle.bgp.wire.Prefix;
import java.util.List;

/**
 * Limits of a peer's rules.
 *
 * @param destinations prefixes that contain every allowed destination; empty to allow none
 * @param mostRules largest number of rules that the peer may have at once
 * @param changesPerSecond number of rules accepted per second, after a burst of {@code mostRules};
 *     further rules wait
 */
public record RuleLimits(List<Prefix> destinations, int mostRules, int changesPerSecond) {
  public static final int MOST_RULES = 10_000;
  public static final int CHANGES_PER_SECOND = 1_000;

  /**
   * @throws IllegalArgumentException if a number isn't positive
   */
  public RuleLimits {
    destinations = List.copyOf(destinations);
    if (mostRules < 1 || changesPerSecond < 1) {
      throw new IllegalArgumentException(
          "a peer with %s rules and %s changes a second can't announce any"
              .formatted(mostRules, changesPerSecond));
    }
  }

  public static RuleLimits to(List<Prefix> destinations) {
    return new RuleLimits(destinations, MOST_RULES, CHANGES_PER_SECOND);
  }
}
