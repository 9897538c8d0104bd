package io.heddle.bgp.flowspec.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.heddle.bgp.flowspec.rule.FlowKey;
import io.heddle.bgp.flowspec.rule.FlowRule;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Fuzz test: any bytes decode to rules, some of them malformed, or to an error of the framing. With
 * {@code JAZZER_FUZZ=1} the fuzzer searches for inputs that violate this.
 */
class FlowspecFuzzTest {
  private static final FlowKey FLOW = Rules.flow("fd00:1::1", "fd00:2::2", 0x11);

  @FuzzTest(maxDuration = "20s")
  void anyBytesDecodeOrFailByValue(byte[] bytes) {
    checkDecoding(Rules.CODEC, bytes);
    checkDecoding(Rules.IPV4_CODEC, bytes);
  }

  static void checkDecoding(FlowspecCodec codec, byte[] bytes) {
    Rules.DecodedRules taken = new Rules.DecodedRules();
    String lost = codec.decode(ByteBuffer.wrap(bytes), taken);
    for (FlowRule rule : taken.rules) {
      assertFalse(rule.isMalformed());
      assertFalse(rule.toString().isEmpty());
      assertEquals(0, rule.compareTo(rule));
      assertEquals(rule.components(), FlowRule.of(rule.components()).components());
      rule.matches(FLOW);
    }
    for (FlowRule rule : taken.malformed) {
      assertTrue(rule.isMalformed());
      assertFalse(rule.matches(FLOW), "a malformed rule matches nothing");
    }
    if (lost == null && taken.malformed.isEmpty() && isPlain(bytes)) {
      ByteBuffer again = ByteBuffer.allocate(bytes.length);
      taken.rules.forEach(rule -> again.put(codec.encode(rule)));
      assertArrayEquals(bytes, Arrays.copyOf(again.array(), again.position()));
    }
  }

  /*
   * Returns whether each rule has a length of one octet. A short rule may be received with a length
   * of two octets, but is written with one, so its bytes differ.
   */
  private static boolean isPlain(byte[] bytes) {
    for (int at = 0; at < bytes.length; at += 1 + (bytes[at] & 0xff)) {
      if ((bytes[at] & 0xff) >= FlowspecCodec.LONG_LENGTH) {
        return false;
      }
    }
    return true;
  }
}
