package io.heddle.tools.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * Setting that all runs of a group share, as they use the same pair of processes. It is derived
 * from the group's number.
 *
 * @param softFaults value of HEDDLE_SOFT_FAULTS for both ranks; empty for none
 * @param graceMs time in ms that a connection survives without any plane
 */
record ChaosSetting(
    long group, int planes, int mtuBytes, String policy, String softFaults, int graceMs) {
  /** Number of consecutive seeds in a group. */
  static final int GROUP = 16;

  static final int MOST_PLANES = 4;

  /** Grace time in ms that is short enough for a run to wait until it expires. */
  static final int SHORT_GRACE_MS = 1_000;

  /**
   * Grace time in ms that is longer than any cut of all planes plus the recovery on a slow machine.
   */
  static final int LONG_GRACE_MS = 15_000;

  private static final int LONGEST_HOLD_MS = 1_000;

  private static final List<String> POLICIES =
      List.of("spray", "spray", "spray", "least-in-flight", "pinned", "spraylink", "hash", "hash");

  /** Policy with one queue pair over all planes. It is drawn separately from {@link #POLICIES}. */
  static final String PACKET = "packet";

  private static final int PACKET_EVERY = 4;

  static ChaosSetting of(long seed) {
    long group = seed / GROUP;
    Random random = random(group);
    int planes = 2 + random.nextInt(MOST_PLANES - 1);
    int mtuBytes = random.nextBoolean() ? 9000 : 1500;
    String policy = POLICIES.get(random.nextInt(POLICIES.size()));
    int graceMs = random.nextInt(3) == 0 ? SHORT_GRACE_MS : LONG_GRACE_MS;
    String softFaults = softFaults(random);
    /*
     * Drawn last, so that the other choices of a seed stay as they were before this policy existed.
     */
    String drawn = random.nextInt(PACKET_EVERY) == 0 ? PACKET : policy;
    return new ChaosSetting(group, planes, mtuBytes, drawn, softFaults, graceMs);
  }

  /** Returns the same setting with another policy. */
  ChaosSetting withPolicy(String otherPolicy) {
    return new ChaosSetting(group, planes, mtuBytes, otherPolicy, softFaults, graceMs);
  }

  /** Returns the setting for a fabric with this number of planes and this MTU. */
  static ChaosSetting onFabric(long seed, int planes, int mtuBytes) {
    ChaosSetting drawn = of(seed);
    return new ChaosSetting(
        drawn.group, planes, mtuBytes, drawn.policy, drawn.softFaults, LONG_GRACE_MS);
  }

  /*
   * Returns a generator for a seed. The seed is mixed, as neighbouring seeds would yield similar
   * first numbers.
   */
  static Random random(long seed) {
    return new Random(seed * 0x9e3779b97f4a7c15L);
  }

  private static String softFaults(Random random) {
    List<String> parts = new ArrayList<>();
    for (String name : List.of("loss", "duplicate", "reorder", "corrupt", "ghost")) {
      if (random.nextInt(3) == 0) {
        double most = name.equals("ghost") ? 0.002 : 0.01;
        parts.add(String.format(Locale.ROOT, "%s=%.4f", name, 0.0001 + random.nextDouble() * most));
      }
    }
    if (random.nextInt(4) == 0) {
      parts.add("delay-us=" + (50 + random.nextInt(950)));
    }
    if (!parts.isEmpty()) {
      parts.add("ghost-ms=" + (20 + random.nextInt(800)));
      parts.add("seed=" + (random.nextInt() & 0xffffff));
    }
    return String.join(",", parts);
  }

  /** Returns the environment variables of both processes. */
  Map<String, String> environment() {
    Map<String, String> environment =
        new java.util.LinkedHashMap<>(
            Map.of(
                "HEDDLE_POLICY",
                policy,
                "HEDDLE_GRACE_MS",
                Integer.toString(graceMs),
                /* Weights expire within the run if the route daemon is killed. */
                "HEDDLE_ROUTES_HOLD_MS",
                Integer.toString(LONGEST_HOLD_MS)));
    if (!softFaults.isEmpty()) {
      environment.put("HEDDLE_SOFT_FAULTS", softFaults);
    }
    return environment;
  }

  String describe() {
    return "%s planes, MTU %s, %s, grace %s ms%s"
        .formatted(
            planes, mtuBytes, policy, graceMs, softFaults.isEmpty() ? "" : ", " + softFaults);
  }
}
