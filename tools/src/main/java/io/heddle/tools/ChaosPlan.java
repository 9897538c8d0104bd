package io.heddle.tools;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * One run of the soak; all of it follows from the seed.
 *
 * @param softFaults HEDDLE_SOFT_FAULTS of both ranks; empty for none
 * @param seconds how long new messages are sent
 * @param events in order of time
 */
record ChaosPlan(
    long seed,
    int planes,
    int mtuBytes,
    String policy,
    int maxBytes,
    String softFaults,
    int seconds,
    List<Event> events) {
  static final int MOST_PLANES = 4;

  private static final int EARLIEST_MS = 150;

  ChaosPlan {
    events = List.copyOf(events);
  }

  /**
   * One fault.
   *
   * @param atMs after both ranks are connected
   * @param forMs until it is undone
   * @param amount of LOSS, in thousandths
   */
  record Event(int atMs, int forMs, ChaosFault fault, int rank, int plane, int amount) {
    @Override
    public String toString() {
      String where = fault == ChaosFault.STOPPED_PEER ? "" : " on plane " + (plane + 1);
      String much = fault == ChaosFault.LOSS ? " of " + amount / 10.0 + " %" : "";
      return atMs
          + " ms: "
          + fault.text()
          + much
          + where
          + " at rank "
          + rank
          + ", "
          + forMs
          + " ms";
    }
  }

  static ChaosPlan of(long seed) {
    /* Neighbouring seeds make neighbouring first numbers otherwise. */
    Random random = new Random(seed * 0x9e3779b97f4a7c15L);
    int planes = 2 + random.nextInt(MOST_PLANES - 1);
    int mtuBytes = random.nextBoolean() ? 9000 : 1500;
    String policy = List.of("spray", "spray", "pinned", "hash").get(random.nextInt(4));
    int maxBytes = 1 << (14 + random.nextInt(8));
    int seconds = 2 + random.nextInt(2);
    List<Event> events = new ArrayList<>();
    int count = random.nextInt(4);
    /* One plane is never cut: with none left, failing is right. */
    int spared = random.nextInt(planes);
    for (int i = 0; i < count; i++) {
      events.add(event(random, planes, spared, seconds));
    }
    events.sort(Comparator.comparingInt(Event::atMs));
    return new ChaosPlan(
        seed, planes, mtuBytes, policy, maxBytes, softFaults(random), seconds, apart(events));
  }

  private static Event event(Random random, int planes, int spared, int seconds) {
    ChaosFault[] kinds = ChaosFault.values();
    ChaosFault fault = kinds[random.nextInt(kinds.length)];
    int plane = (spared + 1 + random.nextInt(planes - 1)) % planes;
    int atMs = EARLIEST_MS + random.nextInt(seconds * 1000 - 2 * EARLIEST_MS);
    int forMs = 20 + random.nextInt(random.nextInt(4) == 0 ? 1500 : 300);
    int amount = fault == ChaosFault.LOSS ? 2 + random.nextInt(48) : 0;
    return new Event(atMs, forMs, fault, random.nextInt(2), plane, amount);
  }

  /* A plane at one host has one fault at a time, so that undoing one doesn't undo another. */
  private static List<Event> apart(List<Event> events) {
    List<Event> kept = new ArrayList<>();
    for (Event event : events) {
      boolean meets =
          kept.stream()
              .anyMatch(before ->
                  before.atMs() + before.forMs() >= event.atMs()
                      && before.rank() == event.rank()
                      && (before.plane() == event.plane() || before.fault() == event.fault()));
      if (!meets) {
        kept.add(event);
      }
    }
    return kept;
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

  /** Whether a plane is taken away for a while. */
  boolean cutsPlanes() {
    return events.stream().anyMatch(event -> event.fault().takesPlane());
  }

  String describe() {
    return "%d planes, MTU %d, %s, messages to %d B%s%s"
        .formatted(
            planes,
            mtuBytes,
            policy,
            maxBytes,
            softFaults.isEmpty() ? "" : ", " + softFaults,
            events.isEmpty()
                ? ""
                : "; " + String.join("; ", events.stream().map(Event::toString).toList()));
  }
}
