package io.heddle.bgp.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class RouterAdvertisementTest {
  private static final byte[] MAC = {2, 0, 0, 0, 1, 5};

  private static RouterAdvertisement decode(String hex) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    return RouterAdvertisement.decode(bytes, bytes.length);
  }

  @Test
  void ownAdvertisementIsNoDefaultRouter() {
    byte[] ours = RouterAdvertisement.encodeOwn(MAC);
    assertEquals(
        "86000000400000000000000000000000" + "0101020000000105", HexFormat.of().formatHex(ours));
    assertEquals(new RouterAdvertisement(0), RouterAdvertisement.decode(ours, ours.length));
  }

  @Test
  void solicitationNamesTheSender() {
    assertEquals(
        "8500000000000000" + "0101020000000105",
        HexFormat.of().formatHex(RouterAdvertisement.solicitation(MAC)));
    assertEquals(8, RouterAdvertisement.solicitation(new byte[0]).length);
  }

  @Test
  void malformedAdvertisementIsIgnored() {
    assertEquals(1800, decode("86001234 40000708 00000000 00000000").lifetimeSeconds());
    assertNull(decode("86001234 40000708 00000000 000000"));
    assertNull(decode("87001234 40000708 00000000 00000000"));
    assertNull(decode("86011234 40000708 00000000 00000000"));
    assertNull(decode("86001234 40000708 00000000 00000000 0100"), "an option of length 0");
    assertNull(decode("86001234 40000708 00000000 00000000 0102020000000105"), "a long option");
    assertNull(decode("86001234 40000708 00000000 00000000 01"));
  }
}
