package io.heddle.gateway.peer;

import io.heddle.bgp.flowspec.rule.FlowComponent;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.flowspec.table.QueuePairKey;
import io.heddle.bgp.flowspec.table.RuleChangeListener;
import io.heddle.bgp.flowspec.table.RuleEntry;
import io.heddle.bgp.flowspec.table.RuleTable;
import io.heddle.bgp.wire.Prefix;
import io.heddle.gateway.dataplane.FlowRecord;
import io.heddle.gateway.dataplane.SteerKey;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Translator of a rule table into steers of the data plane, which only supports exact keys. A rule
 * that matches on a whole queue pair becomes a steer at once, before the first packet. Any other
 * rule is evaluated when a flow appears. Used by one thread.
 */
final class RuleSteers implements RuleChangeListener {
  /**
   * Changes of the steers since the previous call of {@link RuleSteers#next}.
   *
   * @param changed new steers, and steers with another list
   * @param gone keys that no rule steers any more
   */
  record Change(Map<SteerKey, SteeredTo> changed, Set<SteerKey> gone) {
    boolean isEmpty() {
      return changed.isEmpty() && gone.isEmpty();
    }
  }

  private final IntPredicate usable;
  private final Runnable wake;
  private final Map<QueuePairKey, Map<SteerKey, SteeredTo>> current = new HashMap<>();
  private final Set<QueuePairKey> dirty = new LinkedHashSet<>();
  private boolean allDirty;

  /**
   * @param usable whether the segment list with an id exists and is alive
   * @param wake called when {@link #next} has something to evaluate
   */
  RuleSteers(IntPredicate usable, Runnable wake) {
    this.usable = usable;
    this.wake = wake;
  }

  @Override
  public void queuePair(QueuePairKey key) {
    dirty.add(key);
    wake.run();
  }

  @Override
  public void any() {
    allDirty = true;
    wake.run();
  }

  /**
   * Evaluates the rules for the queue pairs that may have changed, and returns the changed steers.
   */
  Change next(RuleTable table, Collection<FlowRecord> flows) {
    Map<QueuePairKey, Map<FlowKey, FlowRecord>> seen = flowsByQueuePair(flows);
    if (allDirty) {
      dirty.addAll(table.queuePairs());
      dirty.addAll(current.keySet());
      dirty.addAll(seen.keySet());
    }
    Map<SteerKey, SteeredTo> changed = new LinkedHashMap<>();
    Set<SteerKey> gone = new HashSet<>();
    for (QueuePairKey key : dirty) {
      Map<SteerKey, SteeredTo> before = current.getOrDefault(key, Map.of());
      Map<SteerKey, SteeredTo> now = steers(table, key, seen.getOrDefault(key, Map.of()));
      now.forEach((steer, to) -> {
        if (!to.equals(before.get(steer))) {
          changed.put(steer, to);
        }
      });
      before.keySet().stream().filter(each -> !now.containsKey(each)).forEach(gone::add);
      if (now.isEmpty()) {
        current.remove(key);
      } else {
        current.put(key, now);
      }
    }
    dirty.clear();
    allDirty = false;
    return new Change(changed, gone);
  }

  private static Map<QueuePairKey, Map<FlowKey, FlowRecord>> flowsByQueuePair(
      Collection<FlowRecord> flows) {
    Map<QueuePairKey, Map<FlowKey, FlowRecord>> seen = new HashMap<>();
    for (FlowRecord each : flows) {
      /* Queue pairs below this number are for management. */
      if (each.queuePair() >= SteerKey.LEAST_QUEUE_PAIR) {
        FlowKey flow =
            FlowKey.queuePair(
                Prefix.host(each.source()),
                Prefix.host(each.destination()),
                each.sourcePort(),
                each.queuePair());
        seen.computeIfAbsent(QueuePairKey.of(flow), any -> new HashMap<>()).put(flow, each);
      }
    }
    return seen;
  }

  private Map<SteerKey, SteeredTo> steers(
      RuleTable table, QueuePairKey key, Map<FlowKey, FlowRecord> flows) {
    Map<SteerKey, SteeredTo> steers = new LinkedHashMap<>();
    List<RuleEntry> rules = table.rules(key);
    for (RuleEntry each : rules) {
      SteerKey plain = plain(each, key);
      if (plain != null && usable.test(each.list())) {
        steers.putIfAbsent(plain, to(each));
      }
    }
    flows.forEach((flow, record) -> {
      RuleEntry winner = table.winner(flow);
      if (winner != null) {
        SteerKey own = new SteerKey(record.destination(), record.queuePair(), record.source());
        SteeredTo already =
            Objects.requireNonNullElse(
                steers.getOrDefault(
                    own, steers.get(new SteerKey(record.destination(), record.queuePair(), null))),
                new SteeredTo(0, 0));
        if (already.list() != winner.list()) {
          steers.put(own, to(winner));
        }
      }
    });
    /* Rules whose list is dead or unknown are shown as steers, but steer nothing. */
    for (RuleEntry each : rules) {
      SteerKey plain = plain(each, key);
      if (plain != null) {
        steers.putIfAbsent(plain, to(each));
      }
    }
    return steers;
  }

  private static SteeredTo to(RuleEntry rule) {
    return new SteeredTo(rule.list(), rule.routerId());
  }

  /*
   * Returns the data plane's key for all packets that a rule matches; null if the rule also matches
   * on other fields.
   */
  private static @Nullable SteerKey plain(RuleEntry entry, QueuePairKey key) {
    Prefix source = null;
    for (FlowComponent each : entry.rule().components()) {
      FlowField field = each.field();
      if (field == FlowField.SOURCE) {
        if (!(each instanceof PrefixMatch match && match.isHost())) {
          return null;
        }
        source = match.prefix();
      } else if (field == FlowField.PORT || field == FlowField.SOURCE_PORT) {
        return null;
      }
    }
    return key.queuePair() < SteerKey.LEAST_QUEUE_PAIR
            || !entry.rule().matches(anyPacket(key, source))
        ? null
        : new SteerKey(
            key.destination().inetAddress(),
            key.queuePair(),
            source == null ? null : source.inetAddress());
  }

  private static FlowKey anyPacket(QueuePairKey key, @Nullable Prefix source) {
    return FlowKey.queuePair(
        source == null ? new Prefix(0, 0, Prefix.MAX_LENGTH) : source,
        key.destination(),
        0,
        key.queuePair());
  }

  /**
   * Returns whether flows that rules may match have appeared or ended. The steer of an ended flow
   * ends too, unless a rule is for its whole queue pair.
   *
   * @param known flows of the last sample; replaced by the given flows
   */
  boolean concerns(RuleTable table, Collection<FlowRecord> flows, Set<FlowKey> known) {
    Set<FlowKey> now = new HashSet<>();
    flowsByQueuePair(flows).values().forEach(each -> now.addAll(each.keySet()));
    Set<QueuePairKey> others = new HashSet<>();
    now.stream().filter(each -> !known.contains(each)).map(QueuePairKey::of).forEach(others::add);
    known.stream().filter(each -> !now.contains(each)).map(QueuePairKey::of).forEach(others::add);
    known.retainAll(now);
    known.addAll(now);
    if (table.size() == 0) {
      return false;
    }
    dirty.addAll(others);
    return !others.isEmpty();
  }
}
