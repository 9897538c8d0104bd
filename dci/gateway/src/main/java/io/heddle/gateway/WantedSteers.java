package io.heddle.gateway;

import io.heddle.dataplane.DataPlane;
import io.heddle.dataplane.SteerKey;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * The rules that somebody wants, and which of them the data plane has. A rule whose list is dead
 * stays here, inactive, and its queue pair goes by its hash.
 */
final class WantedSteers {
  /** Who set a rule that the data plane had when this process began. */
  static final String BEFORE = "found at the start";

  /** A rule; {@code list} is its list's id. */
  record Wanted(int list, String setBy) {}

  private final DataPlane plane;
  private final Map<SteerKey, Wanted> rules = new LinkedHashMap<>();

  /**
   * Takes over what the data plane has.
   *
   * @param known ids of lists; rules by others end
   */
  WantedSteers(DataPlane plane, Set<Integer> known) {
    this.plane = plane;
    plane
        .steers()
        .forEach((key, list) -> {
          if (known.contains(list)) {
            rules.put(key, new Wanted(list, BEFORE));
          } else {
            plane.release(key);
          }
        });
  }

  Map<SteerKey, Wanted> rules() {
    return rules;
  }

  void set(SteerKey key, Wanted rule, Set<Integer> alive) {
    rules.put(key, rule);
    obey(alive);
  }

  /** Whether there was one. */
  boolean end(SteerKey key) {
    boolean was = rules.remove(key) != null;
    return plane.release(key) || was;
  }

  /** Has the data plane obey the rules whose lists are alive, and no others. */
  void obey(Set<Integer> alive) {
    Map<SteerKey, Integer> present = plane.steers();
    Map<SteerKey, Integer> fresh = new HashMap<>();
    rules.forEach((key, rule) -> {
      if (!alive.contains(rule.list())) {
        if (present.containsKey(key)) {
          plane.release(key);
        }
      } else if (!Integer.valueOf(rule.list()).equals(present.get(key))) {
        fresh.put(key, rule.list());
      }
    });
    if (!fresh.isEmpty()) {
      plane.steer(fresh);
    }
  }
}
