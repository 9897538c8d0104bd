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

/** Test of {@link PathTrace} on a simulated fabric and clock. */
final class PathTraceTest {
  private static final String PEER = "fd00::99";

  /**
   * Simulated fabric of a leaf, four spines and one more router. Replies arrive after a
   * millisecond, and routers limit their rate.
   */
  private static final class SimulatedFabric implements Prober {
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

  private final SimulatedFabric fabric = new SimulatedFabric();
  private final List<String> said = new ArrayList<>();

  private PathsMeasurement trace(int ports) {
    PathTrace trace = new PathTrace(fabric, PEER, 16, 100, said::add);
    trace.trace(IntStream.range(50_000, 50_000 + ports).boxed().toList());
    return trace.result("fd00::1", List.of());
  }

  @Test
  void routersOfAllPortsAreFoundAtEveryHop() {
    PathsMeasurement found = trace(64);
    assertTrue(found.reached());
    assertEquals(4, found.length());
    assertEquals(64, found.ports().size());
    for (PathsMeasurement.PortPath path : found.ports()) {
      assertEquals(
          List.of("leaf", "spine" + (path.port() & 3), "tail", PEER),
          path.routers(),
          path.toString());
    }
    assertEquals(List.of(2), found.branchings());
    assertEquals("spine1", found.pathsUpTo(4).get(50_001));
    assertTrue(fabric.now > 4 * 63 * 10_000_000L, "at most a hundred probes per second");
    assertFalse(said.isEmpty());
  }

  /* A router with Linux' default limit sends one reply per second. */
  @Test
  void rateLimitedRoutersAreProbedUntilAllPortsAreKnown() {
    fabric.answerEveryNs = 1_000_000_000;
    PathsMeasurement found = trace(32);
    for (PathsMeasurement.PortPath path : found.ports()) {
      assertEquals(
          List.of("leaf", "spine" + (path.port() & 3), "tail", PEER),
          path.routers(),
          path.toString());
    }
  }

  @Test
  void silentRouterIsReported() {
    fabric.silent.add("spine2");
    PathsMeasurement found = trace(64);
    for (PathsMeasurement.PortPath path : found.ports()) {
      assertEquals("tail", path.routers().get(2));
      assertEquals((path.port() & 3) == 2, path.routers().get(1) == null, path.toString());
    }
    NextRouters spines = found.groups().get(1);
    assertEquals(Set.of("spine0", "spine1", "spine3"), spines.routers().keySet());
    assertEquals(16, spines.silent());
    assertEquals(48, found.pathsUpTo(4).size(), "ports without a known path are left out");
    assertTrue(MeasurementText.of(found).contains("router silent"), MeasurementText.of(found));
  }

  @Test
  void silentHopDoesNotEndTheTrace() {
    fabric.silent.addAll(Set.of("spine0", "spine1", "spine2", "spine3"));
    PathsMeasurement found = trace(64);
    assertTrue(found.reached());
    assertEquals(List.of(), found.branchings());
    assertEquals(64, found.groups().get(1).silent());
    assertTrue(fabric.sent < 5 * 64, "not all ports probe a silent hop: " + fabric.sent);
  }

  @Test
  void peerWithOpenPortEndsThePathSilently() {
    fabric.portOpen = true;
    PathsMeasurement found = trace(64);
    assertFalse(found.reached());
    assertEquals(3, found.length());
    assertTrue(MeasurementText.of(found).contains("the peer has port 4791 open"));
  }

  @Test
  void moreFlowsAreNeededUntilTheConfidenceIsReached() {
    PathTrace trace = new PathTrace(fabric, PEER, 16, 100, said::add);
    trace.trace(List.of(50_000, 50_001));
    assertEquals(
        11 - 2,
        trace.missingFlows(),
        "two spines are found; 11 flows confirm that there are only two");
    trace.trace(List.of(50_002, 50_003, 50_004, 50_005));
    assertEquals(21 - 6, trace.missingFlows());
    trace.trace(IntStream.range(50_006, 50_021).boxed().toList());
    assertEquals(
        1, trace.missingFlows(), "6 flows behind each spine confirm that there is only one tail");
    trace.trace(IntStream.range(50_021, 50_024).boxed().toList());
    assertEquals(0, trace.missingFlows());
    for (NextRouters each : trace.result("fd00::1", List.of()).groups()) {
      assertTrue(each.confidence() >= 0.95, each.toString());
    }
  }
}
