package io.heddle.cli.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;

/**
 * What the runs of one pair of processes have in common; it follows from the number of their group.
 *
 * @param softFaults HEDDLE_SOFT_FAULTS of both ranks; empty for none
 * @param graceMs how long a connection lives without any plane
 */
record ChaosSetting(
    long group, int planes, int mtuBytes, String policy, String softFaults, int graceMs) {
  /** Seeds of one group follow each other. */
  static final int GROUP = 16;

  static final int MOST_PLANES = 4;

  /** Short enough to wait for its end. */
  static final int SHORT_GRACE_MS = 1_000;

  /** Longer than all planes are ever cut, and than a slow machine takes to find them again. */
  static final int LONG_GRACE_MS = 15_000;

  private static final int LONGEST_HOLD_MS = 1_000;

  private static final List<String> POLICIES =
      List.of("spray", "spray", "spray", "least-in-flight", "pinned", "spraylink", "hash", "hash");

  /** One queue pair over all planes, which the others don't draw from. */
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
    /* Drawn last: what else a seed says is older. */
    String drawn = random.nextInt(PACKET_EVERY) == 0 ? PACKET : policy;
    return new ChaosSetting(group, planes, mtuBytes, drawn, softFaults, graceMs);
  }

  /** The same under another policy. */
  ChaosSetting under(String otherPolicy) {
    return new ChaosSetting(group, planes, mtuBytes, otherPolicy, softFaults, graceMs);
  }

  /** On a fabric, whose planes and links are given. */
  static ChaosSetting onFabric(long seed, int planes, int mtuBytes) {
    ChaosSetting drawn = of(seed);
    return new ChaosSetting(
        drawn.group, planes, mtuBytes, drawn.policy, drawn.softFaults, LONG_GRACE_MS);
  }

  /* Neighbouring seeds make neighbouring first numbers otherwise. */
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

  /** The variables of both processes. */
  Map<String, String> environment() {
    Map<String, String> environment =
        new java.util.LinkedHashMap<>(
            Map.of(
                "HEDDLE_POLICY",
                policy,
                "HEDDLE_GRACE_MS",
                Integer.toString(graceMs),
                /* Without their daemon, weights go while the run lasts. */
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
