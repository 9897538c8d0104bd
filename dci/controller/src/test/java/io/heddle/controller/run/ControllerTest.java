package io.heddle.controller.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.controller.audit.AuditLog;
import io.heddle.controller.audit.DiskChannel;
import io.heddle.controller.file.ControllerConfig;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.solver.SolverSettings;
import io.heddle.controller.solver.Strategy;
import io.heddle.platform.testing.Deadline;
import io.heddle.telemetry.gnmi.ReportReader.Decoded;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import io.heddle.telemetry.tls.TlsFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Tests of the rounds of a controller without BGP peers. The tests deliver the telemetry reports.
 */
final class ControllerTest {
  private static final long SECOND_NS = 1_000_000_000;
  private static final long MS = 1_000_000;
  private static final Path NO_FILE = Path.of("none");
  private static final String OURS = "controller 10.0.0.9";

  private final List<String> log = new CopyOnWriteArrayList<>();
  private long seconds;
  private volatile long nowNs = 5 * SECOND_NS;
  private @Nullable Controller controller;

  private void begin(@Nullable AuditLog audit) {
    NetworkConfig network =
        new NetworkConfig(
            0x0a000009,
            65_000,
            0,
            1_000 * SECOND_NS,
            ComponentTypes.DEFAULT,
            IndirectionEncoding.DEFAULT,
            NO_FILE,
            null,
            new TlsFiles(NO_FILE, NO_FILE, NO_FILE),
            List.of(new NetworkConfig.Target("gw1", "::1", 1, null, 1)),
            List.of(),
            List.of(
                new NetworkConfig.Link("a", "gw1", "w1", 1e8),
                new NetworkConfig.Link("b", "gw1", "w2", 1e8)),
            List.of(
                new NetworkConfig.ListPath("gw1", 1, List.of("a")),
                new NetworkConfig.ListPath("gw1", 2, List.of("b"))));
    controller =
        new Controller(
            new ControllerConfig(SolverSettings.DEFAULT.atOnce(), Strategy.MIN_MAX, network),
            network,
            audit,
            () -> nowNs,
            (level, sentence) -> log.add(sentence));
  }

  @AfterEach
  void end() {
    if (controller != null) {
      controller.close();
    }
  }

  private void deliver(Decoded what) {
    controller.store().listener("gw1").received(what);
  }

  /* Delivers byte counts that correspond to these rates of the two links, in Mbit/s. */
  private void count(long first, long second) {
    seconds++;
    firstOctets += first * 125_000;
    secondOctets += second * 125_000;
    deliver(
        new Decoded.Counters(
            List.of(
                new InterfaceReport("w1", firstOctets), new InterfaceReport("w2", secondOctets)),
            seconds * SECOND_NS));
  }

  private long firstOctets;
  private long secondOctets;

  private void lists() {
    deliver(new Decoded.Lists(List.of(list(1), list(2))));
  }

  /*
   * Runs a round in virtual time: with the real clock, reports could become too old on a busy
   * machine.
   */
  private void round() {
    nowNs += MS;
    controller.runRound(nowNs);
  }

  private List<String> rules() {
    return controller.overview().rules().stream()
        .map(each -> each.queuePair() + " to " + each.list())
        .toList();
  }

  private static ListReport list(int id) {
    return new ListReport(
        id, "sl" + id, "wan", true, null, 1, List.of(), "w" + id, 0, 0, 0, null, 2_000.0);
  }

  private static ElephantReport elephant(int queuePair, long bitsPerSecond, int list) {
    return new ElephantReport(
        "fc00:2::2",
        queuePair,
        "fc00:1::1",
        1,
        "wan",
        0,
        null,
        0,
        0,
        bitsPerSecond,
        list,
        1,
        null,
        0,
        null,
        "",
        "");
  }

  private static RuleReport rule(int queuePair, int list) {
    return new RuleReport("fc00:2::2", queuePair, "fc00:1::1", list, true, null, OURS, true);
  }

  @Test
  void restartedControllerKeepsAdoptedRules() {
    begin(null);
    round();
    assertEquals(List.of(), rules(), "nothing has been reported");
    lists();
    deliver(
        new Decoded.Elephants(List.of(elephant(17, 40_000_000, 2), elephant(18, 40_000_000, 1))));
    deliver(new Decoded.Rules(List.of(rule(17, 2))));
    count(40, 40);
    round();
    assertEquals(List.of("17 to 2"), rules(), "links have been counted only once");
    for (int i = 0; i < 20; i++) {
      count(40, 40);
      round();
      assertEquals(List.of("17 to 2"), rules());
    }
    assertEquals(
        List.of("adopt"),
        controller.overview().decisions().stream()
            .map(ControllerStatus.DecisionRow::action)
            .toList());
  }

  @Test
  void decisionIsCarriedOutOnceItsAuditLineIsWritten() {
    DiskChannel disk = new DiskChannel();
    begin(new AuditLog(disk));
    lists();
    deliver(
        new Decoded.Elephants(List.of(elephant(17, 40_000_000, 1), elephant(18, 40_000_000, 1))));
    deliver(new Decoded.Rules(List.of()));
    count(80, 0);
    count(80, 0);
    disk.fillUp();
    round();
    round();
    assertEquals(List.of(), rules(), "a decision must be written before it is carried out");
    assertEquals(List.of(), disk.lines());
    String sentence = "the audit can't be written, so nothing is decided: No space left on device";
    assertEquals(List.of(sentence), log, "logged once");
    assertEquals(List.of("anything: " + sentence), controller.overview().gaps());
    disk.makeRoom();
    round();
    assertEquals(1, rules().size(), rules().toString());
    assertTrue(disk.lines().getFirst().contains("\"action\":\"move\""), disk.lines().getFirst());
    assertEquals(List.of(), controller.overview().gaps());
    int moved = controller.overview().rules().getFirst().queuePair();
    deliver(new Decoded.Elephants(List.of(elephant(35 - moved, 40_000_000, 1))));
    disk.fillUp();
    round();
    assertEquals(1, rules().size(), "its withdrawal isn't written");
    disk.makeRoom();
    round();
    assertEquals(List.of(), rules());
    assertTrue(disk.lines().stream().anyMatch(each -> each.contains("\"action\":\"withdraw\"")));
  }

  @Test
  void faultOfTheBgpThreadRunsTheFailureAction() throws Exception {
    begin(null);
    CountDownLatch lost = new CountDownLatch(1);
    controller.startDecisions(lost::countDown);
    RuleBook book = new RuleBook(ComponentTypes.DEFAULT);
    /*
     * Both rules would be one BGP route, but name different gateways. So the second announcement
     * fails.
     */
    for (int gateway = 1; gateway <= 2; gateway++) {
      FlowId flow = new FlowId("gw" + gateway, "fc00:1::1", "fc00:2::2", 17);
      controller.speaker().announce(book.addRule(flow, gateway, "wan", 1, "it is moved"));
    }
    Deadline deadline = Deadline.ofSeconds(30);
    while (!lost.await(2, TimeUnit.MILLISECONDS)) {
      assertFalse(deadline.isOver(), log.toString());
    }
  }
}
