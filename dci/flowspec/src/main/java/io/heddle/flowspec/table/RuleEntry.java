package io.heddle.flowspec.table;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.flowspec.rule.FlowRule;
import java.util.Comparator;

/**
 * A rule of one peer.
 *
 * @param peer that announced it
 * @param routerId of its original speaker
 * @param list segment list of its traffic
 */
public record RuleEntry(FlowRule rule, String peer, int routerId, int list) {
  /** RFC 8955's order, then the lower router id, then the peer's name. */
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
