package io.heddle.softdevice.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import org.junit.jupiter.api.Test;

/** Tests parsing of HEDDLE_SOURCE_PORTS and the sockets' ports. */
final class SourcePortsTest {
  /* Returns an address that only this process uses, so that its ports are free. */
  private static SoftPort.Address address() {
    long pid = ProcessHandle.current().pid();
    return new SoftPort("127." + (pid >> 8 & 127) + "." + (pid & 255) + ".77=1").address(0);
  }

  @Test
  void socketsUseFirstFreePortThenAny() {
    SourcePorts ports = SourcePorts.parse("50001, 50003-50004");
    SoftPort.Address address = address();
    try (UdpSocket first = ports.bind(address);
        UdpSocket second = ports.bind(address);
        UdpSocket third = ports.bind(address)) {
      assertEquals(50001, first.port());
      assertEquals(50003, second.port());
      assertEquals(50004, third.port());
      try (UdpSocket fourth = ports.bind(address)) {
        assertNotEquals(0, fourth.port());
      }
      second.close();
      try (UdpSocket again = ports.bind(address)) {
        assertEquals(50003, again.port());
      }
    }
  }

  @Test
  void kernelChoosesPortByDefault() {
    for (String unset : new String[] {null, "", "  "}) {
      try (UdpSocket any = SourcePorts.parse(unset).bind(address())) {
        assertNotEquals(0, any.port());
      }
    }
  }

  @Test
  void rejectionNamesInvalidPart() {
    for (String wrong : new String[] {"x", "1-2-3", "80", "50000-49999", "70000", "50000,", "-1"}) {
      String message =
          String.valueOf(
              assertThrows(HeddleException.class, () -> SourcePorts.parse(wrong)).getMessage());
      assertTrue(message.startsWith("HEDDLE_SOURCE_PORTS: \""), message);
      assertTrue(message.contains("example: 49152,49160-49167"), message);
    }
  }
}
