package io.heddle.bgp.flowspec.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowField;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.rule.NumericMatch;
import io.heddle.bgp.flowspec.rule.PrefixMatch;
import io.heddle.bgp.flowspec.rule.ValueTerm;
import io.heddle.bgp.wire.Prefix;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class FlowspecCodecTest {
  /* Bytes of a rule, which GoBGP, BIRD and ExaBGP encode alike. */
  private static final String OF_DAEMONS =
      "20 0140 00 fd00000b00000000 0240 00 fd00000a00000000 0381 11 0591 12b7 0d81 4d";
  private static final String OF_A_QUEUE_PAIR =
      "20 0180 00 fd000002000000000000000000000002 0381 11 0591 12b7 80a1 00000011";

  @Test
  void ruleOfOtherDaemonsRoundTrips() {
    FlowRule rule = Rules.read(OF_DAEMONS).rules.getFirst();
    assertEquals(
        "to fd00:b::/64, from fd00:a::/64, protocol 17, destination port 4791, flow label 77",
        rule.toString());
    assertArrayEquals(Rules.bytes(OF_DAEMONS), Rules.CODEC.encode(rule));
    assertEquals(rule, FlowRule.of(rule.components()));
  }

  @Test
  void ruleOfAQueuePairHasTheBytesRelayedByGobgp() {
    FlowRule rule = Rules.queuePair("fd00:2::2", 0x11);
    assertArrayEquals(Rules.bytes(OF_A_QUEUE_PAIR), Rules.CODEC.encode(rule));
    FlowRule read = Rules.read(OF_A_QUEUE_PAIR).rules.getFirst();
    assertEquals(rule, read);
    assertEquals(rule.components(), read.components());
    assertEquals(Prefix.of("fd00:2::2/128"), read.destination());
  }

  @Test
  void typeOfDestinationQpIsConfigurable() {
    ComponentTypes types = new ComponentTypes(40);
    FlowRule rule = FlowRule.queuePair(types, null, Prefix.of("fd00:2::2"), 0x1234);
    byte[] bytes = new FlowspecCodec(types).encode(rule);
    assertArrayEquals(
        Rules.bytes("28 a1 00001234"), Arrays.copyOfRange(bytes, bytes.length - 6, bytes.length));
    Rules.DecodedRules taken = new Rules.DecodedRules();
    assertNull(Rules.CODEC.decode(ByteBuffer.wrap(bytes), taken));
    assertEquals(List.of("component type 40 is unknown"), taken.why);
  }

  @Test
  void prefixWithAnOffsetHasOnlyTheBitsAfterIt() {
    /*
     * A destination component with bits 60 to 72 of the address, followed by padding bits that have
     * no meaning.
     */
    FlowRule rule = Rules.read("05 0148 3c abcf").rules.getFirst();
    assertEquals(
        List.of(new PrefixMatch(FlowField.DESTINATION, 60, 72, 0xaL, 0xbc00_0000_0000_0000L)),
        rule.components());
    assertArrayEquals(Rules.bytes("0548 3c abc0".replace("0548", "050148")), write(rule));
    assertArrayEquals(Rules.bytes("05 0148 3c abcf"), Rules.CODEC.encode(rule), "as it came");
    assertNull(rule.destination());
  }

  private static byte[] write(FlowRule rule) {
    return Rules.CODEC.encode(FlowRule.of(rule.components()));
  }

  @Test
  void longRuleHasALengthOfTwoOctets() {
    List<ValueTerm> terms = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      terms.add(new ValueTerm((i == 99 ? ValueTerm.END : 0) | 0x10 | ValueTerm.EQUAL, i));
    }
    FlowRule rule = FlowRule.of(List.of(new NumericMatch(FlowField.PORT, 4, terms)));
    byte[] bytes = Rules.CODEC.encode(rule);
    assertEquals((byte) 0xf1, bytes[0]);
    assertEquals((byte) 0x2d, bytes[1]);
    Rules.DecodedRules taken = new Rules.DecodedRules();
    assertNull(Rules.CODEC.decode(ByteBuffer.wrap(bytes), taken));
    assertEquals(List.of(rule), taken.rules);
  }

  @Test
  void malformedRuleCountsAsWithdrawnAndItsNeighboursStay() {
    String good = "03 0381 11";
    for (String[] each :
        new String[][] {
          {"00", "a rule without components"},
          {"03 fe81 11", "component type 254 is unknown"},
          {"06 0381 11 0381 06", "component type 3 follows type 3"},
          {"06 0481 11 0381 06", "component type 3 follows type 4"},
          {"02 0140", "a to component ends before its offset"},
          {"03 0181 00", "a to component has bits from 0 to 129"},
          {"03 0140 40", "a to component has bits from 64 to 64"},
          {"04 0140 00 fd", "a to component of 8 bytes runs past the rule's end"},
          {"01 03", "the list of a protocol component doesn't end"},
          {"03 0301 11", "the list of a protocol component doesn't end"},
          {"03 03b1 11", "a value of 8 bytes runs past the rule's end"}
        }) {
      Rules.DecodedRules taken = Rules.read(good + each[0] + good);
      assertEquals(List.of(each[1]), taken.why);
      assertEquals(2, taken.rules.size(), each[0]);
      assertTrue(taken.malformed.getFirst().isMalformed());
      assertArrayEquals(
          Rules.bytes(each[0]), Rules.CODEC.encode(taken.malformed.getFirst()), "its own bytes");
    }
  }

  @Test
  void overlappingRulesAreAFramingError() {
    for (String each : List.of("04 0381 11", "f1", "ff", "f040 0381 11")) {
      assertNotNull(
          Rules.CODEC.decode(ByteBuffer.wrap(Rules.bytes(each)), new Rules.DecodedRules()), each);
    }
  }

  @Test
  void everyRandomRuleComesBack() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      FlowRule rule = Rules.anyRule(random);
      Rules.DecodedRules taken = new Rules.DecodedRules();
      assertNull(Rules.CODEC.decode(ByteBuffer.wrap(Rules.CODEC.encode(rule)), taken));
      assertEquals(List.of(rule), taken.rules, "seed " + seed);
      assertEquals(rule.components(), taken.rules.getFirst().components(), "seed " + seed);
    }
  }

  @Test
  void everyBitFlipAndTruncationDecodesOrFailsByValue() {
    for (String text : List.of(OF_DAEMONS, OF_A_QUEUE_PAIR)) {
      byte[] whole = Rules.bytes(text);
      for (int bit = 0; bit < 8 * whole.length; bit++) {
        byte[] bytes = whole.clone();
        bytes[bit / 8] ^= (byte) (0x80 >>> bit % 8);
        FlowspecFuzzTest.checkDecoding(Rules.CODEC, bytes);
        FlowspecFuzzTest.checkDecoding(Rules.IPV4_CODEC, bytes);
      }
      for (int length = 0; length < whole.length; length++) {
        byte[] bytes = Arrays.copyOf(whole, length);
        if (length > 0) {
          bytes[0] = (byte) (length - 1);
        }
        FlowspecFuzzTest.checkDecoding(Rules.CODEC, bytes);
        FlowspecFuzzTest.checkDecoding(Rules.IPV4_CODEC, bytes);
      }
    }
  }
}
