package io.heddle.bgp.flowspec.table;

import io.heddle.bgp.flowspec.rule.FlowComponent;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.steering.RuleRefusal;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.steering.SteeringEncoding;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.NanoClock;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Admission of one peer's rules to the table, with a rate limit. A refused announcement still
 * replaces the peer's earlier announcement of the same rule, which is removed from the table (RFC
 * 4271 §3.1). Withdrawals aren't limited.
 */
public final class RuleAdmission {
  private static final double NS_PER_SECOND = 1e9;

  private final String peer;
  private final RuleLimits limits;
  private final SteeringAttributes steering;
  private final int gateway;
  private final RuleTable table;
  private final NanoClock clock;
  private final Map<FlowRule, RuleEntry> waiting = new LinkedHashMap<>();
  private final EnumMap<RuleRefusal, Long> refused = new EnumMap<>(RuleRefusal.class);
  private double credit;
  private long creditedNs;
  private long accepted;
  private long delayed;

  /**
   * @param gateway router id of this gateway, by which rules name it
   */
  public RuleAdmission(
      String peer,
      RuleLimits limits,
      SteeringAttributes steering,
      int gateway,
      RuleTable table,
      NanoClock clock) {
    this.peer = peer;
    this.limits = limits;
    this.steering = steering;
    this.gateway = gateway;
    this.table = table;
    this.clock = clock;
    this.credit = limits.mostRules();
    this.creditedNs = clock.nanoTime();
  }

  /**
   * Handles an announced rule.
   *
   * @param routerId router id of the speaker that originated the rule
   * @return the reason if the rule is refused; null if it is accepted, at once or later
   */
  public @Nullable RuleRefusal announced(FlowRule rule, PathAttributes attributes, int routerId) {
    SteeringEncoding.ListOrRefusal named = steering.read(attributes, gateway);
    RuleRefusal refusal = named.refusal() != null ? named.refusal() : refusal(rule);
    if (refusal != null) {
      refused.merge(refusal, 1L, Long::sum);
      withdrawn(rule);
      return refusal;
    }
    RuleEntry entry = new RuleEntry(rule, peer, routerId, named.list());
    refillCredit();
    if (credit >= 1 && waiting.isEmpty()) {
      accept(entry);
    } else {
      delayed++;
      waiting.put(rule, entry);
    }
    return null;
  }

  private @Nullable RuleRefusal refusal(FlowRule rule) {
    Prefix destination = rule.destination();
    boolean allowed =
        destination != null
            && limits.destinations().stream()
                .anyMatch(each -> each.isIpv4() == rule.isIpv4() && each.covers(destination));
    if (!allowed) {
      return RuleRefusal.DESTINATION_NOT_ALLOWED;
    }
    if (!rule.components().stream().allMatch(FlowComponent::isConstantPerFlow)) {
      return RuleRefusal.NOT_OF_A_FLOW;
    }
    boolean known = table.has(peer, rule) || waiting.containsKey(rule);
    return !known && table.size(peer) + waiting.size() >= limits.mostRules()
        ? RuleRefusal.TOO_MANY_RULES
        : null;
  }

  /** Handles a withdrawn rule. */
  public void withdrawn(FlowRule rule) {
    waiting.remove(rule);
    table.remove(peer, rule);
  }

  /**
   * Accepts waiting rules as far as the rate limit allows.
   *
   * @return nanoseconds until the next rule may be accepted; −1 if none waits
   */
  public long acceptWaiting() {
    refillCredit();
    var all = waiting.values().iterator();
    while (credit >= 1 && all.hasNext()) {
      RuleEntry entry = all.next();
      all.remove();
      accept(entry);
    }
    return waiting.isEmpty()
        ? -1
        : (long) Math.ceil((1 - credit) * NS_PER_SECOND / limits.changesPerSecond());
  }

  /** Drops the waiting rules, because the session is down. */
  public void dropWaiting() {
    waiting.clear();
  }

  private void accept(RuleEntry entry) {
    credit--;
    accepted++;
    table.put(entry);
  }

  private void refillCredit() {
    long now = clock.nanoTime();
    double earned = (now - creditedNs) * limits.changesPerSecond() / NS_PER_SECOND;
    credit = Math.min(limits.mostRules(), credit + earned);
    creditedNs = now;
  }

  /** Returns the number of accepted announcements. */
  public long accepted() {
    return accepted;
  }

  /**
   * Returns the number of announcements that had to wait, including those replaced or dropped
   * meanwhile.
   */
  public long delayed() {
    return delayed;
  }

  /** Returns the number of waiting rules. */
  public int waiting() {
    return waiting.size();
  }

  /** Returns the number of announcements refused for this reason. */
  public long refused(RuleRefusal why) {
    return refused.getOrDefault(why, 0L);
  }
}
