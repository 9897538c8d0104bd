package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Operators' orders that a bridge is to own a group. Every bridge repeats those that it has heard,
 * and the newest of a group counts, so they last as long as one bridge does.
 *
 * <p>Those that a beacon has room for are kept, the newest of all. So bridges that have heard the
 * same keep the same.
 */
public final class Pins {
  private static final Comparator<Beacon.Pin> BY_AGE =
      Comparator.comparingLong(Beacon.Pin::version)
          .thenComparingInt(Beacon.Pin::owner)
          .thenComparing(Beacon.Pin::group, View.BY_ADDRESS);

  private final Map<Gid, Beacon.Pin> pins = new TreeMap<>(View.BY_ADDRESS);

  /** Takes what another bridge knows. */
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
   * An order that counts from now on.
   *
   * @param owner {@link View#NOBODY} takes the order before back
   * @return false where there are as many as fit, and the oldest one still counts
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

  /** Owners by group. */
  public Map<Gid, Integer> owners() {
    Map<Gid, Integer> owners = new LinkedHashMap<>();
    for (Beacon.Pin each : pins.values()) {
      if (each.owner() != View.NOBODY) {
        owners.put(each.group(), each.owner());
      }
    }
    return owners;
  }

  /** For a beacon. */
  public List<Beacon.Pin> all() {
    return List.copyOf(pins.values());
  }
}
