package io.heddle.tools.wan;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * One phase of a soak: constant random traffic, and a fault of a daemon or a path. The seed
 * determines all of it.
 *
 * @param load bits per second by queue pair
 * @param fault fault that is injected once the phase has begun
 * @param healMs time until the fault is undone
 */
record WanSoakPlan(Map<Integer, Double> load, Fault fault, int healMs) {
  /** Kind of fault. */
  enum Fault {
    NONE("nothing"),
    CONTROLLER_KILLED("the controller is killed"),
    GATEWAY_KILLED("the near gateway is killed"),
    REFLECTOR_KILLED("the reflector is killed"),
    PATH_CUT("the second path is cut");

    private final String text;

    Fault(String text) {
      this.text = text;
    }

    String text() {
      return text;
    }

    boolean isProcessKill() {
      return this != NONE && this != PATH_CUT;
    }
  }

  private static final int QUEUE_PAIRS = 12;
  private static final int FIRST = 0x100;
  private static final double LEAST_SHARE = 0.05;
  private static final double MOST_SHARE = 0.35;
  private static final int LEAST_HEAL_MS = 200;

  /*
   * Longest time until a fault is undone. Some times are shorter than the grace period of five
   * seconds, some longer.
   */
  private static final int MOST_HEAL_MS = 8_000;

  /**
   * Returns the next phase.
   *
   * @param random generator that was created from the soak's seed
   * @param reflected whether there is a reflector to kill
   */
  static WanSoakPlan next(Random random, boolean reflected) {
    Map<Integer, Double> load = new TreeMap<>();
    for (int i = 0; i < QUEUE_PAIRS; i++) {
      double share = LEAST_SHARE + random.nextDouble() * (MOST_SHARE - LEAST_SHARE);
      if (random.nextBoolean()) {
        load.put(FIRST + i, share * WanConfigs.CAPACITY_MBPS * 1e6);
      }
    }
    List<Fault> faults = new ArrayList<>(List.of(Fault.values()));
    if (!reflected) {
      faults.remove(Fault.REFLECTOR_KILLED);
    }
    Fault fault = faults.get(random.nextInt(faults.size()));
    int healMs = LEAST_HEAL_MS + random.nextInt(MOST_HEAL_MS - LEAST_HEAL_MS);
    return new WanSoakPlan(load, fault, healMs);
  }
}
