package io.heddle.bgp.flowspec.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.wire.Prefix;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests of IPv4 rules, whose prefixes have no offset (RFC 8955 §4.2.2.1), and which are separate
 * from IPv6 rules.
 */
final class Ipv4RulesTest {
  /* Bytes of a rule for destination 10.2.0.2/32, UDP, port 4791, queue pair 0x11. */
  private static final String OF_A_QUEUE_PAIR =
      "13 01 20 0a020002 03 81 11 05 91 12b7 80 a1 00000011";
  private static final FlowKey FLOW = Rules.flow("10.1.0.1", "10.2.0.2", 0x11);

  private static FlowRule one(String hex) {
    Rules.DecodedRules taken = Rules.read(Rules.IPV4_CODEC, hex);
    assertEquals(List.of(), taken.why);
    assertEquals(1, taken.rules.size());
    return taken.rules.getFirst();
  }

  @Test
  void ruleOfAQueuePairRoundTripsByRfc8955() {
    FlowRule rule = Rules.queuePair("10.2.0.2", 0x11);
    assertTrue(rule.isIpv4());
    assertArrayEquals(Rules.bytes(OF_A_QUEUE_PAIR), Rules.IPV4_CODEC.encode(rule));
    FlowRule read = one(OF_A_QUEUE_PAIR);
    assertEquals(rule, read);
    assertEquals("to 10.2.0.2, protocol 17, destination port 4791, queue pair 17", read.toString());
    assertTrue(read.matches(FLOW));
    assertFalse(read.matches(Rules.flow("10.1.0.1", "10.2.0.3", 0x11)));
    assertFalse(read.matches(Rules.flow("10.1.0.1", "10.2.0.2", 0x12)));
  }

  /* Tests the example of RFC 8955 §4.3.1: all packets to 192.0.2.0/24 and TCP port 25. */
  @Test
  void exampleOfTheRfcIsParsed() {
    FlowRule rule = one("0b 01 18 c00002 03 81 06 04 81 19");
    assertEquals("to 192.0.2.0/24, protocol 6, port 25", rule.toString());
    assertEquals(Prefix.of("192.0.2.0/24"), rule.destination());
  }

  @Test
  void prefixesOfEachLengthRoundTrip() {
    for (int length = 0; length <= 32; length++) {
      FlowRule rule =
          FlowRule.of(
              List.of(PrefixMatch.of(FlowField.SOURCE, Prefix.of("203.0.113.255/" + length))));
      Rules.DecodedRules taken = new Rules.DecodedRules();
      Rules.IPV4_CODEC.decode(ByteBuffer.wrap(Rules.IPV4_CODEC.encode(rule)), taken);
      assertEquals(List.of(rule), taken.rules);
      assertEquals(rule.components(), taken.rules.getFirst().components());
    }
  }

  @Test
  void rulesWithoutAddressStayWithinTheirFamily() {
    FlowKey six = Rules.flow("fd00:1::1", "fd00:2::2", 0x11);
    String udp = "03 03 81 11";
    FlowRule ofFour = one(udp);
    FlowRule ofSix = Rules.read(udp).rules.getFirst();
    assertArrayEquals(ofFour.bytes(), ofSix.bytes());
    assertNotEquals(ofFour, ofSix, "the same bytes, and two rules");
    assertTrue(ofFour.matches(FLOW));
    assertFalse(ofFour.matches(six));
    assertTrue(ofSix.matches(six));
    assertFalse(ofSix.matches(FLOW));
    assertEquals(-Integer.signum(ofFour.compareTo(ofSix)), Integer.signum(ofSix.compareTo(ofFour)));
  }

  @Test
  void ipv6RuleForAMappedAddressMatchesNoIpv4() {
    FlowRule mapped = Rules.read("13 01 80 00 00000000000000000000ffff0a020002").rules.getFirst();
    assertFalse(mapped.isIpv4());
    assertFalse(mapped.matches(FLOW));
  }

  @Test
  void ipv6OnlyComponentsAreMalformedInIpv4() {
    assertEquals(
        List.of("a to component has 33 bits of an IPv4 address"),
        Rules.read(Rules.IPV4_CODEC, "07 01 21 0a02000280").why);
    assertEquals(
        List.of("component type 13 is unknown"), Rules.read(Rules.IPV4_CODEC, "03 0d 81 11").why);
    assertEquals(
        List.of("a to component of 4 bytes runs past the rule's end"),
        Rules.read(Rules.IPV4_CODEC, "04 01 20 0a02").why);
    assertEquals(
        List.of("a to component ends before its length"),
        Rules.read(Rules.IPV4_CODEC, "01 01").why);
  }

  @Test
  void moreSpecificPrefixComesFirst() {
    FlowRule wide =
        FlowRule.of(List.of(PrefixMatch.of(FlowField.DESTINATION, Prefix.of("10.0.0.0/8"))));
    FlowRule narrow =
        FlowRule.of(List.of(PrefixMatch.of(FlowField.DESTINATION, Prefix.of("10.2.0.0/16"))));
    assertTrue(narrow.compareTo(wide) < 0);
    assertTrue(wide.compareTo(one("03 03 81 11")) < 0, "a rule without an address comes last");
  }
}
