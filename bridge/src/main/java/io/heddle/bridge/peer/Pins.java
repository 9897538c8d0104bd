package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Table of operators' orders that assign a group to a bridge. Every bridge repeats the orders that
 * it has received, and the newest one for a group takes precedence. So an order lasts while any
 * bridge runs.
 *
 * <p>Only as many orders as fit into a beacon are kept, the newest first. So bridges that have
 * received the same orders keep the same ones.
 */
public final class Pins {
  private static final Comparator<Beacon.Pin> BY_AGE =
      Comparator.comparingLong(Beacon.Pin::version)
          .thenComparingInt(Beacon.Pin::owner)
          .thenComparing(Beacon.Pin::group, View.BY_ADDRESS);

  private final Map<Gid, Beacon.Pin> pins = new TreeMap<>(View.BY_ADDRESS);

  /** Merges the orders from another bridge's beacon. */
  public void merge(List<Beacon.Pin> others) {
    for (Beacon.Pin each : others) {
      Beacon.Pin known = pins.get(each.group());
      if (known == null || BY_AGE.compare(each, known) > 0) {
        pins.put(each.group(), each);
      }
    }
    while (pins.size() > Beacon.MOST_PINS) {
      pins.remove(oldest().group());
    }
  }

  private Beacon.Pin oldest() {
    return pins.values().stream().min(BY_AGE).orElseThrow();
  }

  /**
   * Adds an order, which takes effect at once.
   *
   * @param owner {@link View#NOBODY} withdraws the earlier order
   * @return false if the table is full and its oldest order is still in force
   */
  public boolean order(Gid group, int owner) {
    boolean full = pins.size() >= Beacon.MOST_PINS && !pins.containsKey(group);
    if (full && oldest().owner() != View.NOBODY) {
      return false;
    }
    long newest = pins.values().stream().mapToLong(Beacon.Pin::version).max().orElse(0);
    merge(List.of(new Beacon.Pin(group, owner, newest + 1)));
    return true;
  }

  /** Returns the assigned owners, by group. */
  public Map<Gid, Integer> owners() {
    Map<Gid, Integer> owners = new LinkedHashMap<>();
    for (Beacon.Pin each : pins.values()) {
      if (each.owner() != View.NOBODY) {
        owners.put(each.group(), each.owner());
      }
    }
    return owners;
  }

  /** Returns the orders for a beacon. */
  public List<Beacon.Pin> all() {
    return List.copyOf(pins.values());
  }
}
