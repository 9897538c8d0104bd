package io.heddle.cli.paths;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.paths.PathsMeasurement.NextRouters;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The trace on a made-up fabric with a clock of its own. */
final class PathTraceTest {
  private static final String PEER = "fd00::99";

  /** A leaf, four spines, a tail; answers come after a millisecond, as often as a limit allows. */
  private static final class MadeUpFabric implements Prober {
    private record Due(long atNs, Reply reply) {}

    final Set<String> silent = new TreeSet<>();
    final Map<String, Long> nextAnswerNs = new HashMap<>();
    final PriorityQueue<Due> due = new PriorityQueue<>(Comparator.comparingLong(Due::atNs));
    long answerEveryNs;
    boolean portOpen;
    long now;
    int sent;

    @Override
    public long nowNs() {
      return now;
    }

    String router(int port, int hop) {
      return switch (hop) {
        case 1 -> "leaf";
        case 2 -> "spine" + (port & 3);
        case 3 -> "tail";
        default -> PEER;
      };
    }

    @Override
    public void send(int port, int hop) {
      sent++;
      String router = router(port, hop);
      boolean peer = router.equals(PEER);
      long next = nextAnswerNs.getOrDefault(router, 0L);
      if (silent.contains(router) || peer && portOpen || now < next) {
        return;
      }
      nextAnswerNs.put(router, now + answerEveryNs);
      due.add(new Due(now + 1_000_000, new Reply(port, hop, router, peer)));
    }

    @Override
    public @Nullable Reply receive(long untilNs) {
      Due first = due.peek();
      if (first == null || first.atNs() > untilNs) {
        now = Math.max(now, untilNs);
        return null;
      }
      due.remove();
      now = Math.max(now, first.atNs());
      return first.reply();
    }

    @Override
    public void close() {}
  }

  private final MadeUpFabric fabric = new MadeUpFabric();
  private final List<String> said = new ArrayList<>();

  private PathsMeasurement trace(int ports) {
    PathTrace trace = new PathTrace(fabric, PEER, 16, 100, said::add);
    trace.follow(IntStream.range(50_000, 50_000 + ports).boxed().toList());
    return trace.result("fd00::1", List.of());
  }

  @Test
  void everyPortsRouterIsFoundAtEveryHop() {
    PathsMeasurement found = trace(64);
    assertTrue(found.reached());
    assertEquals(4, found.length());
    assertEquals(64, found.ports().size());
    for (PathsMeasurement.PortWay way : found.ports()) {
      assertEquals(
          List.of("leaf", "spine" + (way.port() & 3), "tail", PEER), way.routers(), way.toString());
    }
    assertEquals(List.of(2), found.branchings());
    assertEquals("spine1", found.ways(4).get(50_001));
    assertTrue(fabric.now > 4 * 63 * 10_000_000L, "a hundred probes in a second at most");
    assertFalse(said.isEmpty());
  }

  /* As Linux does unless told otherwise: one answer in a second. */
  @Test
  void routersThatLimitTheirAnswersAreAskedUntilAllPortsAreKnown() {
    fabric.answerEveryNs = 1_000_000_000;
    PathsMeasurement found = trace(32);
    for (PathsMeasurement.PortWay way : found.ports()) {
      assertEquals(
          List.of("leaf", "spine" + (way.port() & 3), "tail", PEER), way.routers(), way.toString());
    }
  }

  @Test
  void aSilentRouterIsToldOfAndNotGuessed() {
    fabric.silent.add("spine2");
    PathsMeasurement found = trace(64);
    for (PathsMeasurement.PortWay way : found.ports()) {
      assertEquals("tail", way.routers().get(2));
      assertEquals((way.port() & 3) == 2, way.routers().get(1) == null, way.toString());
    }
    NextRouters spines = found.groups().get(1);
    assertEquals(Set.of("spine0", "spine1", "spine3"), spines.routers().keySet());
    assertEquals(16, spines.silent());
    assertEquals(48, found.ways(4).size(), "ports without a known way have none");
    assertTrue(MeasurementText.of(found).contains("router silent"), MeasurementText.of(found));
  }

  @Test
  void aHopThatIsSilentAltogetherDoesNotEndTheTrace() {
    fabric.silent.addAll(Set.of("spine0", "spine1", "spine2", "spine3"));
    PathsMeasurement found = trace(64);
    assertTrue(found.reached());
    assertEquals(List.of(), found.branchings());
    assertEquals(64, found.groups().get(1).silent());
    assertTrue(fabric.sent < 5 * 64, "silence isn't asked by all ports: " + fabric.sent);
  }

  @Test
  void aPeerWhosePortIsOpenEndsTheWayInSilence() {
    fabric.portOpen = true;
    PathsMeasurement found = trace(64);
    assertFalse(found.reached());
    assertEquals(3, found.length());
    assertTrue(MeasurementText.of(found).contains("the peer has port 4791 open"));
  }

  @Test
  void moreFlowsAreWantedUntilTheConfidenceIsReached() {
    PathTrace trace = new PathTrace(fabric, PEER, 16, 100, said::add);
    trace.follow(List.of(50_000, 50_001));
    assertEquals(
        11 - 2, trace.wanting(), "two spines are found; 11 flows tell that there are only two");
    trace.follow(List.of(50_002, 50_003, 50_004, 50_005));
    assertEquals(21 - 6, trace.wanting());
    trace.follow(IntStream.range(50_006, 50_021).boxed().toList());
    assertEquals(1, trace.wanting(), "6 flows behind each spine tell that there is only one tail");
    trace.follow(IntStream.range(50_021, 50_024).boxed().toList());
    assertEquals(0, trace.wanting());
    for (NextRouters each : trace.result("fd00::1", List.of()).groups()) {
      assertTrue(each.confidence() >= 0.95, each.toString());
    }
  }
}
