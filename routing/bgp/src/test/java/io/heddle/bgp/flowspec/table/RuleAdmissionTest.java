package io.heddle.bgp.flowspec.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.rule.NumericMatch;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.flowspec.steering.RuleRefusal;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import java.util.List;
import org.junit.jupiter.api.Test;

class RuleAdmissionTest {
  private static final int GATEWAY = 0x0a000001;
  private static final Prefix ALLOWED = Prefix.of("fd00:2::/32");
  private static final long SECOND_NS = 1_000_000_000;
  private static final SteeringAttributes STEERING =
      new SteeringAttributes(IndirectionEncoding.DEFAULT);
  private static final PathAttributes TO_LIST_2 = STEERING.write(2, GATEWAY, 65001, true);

  private long nowNs;
  private final RuleTable table =
      new RuleTable(
          list -> true,
          new RuleChangeListener() {
            @Override
            public void queuePair(QueuePairKey key) {
              assertTrue(key.queuePair() >= 0);
            }

            @Override
            public void any() {
              assertTrue(table() != null);
            }
          },
          () -> nowNs,
          (level, sentence) -> {});
  private final RuleAdmission admission = admission(RuleLimits.to(List.of(ALLOWED)));

  private RuleTable table() {
    return table;
  }

  private RuleAdmission admission(RuleLimits limits) {
    return new RuleAdmission("a", limits, STEERING, GATEWAY, table, () -> nowNs);
  }

  private static FlowRule rule(int number) {
    return Rules.queuePair("fd00:2::2", number);
  }

  private RuleRefusal announce(FlowRule rule) {
    return admission.announced(rule, TO_LIST_2, 1);
  }

  @Test
  void ruleForAnAllowedDestinationIsTaken() {
    assertNull(announce(rule(1)));
    assertEquals(1, table.size());
    assertEquals(1, admission.accepted());
    admission.withdrawn(rule(1));
    assertEquals(0, table.size());
  }

  @Test
  void destinationOutsideThePeersPrefixesIsRefusedAndCounted() {
    assertEquals(RuleRefusal.DESTINATION_NOT_ALLOWED, announce(Rules.queuePair("fd00:3::2", 1)));
    assertEquals(
        RuleRefusal.DESTINATION_NOT_ALLOWED,
        announce(
            FlowRule.of(List.of(PrefixMatch.of(FlowField.DESTINATION, Prefix.of("fd00::/16"))))),
        "a shorter prefix holds others' destinations");
    assertEquals(
        RuleRefusal.DESTINATION_NOT_ALLOWED,
        announce(
            FlowRule.of(
                List.of(NumericMatch.equal(ComponentTypes.DEFAULT, FlowField.QUEUE_PAIR, 1, 4)))),
        "any destination");
    assertEquals(3, admission.refused(RuleRefusal.DESTINATION_NOT_ALLOWED));
    assertEquals(0, table.size());
  }

  @Test
  void ruleOnSinglePacketsIsRefused() {
    FlowRule rule =
        FlowRule.of(
            List.of(
                PrefixMatch.of(FlowField.DESTINATION, Prefix.of("fd00:2::2")),
                NumericMatch.equal(ComponentTypes.DEFAULT, FlowField.DSCP, 46, 1)));
    assertEquals(RuleRefusal.NOT_OF_A_FLOW, announce(rule));
  }

  @Test
  void refusedAnnouncementStillReplacesTheOneBefore() {
    announce(rule(1));
    assertEquals(RuleRefusal.NAMES_NO_LIST, admission.announced(rule(1), PathAttributes.EMPTY, 1));
    assertEquals(0, table.size());
  }

  @Test
  void excessRuleIsRefusedButAKnownOneMayChange() {
    RuleAdmission few = admission(new RuleLimits(List.of(ALLOWED), 2, 1_000));
    assertNull(few.announced(rule(1), TO_LIST_2, 1));
    assertNull(few.announced(rule(2), TO_LIST_2, 1));
    nowNs = SECOND_NS;
    assertEquals(RuleRefusal.TOO_MANY_RULES, few.announced(rule(3), TO_LIST_2, 1));
    PathAttributes other = STEERING.write(3, GATEWAY, 65001, true);
    assertNull(few.announced(rule(2), other, 1));
    assertEquals(3, table.winner(Rules.flow("fd00:1::1", "fd00:2::2", 2)).list());
    few.withdrawn(rule(1));
    assertNull(few.announced(rule(3), TO_LIST_2, 1));
  }

  @Test
  void burstOfTenThousandRulesIsAccepted() {
    for (int i = 0; i < RuleLimits.MOST_RULES; i++) {
      assertNull(announce(rule(i)));
    }
    assertEquals(RuleLimits.MOST_RULES, table.size());
    assertEquals(0, admission.waiting());
    assertEquals(RuleRefusal.TOO_MANY_RULES, announce(rule(10_001)));
  }

  @Test
  void excessChangesWaitAndTheLatestOfARuleWins() {
    RuleAdmission slow = admission(new RuleLimits(List.of(ALLOWED), 10, 100));
    for (int i = 0; i < 10; i++) {
      slow.announced(rule(i), TO_LIST_2, 1);
    }
    slow.announced(rule(0), STEERING.write(3, GATEWAY, 65001, true), 1);
    slow.announced(rule(1), STEERING.write(4, GATEWAY, 65001, true), 1);
    slow.announced(rule(0), STEERING.write(5, GATEWAY, 65001, true), 1);
    assertEquals(2, slow.waiting());
    assertEquals(3, slow.delayed());
    assertEquals(2, list(0));
    assertEquals(SECOND_NS / 100, slow.acceptWaiting());
    nowNs += SECOND_NS / 100;
    assertEquals(SECOND_NS / 100, slow.acceptWaiting());
    assertEquals(5, list(0));
    assertEquals(2, list(1));
    nowNs += SECOND_NS / 100;
    assertEquals(-1, slow.acceptWaiting());
    assertEquals(4, list(1));
  }

  @Test
  void withdrawalNeverWaitsAndCancelsAWaitingRule() {
    RuleAdmission slow = admission(new RuleLimits(List.of(ALLOWED), 1, 1));
    slow.announced(rule(0), TO_LIST_2, 1);
    slow.announced(rule(0), STEERING.write(3, GATEWAY, 65001, true), 1);
    slow.withdrawn(rule(0));
    assertEquals(0, table.size());
    nowNs += 10 * SECOND_NS;
    assertEquals(-1, slow.acceptWaiting());
    assertEquals(0, table.size());
  }

  private int list(int number) {
    return table.winner(Rules.flow("fd00:1::1", "fd00:2::2", number)).list();
  }
}
