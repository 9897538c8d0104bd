package io.heddle.bgp.flowspec.table;

import io.heddle.bgp.flowspec.rule.FlowComponent;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.rule.NumericMatch;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.wire.Prefix;
import org.jspecify.annotations.Nullable;

/**
 * Queue pair number with the address of its host. As the key of an index, it finds most rules
 * without a scan.
 *
 * @param high upper 64 bits of the destination address
 * @param low lower 64 bits of the destination address
 */
public record QueuePairKey(long high, long low, int queuePair) {
  public static QueuePairKey of(FlowKey flow) {
    return new QueuePairKey(flow.destinationHigh(), flow.destinationLow(), flow.queuePair());
  }

  /**
   * Returns the only queue pair that a rule can match; null if the rule may match several queue
   * pairs or other traffic. The rule may have further conditions, such as a source.
   */
  static @Nullable QueuePairKey of(FlowRule rule) {
    FlowComponent destination = rule.component(FlowField.DESTINATION);
    FlowComponent number = rule.component(FlowField.QUEUE_PAIR);
    if (destination instanceof PrefixMatch address
        && address.isHost()
        && number instanceof NumericMatch comparison
        && comparison.onlyValue() >= 0
        && comparison.onlyValue() <= FlowKey.MOST_QUEUE_PAIR) {
      return new QueuePairKey(address.high(), address.low(), (int) comparison.onlyValue());
    }
    return null;
  }

  /** Returns the destination address as a prefix. */
  public Prefix destination() {
    return new Prefix(high, low, Prefix.MAX_LENGTH);
  }
}
