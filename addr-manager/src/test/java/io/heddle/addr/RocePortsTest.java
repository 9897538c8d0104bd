package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of values that HEDDLE_PORTS accepts and refuses. */
final class RocePortsTest {
  @Test
  void withoutValueItIsTheDocumentedRange() {
    assertEquals(new RocePorts(4791, 4854), RocePorts.parse(null));
    assertEquals(RocePorts.STANDARD, RocePorts.parse(" "));
    assertEquals("4791-4854", RocePorts.STANDARD.toString());
  }

  @Test
  void takesOnePortOrRange() {
    RocePorts range = RocePorts.parse(" 5000-5003 ");
    assertTrue(range.contains(5000) && range.contains(5003));
    assertFalse(range.contains(4999) || range.contains(5004));
    assertEquals(new RocePorts(4791, 4791), RocePorts.parse("4791"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"x", "1-2", "5000-", "-5000", "5001-5000", "65535-65536", "1-2-3", "5000,5001"})
  void refusesWithTheVariableAndTheAllowedForm(String value) {
    String message = assertThrows(HeddleException.class, () -> RocePorts.parse(value)).getMessage();
    assertTrue(message.startsWith("HEDDLE_PORTS=" + value + ": allowed is a range"), message);
  }
}
