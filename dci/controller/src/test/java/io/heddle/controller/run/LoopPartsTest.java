package io.heddle.controller.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.controller.model.FlowId;
import io.heddle.controller.network.NetworkConfig;
import io.heddle.controller.run.ControllerStatus.AuditRow;
import io.heddle.controller.run.ControllerStatus.Fit;
import io.heddle.telemetry.gnmi.ReportPath;
import io.heddle.telemetry.gnmi.ReportReader.Decoded;
import io.heddle.telemetry.report.ElephantReport;
import io.heddle.telemetry.report.InterfaceReport;
import io.heddle.telemetry.report.ListReport;
import io.heddle.telemetry.report.RuleReport;
import io.heddle.telemetry.tls.TlsFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Tests of parts of the controller, without sockets: snapshots from telemetry, and the audit of
 * rules.
 */
final class LoopPartsTest {
  private static final long SECOND_NS = 1_000_000_000;
  private static final Path NO_FILE = Path.of("none");
  private static final NetworkConfig NETWORK =
      new NetworkConfig(
          0x0a000009,
          65_000,
          0,
          SECOND_NS,
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

  private final List<String> log = new ArrayList<>();
  private long nowNs = 5 * SECOND_NS;
  private final TelemetryStore store =
      new TelemetryStore(() -> nowNs, (level, sentence) -> log.add(sentence));
  private final SnapshotBuilder snapshots = new SnapshotBuilder(NETWORK, store);
  private final RuleBook book = new RuleBook(ComponentTypes.DEFAULT);

  private void deliver(Decoded what) {
    store.listener("gw1").received(what);
  }

  private static ListReport list(int id) {
    return new ListReport(
        id, "sl" + id, "wan", true, null, 1, List.of(), "w" + id, 0, 0, 0, null, 2_000.0);
  }

  private static ElephantReport elephant(String destination, int queuePair, int list) {
    return new ElephantReport(
        destination,
        queuePair,
        "fc00:1::1",
        1,
        "wan",
        0,
        null,
        0,
        0,
        30_000_000,
        list,
        1,
        null,
        0,
        null,
        "",
        "");
  }

  private static RuleReport rule(int queuePair, int list, String setBy, boolean active) {
    return new RuleReport(
        "fc00:2::2",
        queuePair,
        "fc00:1::1",
        list,
        active,
        active ? null : "the list is dead",
        setBy,
        true);
  }

  private void count(long octets, long seconds) {
    deliver(
        new Decoded.Counters(
            List.of(new InterfaceReport("w1", octets), new InterfaceReport("w2", octets / 2)),
            seconds * SECOND_NS));
  }

  @Test
  void snapshotNeedsListsElephantsRulesAndTwoCounts() {
    assertEquals(List.of("gw1: nothing has come yet"), snapshots.make(nowNs).gaps());
    deliver(new Decoded.Lists(List.of(list(1), list(2))));
    deliver(
        new Decoded.Elephants(List.of(elephant("fc00:2::2", 17, 1), elephant("10.2.0.2", 18, 1))));
    deliver(new Decoded.Rules(List.of()));
    count(1_000, 1);
    assertTrue(
        snapshots.make(nowNs).gaps().getFirst().contains("gw1 hasn't counted twice"),
        snapshots.make(nowNs).gaps().toString());
    nowNs += SECOND_NS;
    count(1_000 + 2_500_000, 3);
    SnapshotBuilder.Result made = snapshots.make(nowNs);
    assertEquals(List.of(), made.gaps());
    assertEquals("gw1/wan", made.snapshot().policies().getFirst().name());
    assertEquals(1e7, made.snapshot().links().getFirst().rate(), 1);
    assertEquals(2, made.snapshot().lists().getFirst().latencyMs());
    assertEquals(
        List.of(new FlowId("gw1", "fc00:1::1", "fc00:2::2", 17)),
        made.snapshot().flows().stream().map(each -> each.id()).toList(),
        "no rule leads from one family to another");
  }

  @Test
  void flowsOfEitherFamilyCanHaveRules() {
    RuleBook book = new RuleBook(ComponentTypes.DEFAULT);
    assertTrue(RuleBook.hasRules("10.1.0.1", "10.2.0.2"));
    assertTrue(RuleBook.hasRules("fc00:1::1", "fc00:2::2"));
    assertFalse(RuleBook.hasRules("fc00:1::1", "10.2.0.2"));
    FlowId flow = RuleBook.flow("gw1", "::ffff:10.1.0.1", "10.2.0.2", 17);
    assertEquals(new FlowId("gw1", "10.1.0.1", "10.2.0.2", 17), flow, "one text for each");
    assertTrue(book.addRule(flow, 1, "wan", 2, "it is moved").rule().isIpv4());
  }

  @Test
  void repeatedCountAndCounterResetGiveNoRate() {
    count(1_000, 1);
    count(1_000, 1);
    assertNull(store.rate("gw1", "w1"));
    count(500, 2);
    assertNull(store.rate("gw1", "w1"));
    count(1_500, 3);
    assertEquals(8_000, store.rate("gw1", "w1").bitsPerSecond(), 1e-6);
  }

  @Test
  void listWithoutPathIsAGap() {
    deliver(new Decoded.Lists(List.of(list(1), list(3))));
    deliver(new Decoded.Elephants(List.of()));
    deliver(new Decoded.Rules(List.of()));
    assertTrue(
        snapshots.make(nowNs).gaps().getFirst().contains("no [path] names the links of list 3"),
        snapshots.make(nowNs).gaps().toString());
  }

  @Test
  void troubleAndItsEndAreLoggedOnce() {
    store.listener("gw1").lost("gw1 is gone");
    store.listener("gw1").lost("gw1 is gone");
    deliver(new Decoded.Elephants(List.of()));
    assertEquals(List.of("gw1 is gone", "gw1 reports"), log);
    deliver(new Decoded.Malformed(ReportPath.ELEPHANTS, "nonsense"));
    assertTrue(log.getLast().contains("isn't understood: nonsense"), log.getLast());
  }

  @Test
  void malformedPathAmongGoodOnesIsLoggedOnce() {
    deliver(new Decoded.Lists(List.of(list(1))));
    for (int i = 0; i < 5; i++) {
      deliver(new Decoded.Malformed(ReportPath.ELEPHANTS, "nonsense"));
      deliver(new Decoded.Lists(List.of(list(1))));
      assertEquals("gw1 reports what isn't understood: nonsense", store.reported("gw1").trouble());
    }
    assertEquals(List.of("gw1 reports what isn't understood: nonsense"), log);
    deliver(new Decoded.Elephants(List.of()));
    assertEquals("gw1 reports", log.getLast());
    assertNull(store.reported("gw1").trouble());
  }

  @Test
  void inconsistentReportsAreAGapNotAFault() {
    count(1_000, 1);
    count(2_000, 2);
    deliver(new Decoded.Lists(List.of(list(1), list(2))));
    ElephantReport twice = elephant("fc00:2::2", 17, 1);
    deliver(new Decoded.Elephants(List.of(twice, twice)));
    deliver(new Decoded.Rules(List.of()));
    SnapshotBuilder.Result made = snapshots.make(nowNs);
    assertEquals(List.of(), made.snapshot().policies());
    assertEquals(Set.of("gw1"), made.unknown());
    assertEquals(
        List.of("gw1: its reports are inconsistent: queue pair 17 of fc00:2::2 is listed twice"),
        made.gaps());
    deliver(new Decoded.Elephants(List.of(elephant("::ffff:10.2.0.2", 17, 1), twice)));
    assertEquals(
        1,
        snapshots.make(nowNs).snapshot().flows().size(),
        "no rule leads from one family to another");
    deliver(new Decoded.Elephants(List.of(elephant("FC00:2:0::2", 17, 1))));
    assertEquals(
        flow(17), snapshots.make(nowNs).snapshot().flows().getFirst().id(), "one text for each");
  }

  private Map<Integer, Fit> audit(long toleranceNs) {
    Map<Integer, Fit> fits = new TreeMap<>();
    for (AuditRow each : new RuleAudit(NETWORK, store, book, toleranceNs).rows()) {
      fits.put(each.queuePair(), each.fit());
    }
    return fits;
  }

  private static FlowId flow(int queuePair) {
    return new FlowId("gw1", "fc00:1::1", "fc00:2::2", queuePair);
  }

  @Test
  void auditNamesOrphansAndMissingRules() {
    nowNs = System.nanoTime();
    String ours = "controller 10.0.0.9";
    book.addRule(flow(17), 1, "gw1/wan", 2, "it is moved");
    book.addRule(flow(18), 1, "gw1/wan", 2, "it is moved");
    book.addRule(flow(19), 1, "gw1/wan", 2, "it is moved");
    book.addRule(flow(20), 1, "gw1/wan", 2, "it is moved");
    deliver(
        new Decoded.Rules(
            List.of(
                rule(17, 2, ours, true),
                rule(18, 1, ours, true),
                rule(19, 2, ours, false),
                rule(21, 2, ours, true),
                rule(22, 2, "operator", true),
                rule(23, 2, "controller 10.0.0.8", true))));
    long longest = Long.MAX_VALUE / 2;
    assertEquals(Fit.PENDING, audit(longest).get(18));
    assertEquals(Fit.PENDING, audit(longest).get(20));
    assertEquals(Fit.UNKNOWN, audit(0).get(17), "the last report is too old");
    RuleAudit grown = new RuleAudit(NETWORK, store, book, longest);
    assertEquals(
        Map.of(
            17,
            Fit.IN_FORCE,
            18,
            Fit.PENDING,
            19,
            Fit.PENDING,
            20,
            Fit.PENDING,
            21,
            Fit.ORPHAN,
            22,
            Fit.FOREIGN,
            23,
            Fit.FOREIGN),
        audit(longest));
    assertTrue(
        grown.rows().stream()
            .filter(each -> each.queuePair() == 21)
            .allMatch(each -> each.sentence().contains("no reason")));
    book.removeRule(flow(17));
    assertEquals(Fit.PENDING, audit(longest).get(17), "withdrawn a moment ago");
  }

  @Test
  void sameRuleAtTwoGatewaysIsDetected() {
    book.addRule(flow(17), 1, "gw1/wan", 2, "it is moved");
    assertEquals(flow(17), book.ruleWithSameKey(new FlowId("gw2", "fc00:1::1", "fc00:2::2", 17)));
    assertNull(book.ruleWithSameKey(flow(17)));
  }
}
