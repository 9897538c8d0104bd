package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class AddressTextTest {
  /* The examples of RFC 5952, sections 4.2 and 4.3, short addresses, and an IPv4 address. */
  @ParameterizedTest
  @CsvSource({
    "2001:0db8::0001, 2001:db8::1",
    "2001:db8:0:0:0:0:2:1, 2001:db8::2:1",
    "2001:db8:0:1:1:1:1:1, 2001:db8:0:1:1:1:1:1",
    "2001:0:0:1:0:0:0:1, 2001:0:0:1::1",
    "2001:db8:0:0:1:0:0:1, 2001:db8::1:0:0:1",
    "2001:DB8::AAAA, 2001:db8::aaaa",
    "0:0:0:0:0:0:0:0, ::",
    "::1, ::1",
    "fe80::, fe80::",
    "127.0.1.2, 127.0.1.2"
  })
  void writesCanonicalForm(String given, String canonical) {
    InetAddress address = AddressText.parse(given);
    assertEquals(canonical, address == null ? null : AddressText.of(address));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "eth0",
        "1",
        "127.1",
        "0x7f.0.0.1",
        "localhost",
        "fe80::1%eth0",
        "[::1]",
        "1.2.3.256",
        ":::",
        ""
      })
  void incompleteAddressIsRejected(String text) {
    assertNull(AddressText.parse(text));
  }

  @Test
  void socketAddressIsWrittenAsInAUrl() throws Exception {
    assertEquals(
        "[fd00::1]:4711",
        AddressText.of(new InetSocketAddress(InetAddress.getByName("fd00:0:0:0:0:0:0:1"), 4711)));
    assertEquals(
        "10.0.0.1:4711",
        AddressText.of(new InetSocketAddress(InetAddress.getByName("10.0.0.1"), 4711)));
    assertEquals(
        "no.such.host:80", AddressText.of(InetSocketAddress.createUnresolved("no.such.host", 80)));
  }

  @Test
  void requiredAddressesAreParsedOrRefused() {
    assertEquals("10.0.0.1", AddressText.of(AddressText.require("10.0.0.1")));
    assertEquals("fd00::1", AddressText.of(AddressText.requireIpv6("fd00:0::1")));
    assertEquals(0x0a000005, AddressText.requireRouterId("10.0.0.5"));
    for (Executable refused :
        List.<Executable>of(
            () -> AddressText.require("10.0.1"),
            () -> AddressText.requireIpv6("10.0.0.1"),
            () -> AddressText.requireIpv6Host("10.0.0.1"),
            () -> AddressText.requireIpv6Host("::"),
            () -> AddressText.requireIpv6Host("ff02::1"),
            () -> AddressText.requireHost("0.0.0.0"),
            () -> AddressText.requireHost("224.0.0.1"),
            () -> AddressText.requireRouterId("0.0.0.0"),
            () -> AddressText.requireRouterId("fd00::1"))) {
      assertThrows(IllegalArgumentException.class, refused);
    }
  }
}
