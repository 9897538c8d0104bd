package io.heddle.gateway;

import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.platform.Log;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Table of steers: the assignments of queue pairs to lists that an operator or a controller wants,
 * and those that the data plane has. An operator's order takes precedence over a controller's rule.
 * A steer to a dead list stays in the table, but the queue pair's hash chooses its list.
 */
final class WantedSteers {
  /** Owner of a steer that the data plane had when this process started. */
  static final String ADOPTED = "found at the start";

  /**
   * Wanted steer of a queue pair.
   *
   * @param list id of the list
   * @param setBy owner: the operator, a controller, or {@link #ADOPTED}
   * @param isWaiting whether the steer waits for room in the data plane
   */
  record Wanted(int list, String setBy, boolean isWaiting) {
    Wanted(int list, String setBy) {
      this(list, setBy, false);
    }
  }

  private final DataPlane plane;
  private final Map<SteerKey, Wanted> orders = new LinkedHashMap<>();
  private final Map<SteerKey, Wanted> rules = new LinkedHashMap<>();
  private final Map<SteerKey, Integer> applied = new HashMap<>();
  /* Keys of steers that the data plane had no room for. They are retried when a steer ends. */
  private final Set<SteerKey> refused = new HashSet<>();
  private final Log log;

  /**
   * Adopts the data plane's steers.
   *
   * @param known ids of the configured lists; steers to other lists are removed
   */
  WantedSteers(DataPlane plane, Set<Integer> known, Log log) {
    this.plane = plane;
    this.log = log;
    plane
        .steers()
        .forEach((key, list) -> {
          if (known.contains(list)) {
            orders.put(key, new Wanted(list, ADOPTED));
            applied.put(key, list);
          } else {
            plane.release(key);
          }
        });
  }

  /** Returns the wanted steer of each queue pair. */
  Map<SteerKey, Wanted> all() {
    Map<SteerKey, Wanted> all = new LinkedHashMap<>(rules);
    all.putAll(orders);
    refused.forEach(key ->
        all.computeIfPresent(key, (same, each) -> new Wanted(each.list(), each.setBy(), true)));
    return all;
  }

  private @Nullable Wanted wanted(SteerKey key) {
    Wanted order = orders.get(key);
    return order == null ? rules.get(key) : order;
  }

  /**
   * Adds an operator's order. Returns false, and adds nothing, if the data plane has no room for
   * the steer.
   */
  boolean order(SteerKey key, Wanted order, Set<Integer> alive) {
    orders.put(key, order);
    apply(Set.of(key), alive);
    boolean taken = !refused.contains(key);
    if (!taken) {
      endOrder(key, alive);
    }
    return taken;
  }

  /**
   * Ends an operator's order, so that a controller's rule for the queue pair applies again. Returns
   * whether there was an order.
   */
  boolean endOrder(SteerKey key, Set<Integer> alive) {
    boolean was = orders.remove(key) != null;
    apply(Set.of(key), alive);
    return was;
  }

  /**
   * Applies changes of controllers' rules. New rules replace steers that were found at the start.
   *
   * @param changed new rules, and rules with another list
   * @param gone keys of withdrawn rules
   */
  void rules(Map<SteerKey, Wanted> changed, Set<SteerKey> gone, Set<Integer> alive) {
    rules.putAll(changed);
    rules.keySet().removeAll(gone);
    changed.keySet().forEach(this::forgetAdopted);
    Set<SteerKey> keys = new HashSet<>(changed.keySet());
    keys.addAll(gone);
    apply(keys, alive);
  }

  private void forgetAdopted(SteerKey key) {
    Wanted order = orders.get(key);
    if (order != null && order.setBy().equals(ADOPTED)) {
      orders.remove(key);
    }
  }

  /**
   * Removes the steers that were found at the start and that no rule or order has replaced. Returns
   * their number.
   */
  int releaseUnclaimed(Set<Integer> alive) {
    Set<SteerKey> before = new HashSet<>();
    orders.forEach((key, order) -> {
      if (order.setBy().equals(ADOPTED)) {
        before.add(key);
      }
    });
    orders.keySet().removeAll(before);
    apply(before, alive);
    return before.size();
  }

  /** Updates the data plane to exactly the steers whose lists are alive. */
  void apply(Set<Integer> alive) {
    Set<SteerKey> keys = new HashSet<>(applied.keySet());
    keys.addAll(rules.keySet());
    keys.addAll(orders.keySet());
    apply(keys, alive);
  }

  private void apply(Set<SteerKey> keys, Set<Integer> alive) {
    Map<SteerKey, Integer> fresh = new HashMap<>();
    boolean room = false;
    for (SteerKey key : keys) {
      Wanted wanted = wanted(key);
      if (wanted == null || !alive.contains(wanted.list())) {
        refused.remove(key);
        if (applied.containsKey(key)) {
          plane.release(key);
          applied.remove(key);
          room = true;
        }
      } else if (!Integer.valueOf(wanted.list()).equals(applied.get(key))) {
        fresh.put(key, wanted.list());
      }
    }
    if (room) {
      refused.forEach(key -> fresh.put(key, Objects.requireNonNull(wanted(key)).list()));
    }
    if (!fresh.isEmpty()) {
      install(fresh);
    }
  }

  private void install(Map<SteerKey, Integer> fresh) {
    boolean none = refused.isEmpty();
    Set<SteerKey> without = plane.steer(fresh);
    refused.removeAll(fresh.keySet());
    refused.addAll(without);
    fresh.keySet().removeAll(without);
    applied.putAll(fresh);
    if (none && !refused.isEmpty()) {
      log.warn(
          "the data plane has no room for %d steers: they wait until others end", refused.size());
    }
  }
}
