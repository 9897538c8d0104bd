package io.heddle.gateway;

import io.heddle.dataplane.DataPlane;
import io.heddle.dataplane.SteerKey;
import io.heddle.platform.Log;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The steers that somebody wants, and which of them the data plane has. An operator's order goes
 * before a controller's rule. A steer whose list is dead stays here, inactive, and its queue pair
 * goes by its hash.
 */
final class WantedSteers {
  /** Who wanted a steer that the data plane had when this process began. */
  static final String BEFORE = "found at the start";

  /**
   * A steer.
   *
   * @param list its list's id
   * @param waits for room in the data plane
   */
  record Wanted(int list, String setBy, boolean waits) {
    Wanted(int list, String setBy) {
      this(list, setBy, false);
    }
  }

  private final DataPlane plane;
  private final Map<SteerKey, Wanted> orders = new LinkedHashMap<>();
  private final Map<SteerKey, Wanted> rules = new LinkedHashMap<>();
  private final Map<SteerKey, Integer> obeyed = new HashMap<>();
  /* By the data plane, for want of room; tried again when it has some. */
  private final Set<SteerKey> refused = new HashSet<>();
  private final Log log;

  /**
   * Takes over what the data plane has.
   *
   * @param known ids of lists; steers to others end
   */
  WantedSteers(DataPlane plane, Set<Integer> known, Log log) {
    this.plane = plane;
    this.log = log;
    plane
        .steers()
        .forEach((key, list) -> {
          if (known.contains(list)) {
            orders.put(key, new Wanted(list, BEFORE));
            obeyed.put(key, list);
          } else {
            plane.release(key);
          }
        });
  }

  /** What is wanted of each queue pair. */
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

  /** Orders a steer; false where the data plane has no room for it, and then nothing is ordered. */
  boolean order(SteerKey key, Wanted order, Set<Integer> alive) {
    orders.put(key, order);
    obey(Set.of(key), alive);
    boolean taken = !refused.contains(key);
    if (!taken) {
      endOrder(key, alive);
    }
    return taken;
  }

  /** Ends an order; a controller's rule for the queue pair holds again. Whether there was one. */
  boolean endOrder(SteerKey key, Set<Integer> alive) {
    boolean was = orders.remove(key) != null;
    obey(Set.of(key), alive);
    return was;
  }

  /**
   * Controllers have changed their minds. What was found at the start gives way.
   *
   * @param changed rules that are new or lead elsewhere
   * @param gone rules that are withdrawn
   */
  void rules(Map<SteerKey, Wanted> changed, Set<SteerKey> gone, Set<Integer> alive) {
    rules.putAll(changed);
    rules.keySet().removeAll(gone);
    changed.keySet().forEach(this::forgetBefore);
    Set<SteerKey> keys = new HashSet<>(changed.keySet());
    keys.addAll(gone);
    obey(keys, alive);
  }

  private void forgetBefore(SteerKey key) {
    Wanted order = orders.get(key);
    if (order != null && order.setBy().equals(BEFORE)) {
      orders.remove(key);
    }
  }

  /** Ends the steers that were found at the start and that nobody has wanted since; how many. */
  int endFoundBefore(Set<Integer> alive) {
    Set<SteerKey> before = new HashSet<>();
    orders.forEach((key, order) -> {
      if (order.setBy().equals(BEFORE)) {
        before.add(key);
      }
    });
    orders.keySet().removeAll(before);
    obey(before, alive);
    return before.size();
  }

  /** Has the data plane obey the steers whose lists are alive, and no others. */
  void obey(Set<Integer> alive) {
    Set<SteerKey> keys = new HashSet<>(obeyed.keySet());
    keys.addAll(rules.keySet());
    keys.addAll(orders.keySet());
    obey(keys, alive);
  }

  private void obey(Set<SteerKey> keys, Set<Integer> alive) {
    Map<SteerKey, Integer> fresh = new HashMap<>();
    boolean room = false;
    for (SteerKey key : keys) {
      Wanted wanted = wanted(key);
      if (wanted == null || !alive.contains(wanted.list())) {
        refused.remove(key);
        if (obeyed.containsKey(key)) {
          plane.release(key);
          obeyed.remove(key);
          room = true;
        }
      } else if (!Integer.valueOf(wanted.list()).equals(obeyed.get(key))) {
        fresh.put(key, wanted.list());
      }
    }
    if (room) {
      refused.forEach(key -> fresh.put(key, Objects.requireNonNull(wanted(key)).list()));
    }
    if (!fresh.isEmpty()) {
      give(fresh);
    }
  }

  private void give(Map<SteerKey, Integer> fresh) {
    boolean none = refused.isEmpty();
    Set<SteerKey> without = plane.steer(fresh);
    refused.removeAll(fresh.keySet());
    refused.addAll(without);
    fresh.keySet().removeAll(without);
    obeyed.putAll(fresh);
    if (none && !refused.isEmpty()) {
      log.warn(
          "the data plane has no room for %d steers: they wait until others end", refused.size());
    }
  }
}
