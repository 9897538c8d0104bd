package io.heddle.tools.soak;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Plan of one run, derived from its seed.
 *
 * @param setting setting of the pair of processes that executes the run
 * @param milliseconds time for which new messages are sent, ms
 * @param events faults of the run, in order of their start
 */
record ChaosPlan(
    long seed, ChaosSetting setting, int maxBytes, int milliseconds, List<ChaosEvent> events) {
  private static final int EARLIEST_MS = 50;

  /**
   * Time in ms for which a run with a fatal fault would send messages. The connection fails long
   * before this time is over.
   */
  private static final int UNTIL_IT_FAILS_MS = 60_000;

  private static final int PERCENT = 100;
  private static final int KILLED_PERCENT = 7;
  private static final int ALL_CUT_PERCENT = 12;
  private static final int NARROWED_PERCENT = 28;

  /* Smallest MTU in bytes of hosts whose planes may be narrowed. */
  private static final int WIDE_MTU_BYTES = 9000;
  /*
   * Smallest and largest packet length in bytes to which a plane may be narrowed. Packets of the
   * RDMA path MTU (4096) still pass; packets that fill an MTU of 9000 don't.
   */
  private static final int NARROWEST_BYTES = 4_300;
  private static final int WIDEST_BYTES = 8_700;

  private static final List<ChaosFault> USUAL =
      List.of(
          ChaosFault.CARRIER_CUT,
          ChaosFault.SILENT_CUT,
          ChaosFault.ADDRESS_REMOVED,
          ChaosFault.LOSS,
          ChaosFault.STOPPED_PEER,
          ChaosFault.CLOCK_STEP);
  private static final List<ChaosFault> ON_FABRIC =
      List.of(
          ChaosFault.SPINE_CUT,
          ChaosFault.SPINE_SILENT,
          ChaosFault.WEIGHT_CHANGE,
          ChaosFault.SESSION_RESET,
          ChaosFault.DAEMON_KILLED,
          ChaosFault.STOPPED_PEER,
          ChaosFault.CLOCK_STEP);

  ChaosPlan {
    events = List.copyOf(events);
  }

  /** Returns a plan for two hosts whose planes are direct links. */
  static ChaosPlan of(long seed) {
    ChaosSetting setting = ChaosSetting.of(seed);
    Random random = random(seed);
    int maxBytes = 1 << (14 + random.nextInt(7));
    int milliseconds = 300 + random.nextInt(700);
    List<ChaosEvent> events = new ArrayList<>();
    /* The usual faults spare one plane, since a run without any plane may rightly fail. */
    int spared = random.nextInt(setting.planes());
    for (int count = random.nextInt(4); count > 0; count--) {
      events.add(usual(random, setting, spared, milliseconds));
    }
    int drawn = random.nextInt(PERCENT);
    if (drawn < KILLED_PERCENT) {
      events.add(at(random, milliseconds, ChaosFault.KILLED_PEER, ChaosEvent.FOR_EVER));
    } else if (drawn < KILLED_PERCENT + ALL_CUT_PERCENT) {
      events.clear();
      ChaosFault fault = random.nextBoolean() ? ChaosFault.ALL_LINKS_DOWN : ChaosFault.ALL_SILENT;
      boolean forGood = setting.graceMs() == ChaosSetting.SHORT_GRACE_MS;
      int forMs = forGood ? ChaosEvent.FOR_EVER : 20 + random.nextInt(1_500);
      events.add(at(random, milliseconds, fault, forMs));
    }
    /* Drawn last, so that adding this fault doesn't change the other choices of a seed. */
    if (random.nextInt(PERCENT) < NARROWED_PERCENT && setting.mtuBytes() >= WIDE_MTU_BYTES) {
      events.add(narrowed(random, setting, milliseconds));
    }
    return planned(seed, setting, maxBytes, milliseconds, events);
  }

  /** Returns a plan for two hosts on a fabric, with a route daemon on each. */
  static ChaosPlan onFabric(long seed, int planes, int mtuBytes) {
    ChaosSetting setting = ChaosSetting.onFabric(seed, planes, mtuBytes);
    Random random = random(seed);
    int milliseconds = 1_500 + random.nextInt(2_000);
    List<ChaosEvent> events = new ArrayList<>();
    for (int count = 1 + random.nextInt(4); count > 0; count--) {
      ChaosFault fault = ON_FABRIC.get(random.nextInt(ON_FABRIC.size()));
      int forMs = 200 + random.nextInt(1_500);
      ChaosEvent event = at(random, milliseconds, fault, forMs);
      events.add(
          new ChaosEvent(
              event.atMs(),
              fault == ChaosFault.STOPPED_PEER ? forMs / 4 : forMs,
              fault,
              event.rank(),
              fault.hasPlane() ? random.nextInt(planes) : 0,
              amount(random, fault)));
    }
    if (random.nextInt(PERCENT) < KILLED_PERCENT) {
      events.add(at(random, milliseconds, ChaosFault.KILLED_PEER, ChaosEvent.FOR_EVER));
    }
    return planned(seed, setting, 1 << (14 + random.nextInt(5)), milliseconds, events);
  }

  /*
   * Returns a generator for the run's choices. It differs from the generator of the setting, which
   * uses the seed of the group.
   */
  private static Random random(long seed) {
    return ChaosSetting.random(seed * 2 + 1);
  }

  private static ChaosPlan planned(
      long seed, ChaosSetting setting, int maxBytes, int milliseconds, List<ChaosEvent> events) {
    events.sort(Comparator.comparingInt(ChaosEvent::atMs));
    List<ChaosEvent> kept = withoutOverlaps(events);
    boolean fails = kept.stream().anyMatch(ChaosEvent::isFatal);
    return new ChaosPlan(seed, setting, maxBytes, fails ? UNTIL_IT_FAILS_MS : milliseconds, kept);
  }

  private static ChaosEvent at(Random random, int milliseconds, ChaosFault fault, int forMs) {
    int atMs = EARLIEST_MS + random.nextInt(milliseconds - EARLIEST_MS);
    return new ChaosEvent(atMs, forMs, fault, random.nextInt(2), 0, 0);
  }

  private static ChaosEvent usual(
      Random random, ChaosSetting setting, int spared, int milliseconds) {
    ChaosFault fault = USUAL.get(random.nextInt(USUAL.size()));
    if (fault == ChaosFault.STOPPED_PEER && setting.graceMs() == ChaosSetting.SHORT_GRACE_MS) {
      /*
       * On a busy host the peer may stay stopped for longer than the short grace time, and the
       * connection may rightly fail. A clock step replaces the stop.
       */
      fault = ChaosFault.CLOCK_STEP;
    }
    int others = setting.planes() - 1;
    int plane = fault.hasPlane() ? (spared + 1 + random.nextInt(others)) % setting.planes() : 0;
    int atMs = EARLIEST_MS + random.nextInt(milliseconds - EARLIEST_MS);
    int forMs = 20 + random.nextInt(random.nextInt(4) == 0 ? 1_000 : 300);
    return new ChaosEvent(atMs, forMs, fault, random.nextInt(2), plane, amount(random, fault));
  }

  /*
   * Returns a fault that narrows a plane, that is, reduces its MTU. A narrowed plane doesn't fail,
   * so the fault may also affect the spared plane.
   */
  private static ChaosEvent narrowed(Random random, ChaosSetting setting, int milliseconds) {
    ChaosEvent drawn =
        at(random, milliseconds, ChaosFault.NARROWED, 20 + random.nextInt(milliseconds));
    return new ChaosEvent(
        drawn.atMs(),
        drawn.forMs(),
        drawn.fault(),
        drawn.rank(),
        random.nextInt(setting.planes()),
        amount(random, drawn.fault()));
  }

  private static int amount(Random random, ChaosFault fault) {
    return switch (fault) {
      case LOSS -> 2 + random.nextInt(48);
      case NARROWED -> NARROWEST_BYTES + random.nextInt(WIDEST_BYTES - NARROWEST_BYTES);
      case CLOCK_STEP -> random.nextInt(2_000_000) - 1_000_000;
      case WEIGHT_CHANGE -> 1 + random.nextInt(400);
      case CARRIER_CUT,
          SILENT_CUT,
          ADDRESS_REMOVED,
          ALL_LINKS_DOWN,
          ALL_SILENT,
          STOPPED_PEER,
          KILLED_PEER,
          SPINE_CUT,
          SPINE_SILENT,
          SESSION_RESET,
          DAEMON_KILLED ->
          0;
    };
  }

  /*
   * Returns the faults without those that overlap an earlier one. A plane at one host has at most
   * one fault at a time, so that undoing one fault doesn't undo another. Nothing follows a fatal
   * fault.
   */
  private static List<ChaosEvent> withoutOverlaps(List<ChaosEvent> events) {
    List<ChaosEvent> kept = new ArrayList<>();
    for (ChaosEvent event : events) {
      boolean meets =
          kept.stream()
              .anyMatch(before ->
                  before.isFatal()
                      || before.endMs() >= event.atMs()
                          && before.rank() == event.rank()
                          && (before.fault() == event.fault()
                              || before.fault().reach() == event.fault().reach()
                                  && before.plane() == event.plane()));
      if (!meets) {
        kept.add(event);
      }
    }
    return kept;
  }

  /** Returns the same plan with another policy. */
  ChaosPlan withPolicy(String policy) {
    return new ChaosPlan(seed, setting.withPolicy(policy), maxBytes, milliseconds, events);
  }

  /** Returns the fault that must end the connection; null if the run must continue to its end. */
  @Nullable ChaosEvent fatal() {
    return events.stream().filter(ChaosEvent::isFatal).findFirst().orElse(null);
  }

  /**
   * Returns whether data could flow all the time: at least one plane was up, and no rank was
   * stopped or killed.
   */
  boolean alwaysHasPlaneAndPeer() {
    return events.stream()
        .noneMatch(event ->
            event.fault().affectsAllPlanes()
                || event.fault() == ChaosFault.STOPPED_PEER
                || event.isFatal());
  }

  /**
   * Returns whether the only faults were temporary stops of ranks. Always false for policy packet,
   * whose single queue pair over all planes suspends a silent plane instead of fencing it.
   */
  boolean onlyStopsRanks() {
    return !events.isEmpty()
        && events.stream().allMatch(event -> event.fault() == ChaosFault.STOPPED_PEER)
        && !setting.policy().equals(ChaosSetting.PACKET);
  }

  String describe() {
    StringBuilder text = new StringBuilder(setting.describe());
    text.append(", messages to ").append(maxBytes).append(" B");
    if (fatal() == null) {
      text.append(" for ").append(milliseconds).append(" ms");
    }
    events.forEach(event -> text.append("; ").append(event));
    return text.toString();
  }
}
