package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ControlAddressesTest {
  @ParameterizedTest
  @CsvSource(
      value = {
        "eth0 | eth | true",
        "eth0 | ib,eth | true",
        "eth0 | =eth | false",
        "eth0 | =eth0,eth1 | true",
        "eth0 | ^docker,lo | true",
        "lo | ^docker,lo | false",
        "eth0 | ^=eth | true",
        "eth0 | ^=eth0 | false",
        "eth0 | '' | true",
        "eth0 | ib | false"
      },
      delimiter = '|')
  void namesMatchAsNcclMatchesThem(String name, String wanted, boolean matches) {
    assertEquals(matches, ControlAddresses.matches(name, wanted));
  }
}
