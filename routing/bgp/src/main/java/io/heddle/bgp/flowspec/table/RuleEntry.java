package io.heddle.bgp.flowspec.table;

import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.wire.ExtendedCommunity;
import java.util.Comparator;

/**
 * Rule in the table, as one peer announced it.
 *
 * @param peer name of the peer that announced the rule
 * @param routerId router id of the speaker that originated the rule
 * @param list id of the segment list for the rule's traffic
 */
public record RuleEntry(FlowRule rule, String peer, int routerId, int list) {
  /**
   * Order of precedence: RFC 8955's order of rules, then the lower router id, then the peer's name.
   */
  public static final Comparator<RuleEntry> ORDER =
      Comparator.comparing(RuleEntry::rule)
          .thenComparing((left, right) -> Integer.compareUnsigned(left.routerId, right.routerId))
          .thenComparing(RuleEntry::peer);

  @Override
  public String toString() {
    return "%s to list %s by %s, router id %s"
        .formatted(rule, Integer.toUnsignedString(list), peer, ExtendedCommunity.dotted(routerId));
  }
}
