package io.heddle.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GidTest {
  @Test
  void ipv6AddressSurvivesRoundTrip() throws Exception {
    InetAddress address = InetAddress.getByName("fd00:1:1:2:0:ff:fe00:101");
    Gid gid = Gid.of(address);
    assertEquals(0xfd00_0001_0001_0002L, gid.high());
    assertEquals(0x0000_00ff_fe00_0101L, gid.low());
    assertEquals(address, gid.toAddress());
    assertEquals(gid, Gid.of(gid.toBytes()));
    assertFalse(gid.isLinkLocal());
    assertFalse(gid.isIpv4Mapped());
  }

  @Test
  void anIpv4AddressIsCarriedInMappedForm() throws Exception {
    InetAddress address = InetAddress.getByName("127.0.1.2");
    Gid gid = Gid.of(address);
    assertTrue(gid.isIpv4Mapped());
    assertEquals(0x0000_ffff_7f00_0102L, gid.low());
    assertEquals(address, gid.toAddress());
    assertEquals("127.0.1.2", gid.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "::",
        "::1",
        "fd00:1:1:2:0:ff:fe00:101",
        "fd00::1",
        "2001:db8::1:0:0:1",
        "2001:0:0:1::"
      })
  void textFormFollowsRfc5952(String text) throws Exception {
    assertEquals(text, Gid.of(InetAddress.getByName(text)).toString()); // RFC 5952
  }

  @Test
  void linkLocalIsRecognised() throws Exception {
    assertTrue(Gid.of(InetAddress.getByName("fe80::1")).isLinkLocal());
    assertTrue(Gid.of(InetAddress.getByName("febf::1")).isLinkLocal());
    assertFalse(Gid.of(InetAddress.getByName("fec0::1")).isLinkLocal());
  }

  @Test
  void rejectsFifteenBytes() {
    assertThrows(IllegalArgumentException.class, () -> Gid.of(new byte[15]));
  }

  @Test
  void pathMtuFromLinkMtuMatchesRxe() {
    assertEquals(PathMtu.MTU_1024, PathMtu.fittingLink(1500));
    assertEquals(PathMtu.MTU_4096, PathMtu.fittingLink(4200));
    assertEquals(PathMtu.MTU_4096, PathMtu.fittingLink(9000));
    assertEquals(PathMtu.MTU_2048, PathMtu.fittingLink(4191));
    assertEquals(PathMtu.MTU_256, PathMtu.fittingLink(100));
  }
}
