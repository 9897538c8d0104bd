package io.heddle.bgp.flowspec.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.wire.Rules;
import io.heddle.bgp.wire.Prefix;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests of RFC 8955's order of rules, and of matching. */
class RuleOrderTest {
  private static FlowRule rule(String hex) {
    return Rules.read("%02x".formatted(hex.replace(" ", "").length() / 2) + hex).rules.getFirst();
  }

  private static void assertOrder(String first, String second) {
    FlowRule one = rule(first);
    FlowRule other = rule(second);
    assertTrue(one.compareTo(other) < 0, one + " before " + other);
    assertTrue(other.compareTo(one) > 0, one + " before " + other);
  }

  @Test
  void longerPrefixLowerAddressAndLowerOffsetComeFirst() {
    assertOrder("0140 00 fd00000b00000000", "0120 00 fd00000b");
    assertOrder("0120 00 fd00000a", "0120 00 fd00000b");
    assertOrder("0120 00 fd00000a", "0140 00 fd00000b00000000");
    assertOrder("0140 00 fd00000b00000000", "0140 20 00000000");
  }

  @Test
  void ruleWithAComponentOfALowerTypeComesFirst() {
    assertOrder("0120 00 fd00000a", "0381 11");
    assertOrder("0120 00 fd00000a 0381 11", "0120 00 fd00000a");
    assertOrder("0120 00 fd00000a 0381 11", "0120 00 fd00000a 0581 11");
    assertOrder("0381 11", "80a1 00000011");
  }

  @Test
  void valuesAreComparedAsOctetsAndTheLongerListComesFirst() {
    assertOrder("0381 06", "0381 11");
    assertOrder("0581 11", "0591 0011");
    assertOrder("0501 11 81 12", "0581 11");
  }

  @Test
  void orderIsTotal() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    List<FlowRule> rules = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      rules.add(Rules.anyRule(random));
    }
    Collections.sort(rules);
    for (int i = 0; i < rules.size(); i++) {
      for (int k = i + 1; k < rules.size(); k++) {
        int order = rules.get(i).compareTo(rules.get(k));
        assertTrue(
            rules.get(i).equals(rules.get(k)) ? order == 0 : order < 0,
            rules.get(i) + " before " + rules.get(k) + ", seed " + seed);
      }
    }
  }

  @Test
  void queuePairMatchesOnlyAtItsAddressAndRocePort() {
    FlowRule rule = Rules.queuePair("fd00:2::2", 0x11);
    assertTrue(rule.matches(Rules.flow("fd00:1::1", "fd00:2::2", 0x11)));
    assertFalse(rule.matches(Rules.flow("fd00:1::1", "fd00:2::2", 0x12)));
    assertFalse(rule.matches(Rules.flow("fd00:1::1", "fd00:2::3", 0x11)));
    FlowRule number = rule("80a1 00000011");
    Prefix address = Prefix.of("fd00:2::2");
    FlowKey other = new FlowKey(0, 1, address.high(), address.low(), FlowKey.UDP, 4791, 4792, 0x11);
    assertFalse(number.matches(other), "port 4792 carries no queue pair");
    assertTrue(number.matches(Rules.flow("fd00:1::1", "fd00:9::9", 0x11)));
  }

  @Test
  void andBindsTighterThanOr() {
    /* Greater than 10 and less than 20, or 42. */
    NumericMatch ports =
        new NumericMatch(
            FlowField.SOURCE_PORT,
            6,
            List.of(
                new ValueTerm(ValueTerm.AND | ValueTerm.GREATER, 10),
                new ValueTerm(ValueTerm.AND | ValueTerm.LESS, 20),
                new ValueTerm(ValueTerm.END | ValueTerm.EQUAL, 42)));
    List<Integer> matching = new ArrayList<>();
    for (int port = 0; port < 50; port++) {
      if (ports.matches(new FlowKey(0, 0, 0, 0, FlowKey.UDP, port, 1, FlowKey.NONE))) {
        matching.add(port);
      }
    }
    assertEquals(List.of(11, 12, 13, 14, 15, 16, 17, 18, 19, 42), matching);
    assertEquals("source port > 10 and < 20 or 42", ports.toString());
  }

  @Test
  void bitmasksMatchAnyAllAndTheirNegations() {
    for (int operator = 0; operator < 4; operator++) {
      BitmaskMatch flags =
          new BitmaskMatch(
              FlowField.TCP_FLAGS, List.of(new ValueTerm(ValueTerm.END | operator, 0x12)));
      boolean not = (operator & ValueTerm.NOT) != 0;
      boolean all = (operator & ValueTerm.MATCH) != 0;
      assertEquals(!not, flags.holds(0x1f), flags.toString());
      assertEquals(all == not, flags.holds(0x02), flags.toString());
      assertEquals(not, flags.holds(0x01), flags.toString());
    }
  }

  @Test
  void addressBitsAfterAnOffsetAreCompared() {
    FlowRule rule = rule("0148 3c abc0");
    Prefix there = Prefix.of("fd00:0:0:a:bc00::");
    Prefix elsewhere = Prefix.of("fd00:0:0:a:bd00::");
    Prefix differentInFront = Prefix.of("fd77:7:7:777a:bcff::");
    for (Prefix each : List.of(there, differentInFront)) {
      assertTrue(rule.matches(FlowKey.queuePair(each, each, 1, 1)), each.toString());
    }
    assertFalse(rule.matches(FlowKey.queuePair(elsewhere, elsewhere, 1, 1)));
  }
}
