package io.heddle.bgp.flowspec.table;

import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Table of the rules of all peers, which finds the rule that applies to a flow. Of the matching
 * rules whose list is usable, the first in {@link RuleEntry#ORDER} applies. Rules that can match
 * only one queue pair are indexed by the queue pair; other rules are scanned in order.
 */
public final class RuleTable {
  private record Key(String peer, FlowRule rule) {}

  private static final class Held {
    private final RuleEntry entry;
    private final @Nullable QueuePairKey exact;
    private long refreshedNs;
    private boolean stale;

    Held(RuleEntry entry, long nowNs) {
      this.entry = entry;
      this.exact = QueuePairKey.of(entry.rule());
      this.refreshedNs = nowNs;
    }
  }

  private final Map<Key, Held> held = new LinkedHashMap<>();
  private final Map<QueuePairKey, NavigableSet<RuleEntry>> exact = new HashMap<>();
  private final NavigableSet<RuleEntry> general = new TreeSet<>(RuleEntry.ORDER);
  private final Map<String, Integer> sizes = new HashMap<>();
  private final IntPredicate usable;
  private final RuleChangeListener changes;
  private final NanoClock clock;
  private final Log log;

  /**
   * @param usable whether a segment list exists and is alive
   * @param changes listener for changes of the rules that apply to flows
   */
  public RuleTable(IntPredicate usable, RuleChangeListener changes, NanoClock clock, Log log) {
    this.usable = usable;
    this.changes = changes;
    this.clock = clock;
    this.log = log;
  }

  /**
   * Adds a rule. If the same peer has announced the rule before, replaces the earlier entry, or
   * records that an equal entry was announced again.
   */
  public void put(RuleEntry entry) {
    Key key = new Key(entry.peer(), entry.rule());
    Held before = held.get(key);
    if (before != null && before.entry.equals(entry)) {
      before.refreshedNs = clock.nanoTime();
      before.stale = false;
      return;
    }
    if (before != null) {
      unlink(before);
    }
    Held now = new Held(entry, clock.nanoTime());
    held.put(key, now);
    sizes.merge(entry.peer(), 1, Integer::sum);
    if (now.exact == null) {
      general.add(entry);
    } else {
      NavigableSet<RuleEntry> others =
          exact.computeIfAbsent(now.exact, any -> new TreeSet<>(RuleEntry.ORDER));
      warnOfConflicts(entry, others);
      others.add(entry);
    }
    notifyChange(now);
  }

  private void warnOfConflicts(RuleEntry entry, NavigableSet<RuleEntry> others) {
    for (RuleEntry other : others) {
      if (other.list() != entry.list()) {
        boolean wins = RuleEntry.ORDER.compare(entry, other) < 0;
        log.warn(
            "two rules for one queue pair: %s; and %s; the first one applies",
            wins ? entry : other, wins ? other : entry);
        return;
      }
    }
  }

  /** Removes a rule of a peer. Returns whether the table had the rule. */
  public boolean remove(String peer, FlowRule rule) {
    Held found = held.remove(new Key(peer, rule));
    if (found == null) {
      return false;
    }
    unlink(found);
    notifyChange(found);
    return true;
  }

  /** Marks all rules of a peer as stale until they are announced again. */
  public void markStale(String peer) {
    held.forEach((key, each) -> each.stale |= key.peer.equals(peer));
  }

  /** Removes a peer's stale rules. Returns their number. */
  public int dropStale(String peer) {
    return drop(each -> each.stale && each.entry.peer().equals(peer));
  }

  /** Removes all rules of a peer. Returns their number. */
  public int dropAll(String peer) {
    return drop(each -> each.entry.peer().equals(peer));
  }

  /** Removes the rules that haven't been announced for this long. Returns their number. */
  public int dropOlderThan(long ageNs) {
    long now = clock.nanoTime();
    return drop(each -> now - each.refreshedNs > ageNs);
  }

  private int drop(Predicate<Held> which) {
    List<Held> gone = held.values().stream().filter(which).toList();
    gone.forEach(each -> remove(each.entry.peer(), each.entry.rule()));
    return gone.size();
  }

  private void unlink(Held gone) {
    sizes.merge(gone.entry.peer(), -1, Integer::sum);
    if (gone.exact == null) {
      general.remove(gone.entry);
      return;
    }
    NavigableSet<RuleEntry> rules = exact.get(gone.exact);
    if (rules != null) {
      rules.remove(gone.entry);
      if (rules.isEmpty()) {
        exact.remove(gone.exact);
      }
    }
  }

  private void notifyChange(Held changed) {
    if (changed.exact == null) {
      changes.any();
    } else {
      changes.queuePair(changed.exact);
    }
  }

  /**
   * Returns the rule that applies to a flow; null if there is none, so that the flow's hash selects
   * its list.
   */
  public @Nullable RuleEntry winner(FlowKey flow) {
    RuleEntry one = flow.isRoce() ? first(exact.get(QueuePairKey.of(flow)), flow) : null;
    RuleEntry other = first(general, flow);
    if (one == null || other == null) {
      return one == null ? other : one;
    }
    return RuleEntry.ORDER.compare(one, other) < 0 ? one : other;
  }

  private @Nullable RuleEntry first(@Nullable NavigableSet<RuleEntry> rules, FlowKey flow) {
    if (rules != null) {
      for (RuleEntry each : rules) {
        if (usable.test(each.list()) && each.rule().matches(flow)) {
          return each;
        }
      }
    }
    return null;
  }

  /** Returns the rules that can match only this queue pair, in order of precedence. */
  public List<RuleEntry> rules(QueuePairKey key) {
    NavigableSet<RuleEntry> rules = exact.get(key);
    return rules == null ? List.of() : List.copyOf(rules);
  }

  /** Returns the queue pairs for which there are rules that can match no other queue pair. */
  public Set<QueuePairKey> queuePairs() {
    return Set.copyOf(exact.keySet());
  }

  /** Returns the rules whose list is missing or dead. They are kept, but steer no packets. */
  public List<RuleEntry> inactive() {
    return entries().stream().filter(each -> !usable.test(each.list())).toList();
  }

  /** Returns all rules, in order of precedence. */
  public List<RuleEntry> entries() {
    List<RuleEntry> all = new ArrayList<>();
    held.values().forEach(each -> all.add(each.entry));
    all.sort(RuleEntry.ORDER);
    return all;
  }

  public int size() {
    return held.size();
  }

  /** Returns the number of a peer's rules. */
  public int size(String peer) {
    return sizes.getOrDefault(peer, 0);
  }

  public boolean has(String peer, FlowRule rule) {
    return held.containsKey(new Key(peer, rule));
  }
}
