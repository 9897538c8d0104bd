package io.heddle.controller.solver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.controller.model.Decision;
import io.heddle.controller.model.ElephantFlow;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.model.NetworkSnapshot;
import io.heddle.controller.model.PathList;
import io.heddle.controller.model.SteeredPolicy;
import io.heddle.controller.model.WanLink;
import io.heddle.controller.solver.PolicyVerdict.State;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SolverTest {
  private static final long SECOND_NS = Networks.SECOND_NS;

  private final Solver solver = new Solver(SolverSettings.DEFAULT, Strategy.MIN_MAX);

  /**
   * Returns the example in section 4.5 of draft-lll-srv6ops-dci-srv6-lb: QP1 and QP3 on list 1, QP2
   * on list 2, QP4 on list 3.
   */
  private static Networks draft() {
    return new Networks(3).flow(1, 35, 1).flow(3, 30, 1).flow(2, 30, 2).flow(4, 30, 3);
  }

  private static State state(Round round) {
    return round.verdicts().getFirst().state();
  }

  private static String sentence(Round round) {
    return round.verdicts().getFirst().sentence();
  }

  @Test
  void draftsExampleMovesTheThirdQueuePairToTheSecondList() {
    Networks net = draft();
    Round first = net.round(solver);
    assertEquals(State.WAITING, state(first));
    assertEquals("list 1 carries 65 % and list 2 30 %, seen in 1 of 2 samples", sentence(first));
    Round second = net.round(solver);
    assertEquals(State.MOVED, state(second));
    Decision.Move move = assertInstanceOf(Decision.Move.class, second.decisions().getFirst());
    assertEquals(1, second.decisions().size());
    assertEquals(Networks.id(3), move.flow());
    assertEquals(2, move.to());
    assertEquals(
        "queue pair 3 of fd00:2::2 (30.0 Gbit/s) goes from list 1 to list 2, so the busiest list"
            + " falls from 65 % to 60 %",
        move.sentence());
    assertEquals(0.35, net.utilisation(1), 1e-9);
    assertEquals(0.60, net.utilisation(2), 1e-9);
    assertEquals(0.30, net.utilisation(3), 1e-9);
    assertEquals(
        List.of(State.WAITING, State.WAITING),
        List.of(state(net.round(solver)), state(net.round(solver))));
    for (int i = 0; i < 20; i++) {
      assertTrue(net.round(solver).decisions().isEmpty(), "nothing better is left");
    }
  }

  @Test
  void largestFirstTriesTheLargestFlowAndRefusesIt() {
    Networks net = draft();
    Solver largest = new Solver(SolverSettings.DEFAULT, Strategy.LARGEST_FIRST);
    net.round(largest);
    Round round = net.round(largest);
    assertEquals("queue pair 1 of fd00:2::2", round.refused().getFirst().flow());
    assertEquals(0.65, round.refused().getFirst().after(), 1e-9);
    assertEquals(Networks.id(3), round.decisions().getFirst().flow());
  }

  @Test
  void smallestMoveTakesTheSmallestThatHelpsEnough() {
    Networks net = new Networks(2).flow(1, 50, 1).flow(2, 20, 1).flow(3, 3, 1).flow(4, 10, 1);
    Solver smallest = new Solver(SolverSettings.DEFAULT, Strategy.SMALLEST_MOVE);
    net.round(smallest);
    Round round = net.round(smallest);
    assertEquals(Networks.id(4), round.decisions().getFirst().flow());
    assertEquals("queue pair 3 of fd00:2::2", round.refused().getFirst().flow());
  }

  @Test
  void ruleEndsWithItsFlowAndTheOtherFlowReturnsToItsHash() {
    Networks net = draft();
    net.round(solver);
    net.round(solver);
    assertTrue(solver.hasRule(Networks.id(3)));
    for (int i = 0; i < 12; i++) {
      net.round(solver);
    }
    net.flows.remove(Networks.id(1));
    long ended = net.nowNs;
    Decision.Withdrawal home = null;
    while (home == null) {
      Round round = net.round(solver);
      if (!round.decisions().isEmpty()) {
        home = assertInstanceOf(Decision.Withdrawal.class, round.decisions().getFirst());
      }
    }
    assertEquals(Decision.Reason.BALANCED, home.reason());
    assertEquals(Networks.id(3), home.flow());
    assertTrue(net.nowNs - ended <= 15 * SECOND_NS, "within 15 s");
    assertEquals(0.30, net.utilisation(1), 1e-9);
    net.flow(5, 40, 2).flow(6, 40, 2);
    net.round(solver);
    net.round(solver);
    net.round(solver);
    net.round(solver);
    assertTrue(solver.hasRule(Networks.id(5)) || solver.hasRule(Networks.id(6)));
    net.flows.clear();
    Round gone = net.round(solver);
    assertEquals(
        Decision.Reason.FLOW_ENDED,
        assertInstanceOf(Decision.Withdrawal.class, gone.decisions().getFirst()).reason());
  }

  @Test
  void smallImbalanceAndLowLoadAreLeftAlone() {
    Networks low = new Networks(2).flow(1, 30, 1).flow(2, 29, 1);
    Networks even = new Networks(2).flow(1, 50, 1).flow(2, 45, 1).flow(3, 80, 2);
    for (int i = 0; i < 10; i++) {
      assertEquals(State.BALANCED, state(low.round(solver)));
      assertEquals(
          State.BALANCED, state(even.round(new Solver(SolverSettings.DEFAULT, Strategy.MIN_MAX))));
    }
  }

  @Test
  void staleSamplePreventsDecisionsAndIsReported() {
    Networks net = draft();
    net.round(solver);
    net.nowNs += 10 * SECOND_NS;
    Round old = solver.next(net.snapshot(net.nowNs, net.nowNs - 4 * SECOND_NS));
    assertEquals(State.STALE, state(old));
    assertEquals(
        "no decision: the last sample of link l1 is 4.0 s old, more than 3.0 s", sentence(old));
    Round silent = solver.next(net.snapshot(net.nowNs - 5 * SECOND_NS, net.nowNs));
    assertEquals(
        "no decision: the last sample of gateway g is 5.0 s old, more than 3.0 s",
        sentence(silent));
  }

  @Test
  void sameSampleTwiceIsSeenOnce() {
    Networks net = draft();
    net.nowNs = SECOND_NS;
    for (int i = 0; i < 5; i++) {
      net.nowNs += SECOND_NS / 10;
      assertEquals(State.WAITING, state(solver.next(net.snapshot(SECOND_NS, SECOND_NS))));
    }
  }

  @Test
  void deadListTakesNoFlowAndLosesItsRules() {
    Networks net = draft();
    net.down.add(2);
    net.round(solver);
    assertEquals(3, ((Decision.Move) net.round(solver).decisions().getFirst()).to());
    net.down.add(3);
    Decision.Withdrawal gone =
        assertInstanceOf(Decision.Withdrawal.class, net.round(solver).decisions().getFirst());
    assertEquals(Decision.Reason.LIST_DEAD, gone.reason());
    assertEquals(
        "the rule of queue pair 3 of fd00:2::2 is withdrawn: nothing gets through on list 3",
        gone.sentence());
  }

  @Test
  void slowOrLossyListsAreNoTargets() {
    SolverSettings strict = limits(10, 0.01);
    List<PathList> lists =
        List.of(
            new PathList("p", 1, List.of("a"), true, 1, 0),
            new PathList("p", 2, List.of("b"), true, 50, 0),
            new PathList("p", 3, List.of("c"), true, 1, 0.5));
    NetworkSnapshot snapshot =
        new NetworkSnapshot(
            1,
            List.of(new SteeredPolicy("p", "g", 1)),
            lists,
            List.of(
                new WanLink("a", 100, 80, 1),
                new WanLink("b", 100, 0, 1),
                new WanLink("c", 100, 0, 1)),
            List.of(
                new ElephantFlow(Networks.id(1), "p", 40, 1, 1),
                new ElephantFlow(Networks.id(2), "p", 40, 1, 1)));
    Round round = new Solver(strict.atOnce(), Strategy.MIN_MAX).next(snapshot);
    assertEquals(State.STUCK, state(round));
    assertEquals("list 1 carries 80 %, and no elephant on it can be moved now", sentence(round));
    assertFalse(
        new Solver(limits(100, 0.01).atOnce(), Strategy.MIN_MAX)
            .next(snapshot)
            .decisions()
            .isEmpty());
  }

  private static SolverSettings limits(double latencyMs, double loss) {
    SolverSettings all = SolverSettings.DEFAULT;
    return new SolverSettings(
        all.high(),
        all.gap(),
        all.low(),
        all.leastGain(),
        all.slack(),
        all.samples(),
        all.settleSamples(),
        all.mostMoves(),
        all.holdDownNs(),
        all.releaseNs(),
        all.intervalNs(),
        all.staleIntervals(),
        latencyMs,
        loss);
  }

  @Test
  void listIsAsBusyAsItsBusiestLinkAndSharedLinksGiveNoRelief() {
    List<PathList> lists =
        List.of(
            new PathList("p", 1, List.of("a", "shared"), true, 1, 0),
            new PathList("p", 2, List.of("b", "shared"), true, 1, 0));
    NetworkSnapshot snapshot =
        new NetworkSnapshot(
            1,
            List.of(new SteeredPolicy("p", "g", 1)),
            lists,
            List.of(
                new WanLink("a", 1000, 80, 1),
                new WanLink("b", 1000, 0, 1),
                new WanLink("shared", 100, 80, 1)),
            List.of(
                new ElephantFlow(Networks.id(1), "p", 40, 1, 1),
                new ElephantFlow(Networks.id(2), "p", 40, 1, 1)));
    for (ListForecast each : ListForecast.of(snapshot, List.of())) {
      assertEquals(0.8, each.now(), 1e-9);
    }
    Round round = new Solver(SolverSettings.DEFAULT.atOnce(), Strategy.MIN_MAX).next(snapshot);
    assertEquals(List.of(), round.decisions());
  }

  @Test
  void policiesSharingALinkDoNotBothFillIt() {
    /* Each policy has one busy list. The second lists of both policies share one idle link. */
    List<PathList> lists =
        List.of(
            new PathList("p", 1, List.of("a"), true, 1, 0),
            new PathList("p", 2, List.of("spare"), true, 1, 0),
            new PathList("q", 1, List.of("b"), true, 1, 0),
            new PathList("q", 2, List.of("spare"), true, 1, 0));
    NetworkSnapshot snapshot =
        new NetworkSnapshot(
            1,
            List.of(new SteeredPolicy("p", "g", 1), new SteeredPolicy("q", "h", 1)),
            lists,
            List.of(
                new WanLink("a", 100, 90, 1),
                new WanLink("b", 100, 80, 1),
                new WanLink("spare", 100, 0, 1)),
            List.of(
                new ElephantFlow(Networks.id(1), "p", 50, 1, 1),
                new ElephantFlow(Networks.id(2), "p", 40, 1, 1),
                new ElephantFlow(Networks.id(3), "q", 40, 1, 1),
                new ElephantFlow(Networks.id(4), "q", 40, 1, 1)));
    Round round = new Solver(SolverSettings.DEFAULT.atOnce(), Strategy.MIN_MAX).next(snapshot);
    assertEquals(1, round.decisions().size(), round.decisions().toString());
    assertEquals("p", round.decisions().getFirst().policy());
    assertEquals(State.STUCK, round.verdicts().getLast().state());
  }

  @Test
  void flowAtTwoGatewaysIsMovedAtOnlyOneOfThem() {
    /* Rules for both gateways would be one BGP route: their match fields are equal. */
    List<PathList> lists = new ArrayList<>();
    List<WanLink> links = new ArrayList<>();
    List<ElephantFlow> flows = new ArrayList<>();
    for (String gateway : List.of("g", "h")) {
      for (int list = 1; list <= 2; list++) {
        lists.add(new PathList(gateway, list, List.of(gateway + list), true, 1, 0));
        links.add(new WanLink(gateway + list, 100, list == 1 ? 80 : 0, 1));
      }
      FlowId same = new FlowId(gateway, "fd00:1::1", "fd00:2::2", 1);
      flows.add(new ElephantFlow(same, gateway, 40, 1, 1));
    }
    NetworkSnapshot snapshot =
        new NetworkSnapshot(
            1,
            List.of(new SteeredPolicy("g", "g", 1), new SteeredPolicy("h", "h", 1)),
            lists,
            links,
            flows);
    Solver both = new Solver(SolverSettings.DEFAULT.atOnce(), Strategy.MIN_MAX);
    Round round = both.next(snapshot);
    assertEquals(1, round.decisions().size(), round.decisions().toString());
    assertTrue(both.hasRule(flows.get(0).id()) ^ both.hasRule(flows.get(1).id()));
    String why = round.verdicts().getLast().sentence();
    assertTrue(
        why.endsWith("; queue pair 1 of fd00:2::2 stays, since another gateway has the same rule"),
        why);
  }

  @Test
  void equallyBusyListsAreRelievedTogether() {
    Networks net = new Networks(4).flow(1, 45, 1).flow(2, 45, 1).flow(3, 45, 2).flow(4, 45, 2);
    net.round(solver);
    Round round = net.round(solver);
    assertEquals(2, round.decisions().size());
    assertEquals("2 moves lower the busiest list from 90 % to 45 %", sentence(round));
    assertTrue(
        round
            .decisions()
            .getFirst()
            .sentence()
            .endsWith("so that the next move lowers the busiest list"));
  }

  @Test
  void movedFlowRestsForItsHoldDown() {
    Networks net = new Networks(2).flow(1, 40, 1).flow(2, 40, 1);
    net.round(solver);
    Decision.Move move = (Decision.Move) net.round(solver).decisions().getFirst();
    long movedNs = net.nowNs;
    /*
     * Background traffic now fills the new list of the moved flow, which is the only elephant on
     * it.
     */
    net.background.put(move.to(), 50.0);
    net.flows.remove(Networks.id(move.flow().queuePair() == 1 ? 2 : 1));
    Decision next = null;
    while (next == null) {
      Round round = net.round(solver);
      next = round.decisions().isEmpty() ? null : round.decisions().getFirst();
    }
    assertEquals(move.flow(), next.flow());
    assertTrue(net.nowNs - movedNs >= SolverSettings.DEFAULT.holdDownNs());
  }

  @Test
  void settingsThatWouldOscillateAreRefused() {
    SolverSettings all = SolverSettings.DEFAULT;
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                new SolverSettings(
                    0.5, 0.2, 0.5, 0.05, 0.02, 2, 2, 4, 1, 1, 1, 3, all.latencyLimitMs(), 1));
    assertEquals("low = 0.5 isn't below high = 0.5: rules would come and go", refused.getMessage());
  }
}
