package io.heddle.gateway.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressText;
import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.flowspec.table.RuleEntry;
import io.heddle.bgp.flowspec.table.RuleTable;
import io.heddle.bgp.wire.Prefix;
import io.heddle.gateway.dataplane.FlowRecord;
import io.heddle.gateway.dataplane.SteerKey;
import io.heddle.platform.NanoClock;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Translation of controllers' rules into keys of the data plane. */
final class RuleSteersTest {
  private static final String FROM = "fc00:1::1";
  private static final String TO = "fc00:2::2";
  private static final int CONTROLLER = 0x0a000009;

  private final Set<Integer> usable = new HashSet<>(Set.of(1, 2, 3));
  private int woken;
  private final RuleSteers steers = new RuleSteers(usable::contains, () -> woken++);
  private final RuleTable table =
      new RuleTable(usable::contains, steers, NanoClock.SYSTEM, (level, sentence) -> {});

  private static FlowRule rule(String source, int queuePair) {
    return FlowRule.queuePair(
        ComponentTypes.DEFAULT,
        source == null ? null : Prefix.of(source),
        Prefix.of(TO),
        queuePair);
  }

  @Test
  void ipv4RuleSteersItsQueuePairWithIpv4Keys() {
    FlowRule rule =
        FlowRule.queuePair(
            ComponentTypes.DEFAULT, Prefix.of("10.1.0.1"), Prefix.of("10.2.0.2"), 17);
    put(rule, 2);
    SteerKey key = new SteerKey(AddressText.parse("10.2.0.2"), 17, AddressText.parse("10.1.0.1"));
    assertEquals(Map.of(key, to(2)), steers.next(table, List.of()).changed());
    table.remove("main", rule);
    assertEquals(Set.of(key), steers.next(table, List.of()).gone());
  }

  @Test
  void ipv4FlowIsSteeredByARuleForItsNetwork() {
    put(FlowRule.of(List.of(PrefixMatch.of(FlowField.DESTINATION, Prefix.of("10.2.0.0/16")))), 3);
    FlowRecord flow =
        new FlowRecord(
            AddressText.parse("10.2.0.2"),
            17,
            0,
            AddressText.parse("10.1.0.1"),
            50_000,
            1,
            1,
            0,
            0,
            0,
            1,
            false);
    assertEquals(
        Map.of(new SteerKey(flow.destination(), 17, flow.source()), to(3)),
        steers.next(table, List.of(flow, flow(18))).changed(),
        "no IPv6 flow");
  }

  private void put(FlowRule rule, int list) {
    table.put(new RuleEntry(rule, "main", CONTROLLER, list));
  }

  private static SteerKey key(int queuePair, String source) {
    return new SteerKey(
        AddressText.parse(TO), queuePair, source == null ? null : AddressText.parse(source));
  }

  private static SteeredTo to(int list) {
    return new SteeredTo(list, CONTROLLER);
  }

  private static FlowRecord flow(int queuePair) {
    return flow(queuePair, FROM);
  }

  private static FlowRecord flow(int queuePair, String source) {
    return new FlowRecord(
        AddressText.parse(TO),
        queuePair,
        0,
        AddressText.parse(source),
        50_000,
        1,
        1,
        0,
        0,
        0,
        1,
        false);
  }

  private RuleSteers.Change next(FlowRecord... flows) {
    return steers.next(table, List.of(flows));
  }

  @Test
  void ruleOfAQueuePairSteersItBeforeItsFirstPacket() {
    put(rule(FROM, 17), 2);
    assertTrue(woken > 0);
    assertEquals(Map.of(key(17, FROM), to(2)), next().changed());
    assertTrue(next().isEmpty(), "no change is reported twice");
    put(rule(FROM, 17), 3);
    assertEquals(Map.of(key(17, FROM), to(3)), next().changed());
    table.remove("main", rule(FROM, 17));
    assertEquals(new RuleSteers.Change(Map.of(), Set.of(key(17, FROM))), next());
  }

  @Test
  void ruleForOneSourceCoexistsWithOneForAny() {
    put(rule(FROM, 17), 2);
    put(rule(null, 17), 3);
    assertEquals(Map.of(key(17, FROM), to(2), key(17, null), to(3)), next(flow(17)).changed());
  }

  @Test
  void generalRuleSteersPresentAndLaterFlows() {
    FlowRule general =
        FlowRule.of(List.of(PrefixMatch.of(FlowField.DESTINATION, Prefix.of("fc00:2::/64"))));
    put(general, 2);
    assertEquals(Map.of(key(17, FROM), to(2)), next(flow(17)).changed());
    Set<FlowKey> known = new HashSet<>();
    assertTrue(steers.concerns(table, List.of(flow(17), flow(18)), known));
    assertEquals(Map.of(key(18, FROM), to(2)), next(flow(17), flow(18)).changed());
    assertFalse(steers.concerns(table, List.of(flow(17), flow(18)), known), "both are known");
    table.remove("main", general);
    assertEquals(Set.of(key(17, FROM), key(18, FROM)), next(flow(17), flow(18)).gone());
  }

  private static FlowRule fromAnyToOurs() {
    return FlowRule.of(List.of(PrefixMatch.of(FlowField.DESTINATION, Prefix.of("fc00:2::/64"))));
  }

  @Test
  void steerOfAGoneFlowEndsAndQueuePairRuleStays() {
    put(fromAnyToOurs(), 2);
    put(rule(null, 18), 3);
    Set<FlowKey> known = new HashSet<>();
    assertTrue(steers.concerns(table, List.of(flow(17), flow(18)), known));
    assertEquals(Set.of(key(17, FROM), key(18, null)), next(flow(17), flow(18)).changed().keySet());
    assertTrue(steers.concerns(table, List.of(), known));
    assertEquals(new RuleSteers.Change(Map.of(), Set.of(key(17, FROM))), next());
  }

  @Test
  void queuePairNumberUsedByAnotherSenderIsEvaluatedAgain() {
    put(fromAnyToOurs(), 2);
    Set<FlowKey> known = new HashSet<>();
    assertTrue(steers.concerns(table, List.of(flow(17)), known));
    next(flow(17));
    FlowRecord other = flow(17, "fc00:1::3");
    assertTrue(steers.concerns(table, List.of(other), known));
    assertEquals(
        new RuleSteers.Change(Map.of(key(17, "fc00:1::3"), to(2)), Set.of(key(17, FROM))),
        next(other));
  }

  @Test
  void secondRuleAppliesWhileTheFirstOnesListIsDead() {
    put(rule(FROM, 17), 2);
    table.put(new RuleEntry(rule(FROM, 17), "other", CONTROLLER + 1, 3));
    assertEquals(Map.of(key(17, FROM), to(2)), next().changed());
    usable.remove(2);
    steers.any();
    assertEquals(Map.of(key(17, FROM), new SteeredTo(3, CONTROLLER + 1)), next().changed());
    usable.remove(3);
    steers.any();
    assertEquals(Map.of(key(17, FROM), to(2)), next().changed(), "shown, and waiting");
  }

  @Test
  void managementQueuePairsAreNeverSteered() {
    put(rule(null, 1), 2);
    assertTrue(next(flow(1)).isEmpty());
  }
}
