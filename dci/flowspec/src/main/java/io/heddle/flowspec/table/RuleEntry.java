package io.heddle.flowspec.table;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.flowspec.rule.FlowRule;
import java.util.Comparator;

/**
 * A rule of one peer.
 *
 * @param peer who told of it
 * @param routerId of the speaker that made it
 * @param list segment list that its traffic goes to
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
