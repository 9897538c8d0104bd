package io.heddle.bgp.flowspec.table;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.wire.Prefix;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RuleTableTest {
  private static final FlowKey FLOW = Rules.flow("fd00:1::1", "fd00:2::2", 0x11);
  private static final FlowRule QUEUE_PAIR = Rules.queuePair("fd00:2::2", 0x11);
  private static final FlowRule OF_A_SOURCE =
      FlowRule.queuePair(
          ComponentTypes.DEFAULT, Prefix.of("fd00:1::1"), Prefix.of("fd00:2::2"), 0x11);
  private static final FlowRule SUBNET =
      FlowRule.of(List.of(PrefixMatch.of(FlowField.DESTINATION, Prefix.of("fd00:2::/64"))));

  private final Set<Integer> dead = new HashSet<>();
  private final List<String> changes = new ArrayList<>();
  private final List<String> log = new ArrayList<>();
  private long nowNs;
  private final RuleTable table =
      new RuleTable(
          list -> !dead.contains(list),
          new RuleChangeListener() {
            @Override
            public void queuePair(QueuePairKey key) {
              changes.add(key.destination() + " " + key.queuePair());
            }

            @Override
            public void any() {
              changes.add("any");
            }
          },
          () -> nowNs,
          (level, sentence) -> log.add(sentence));

  private void put(FlowRule rule, String peer, int routerId, int list) {
    table.put(new RuleEntry(rule, peer, routerId, list));
  }

  private int winningList() {
    RuleEntry winner = table.winner(FLOW);
    return winner == null ? 0 : winner.list();
  }

  @Test
  void flowBelongsToItsQueuePairsRuleUntilThatIsWithdrawn() {
    assertNull(table.winner(FLOW));
    put(SUBNET, "a", 1, 3);
    put(QUEUE_PAIR, "a", 1, 2);
    assertEquals(2, winningList());
    assertTrue(table.remove("a", QUEUE_PAIR));
    assertEquals(3, winningList());
    assertFalse(table.remove("b", SUBNET), "another peer's");
    table.remove("a", SUBNET);
    assertEquals(0, winningList());
    assertEquals(List.of("any", "fd00:2::2/128 17", "fd00:2::2/128 17", "any"), changes);
  }

  @Test
  void newListReplacesTheOldOneAndARepeatChangesNothing() {
    put(QUEUE_PAIR, "a", 1, 2);
    put(QUEUE_PAIR, "a", 1, 3);
    put(QUEUE_PAIR, "a", 1, 3);
    assertEquals(3, winningList());
    assertEquals(1, table.size());
    assertEquals(1, table.size("a"));
    assertEquals(2, changes.size());
  }

  @Test
  void conflictOfTwoRulesForOneQueuePairIsLogged() {
    put(QUEUE_PAIR, "a", 1, 2);
    put(OF_A_SOURCE, "b", 9, 3);
    assertEquals(3, winningList(), "a rule with a source comes first");
    assertEquals(1, log.size());
    assertTrue(log.getFirst().startsWith("two rules for one queue pair: to fd00:2::2, from"));
  }

  @Test
  void lowerRouterIdWinsBetweenTwoPeersWithOneRule() {
    put(QUEUE_PAIR, "a", 0xc0a80001, 2);
    put(QUEUE_PAIR, "b", 0x0a000001, 3);
    assertEquals(3, winningList(), "10.0.0.1 is lower than 192.168.0.1");
    assertEquals(1, log.size());
    table.dropAll("b");
    assertEquals(2, winningList());
  }

  @Test
  void ruleIsInactiveWhileItsListIsDead() {
    put(SUBNET, "a", 1, 3);
    put(QUEUE_PAIR, "a", 1, 2);
    dead.add(2);
    assertEquals(3, winningList());
    assertEquals(1, table.inactive().size());
    dead.add(3);
    assertEquals(0, winningList());
    dead.clear();
    assertEquals(2, winningList());
  }

  @Test
  void staleRulesAreDroppedUnlessAnnouncedAgain() {
    put(QUEUE_PAIR, "a", 1, 2);
    put(SUBNET, "a", 1, 3);
    put(SUBNET, "b", 2, 3);
    table.markStale("a");
    assertEquals(2, winningList(), "stale is still in force");
    put(SUBNET, "a", 1, 3);
    assertEquals(1, table.dropStale("a"));
    assertEquals(3, winningList());
    assertEquals(1, table.size("a"));
    assertEquals(1, table.size("b"));
  }

  @Test
  void ruleExpiresUnlessAnnouncedAgain() {
    put(QUEUE_PAIR, "a", 1, 2);
    put(SUBNET, "a", 1, 3);
    nowNs = 20;
    put(SUBNET, "a", 1, 3);
    nowNs = 31;
    assertEquals(1, table.dropOlderThan(30));
    assertEquals(3, winningList());
  }

  @Test
  void winnerIsTheFirstOfAllMatchingRules() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int round = 0; round < 40; round++) {
      List<RuleEntry> all = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        FlowRule rule =
            random.nextBoolean()
                ? Rules.anyRule(random)
                : Rules.queuePair("fd00:0:0:" + random.nextInt(4) + "::" + random.nextInt(4), 1);
        RuleEntry entry =
            new RuleEntry(rule, "peer" + random.nextInt(3), random.nextInt(3), random.nextInt(4));
        all.removeIf(each -> each.rule().equals(entry.rule()) && each.peer().equals(entry.peer()));
        all.add(entry);
        put(entry.rule(), entry.peer(), entry.routerId(), entry.list());
      }
      dead.clear();
      dead.add(random.nextInt(4));
      for (int i = 0; i < 200; i++) {
        FlowKey flow = Rules.anyFlow(random);
        RuleEntry expected =
            all.stream()
                .filter(each -> !dead.contains(each.list()) && each.rule().matches(flow))
                .min(RuleEntry.ORDER)
                .orElse(null);
        assertEquals(expected, table.winner(flow), flow + ", seed " + seed);
      }
      for (String peer : List.of("peer0", "peer1", "peer2")) {
        table.dropAll(peer);
      }
      assertEquals(0, table.size());
    }
  }
}
