package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class RtnetlinkTest {
  private static NetworkLink goldenLink(String name) throws IOException {
    AddressEvent event =
        Rtnetlink.decode(RtnetlinkMessages.buffer(RtnetlinkMessages.golden("link-" + name)));
    return assertInstanceOf(AddressEvent.LinkChanged.class, event).link();
  }

  private static AssignedAddress goldenAddress(String name) throws IOException {
    AddressEvent event =
        Rtnetlink.decode(RtnetlinkMessages.buffer(RtnetlinkMessages.golden("address-" + name)));
    return assertInstanceOf(AddressEvent.AddressChanged.class, event).address();
  }

  @Test
  void readsVethLinkAsKernelSentIt() throws IOException {
    assertEquals(
        new NetworkLink(3, "p0", 9000, true, true, false, "02:00:00:00:01:01", 0, "veth"),
        goldenLink("p0"));
  }

  @Test
  void readsParentOfMacvlan() throws IOException {
    NetworkLink link = goldenLink("m0");
    assertEquals(3, link.parentIndex());
    assertEquals("macvlan", link.kind());
    assertFalse(link.isUp());
  }

  @Test
  void readsParentInAnotherNamespace() {
    NetworkLink pods =
        new NetworkLink(5, "net1", 9000, true, true, false, "02:00:00:00:01:05", -4, "macvlan");
    AddressEvent event =
        Rtnetlink.decode(
            RtnetlinkMessages.buffer(RtnetlinkMessages.encode(Rtnetlink.RTM_NEWLINK, pods)));
    assertEquals(pods, assertInstanceOf(AddressEvent.LinkChanged.class, event).link());
  }

  @Test
  void readsLoopbackLink() throws IOException {
    NetworkLink link = goldenLink("lo");
    assertTrue(link.loopback());
    assertTrue(link.isUp());
    assertEquals(65536, link.mtuBytes());
  }

  @Test
  void distinguishesEui64FromPrivacyAddress() throws IOException {
    AssignedAddress eui64 = goldenAddress("eui64");
    assertEquals("fd00:1:1:1:0:ff:fe00:101/64", eui64.toString());
    assertTrue(eui64.isEui64());
    assertFalse(eui64.has(AddressFlag.TEMPORARY));
    assertEquals("0001", eui64.subnetName());
    assertEquals(3, eui64.interfaceIndex());

    AssignedAddress privacy = goldenAddress("temporary");
    assertFalse(privacy.isEui64());
    assertTrue(privacy.has(AddressFlag.TEMPORARY));
  }

  @Test
  void readsTentativeAndDeprecatedFlags() throws IOException {
    assertTrue(goldenAddress("tentative").has(AddressFlag.TENTATIVE));
    assertTrue(goldenAddress("deprecated").has(AddressFlag.DEPRECATED));
    assertEquals(Set.of(AddressFlag.PERMANENT), goldenAddress("link-local").flags());
  }

  @Test
  void readsIpv4Address() throws IOException {
    assertEquals("192.0.2.5/24", goldenAddress("ipv4").toString());
  }

  @Test
  void buildsDumpRequestsByteForByte() {
    /* struct nlmsghdr and an empty ifinfomsg or ifaddrmsg, little-endian. */
    assertEquals(
        "2000000012000103070000000000000000000000000000000000000000000000",
        HexFormat.of().formatHex(dumpRequest(Rtnetlink.RTM_GETLINK, 7)));
    assertEquals(
        "180000001600010308000000000000000000000000000000",
        HexFormat.of().formatHex(dumpRequest(Rtnetlink.RTM_GETADDR, 8)));
  }

  @Test
  void decodesMessagesOfTheSecondEncoder() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 500; round++) {
      NetworkLink link = randomLink(random);
      AssignedAddress address = randomAddress(random);
      String why = "seed " + seed + " round " + round;
      assertEquals(
          new AddressEvent.LinkRemoved(link),
          Rtnetlink.decode(RtnetlinkMessages.buffer(RtnetlinkMessages.encode(17, link))),
          why);
      assertEquals(
          new AddressEvent.AddressRemoved(address),
          Rtnetlink.decode(RtnetlinkMessages.buffer(RtnetlinkMessages.encode(21, address))),
          why);
    }
  }

  @Test
  void truncatedMessagesDecodeToNull() throws IOException {
    for (String name : new String[] {"link-p0", "address-eui64"}) {
      byte[] whole = RtnetlinkMessages.golden(name);
      int understood = 0;
      for (int length = Rtnetlink.HEADER_BYTES; length < whole.length; length++) {
        byte[] part = java.util.Arrays.copyOf(whole, length);
        understood += Rtnetlink.decode(RtnetlinkMessages.buffer(part)) == null ? 0 : 1;
      }
      /* Only a cut between two attributes leaves a message that is shorter but well-formed. */
      assertTrue(
          understood < whole.length / 8,
          name + ": " + understood + " cuts were taken for messages");
    }
  }

  @Test
  void messagesWithImpossibleNumbersDecodeToNull() throws IOException {
    byte[] badPrefix = RtnetlinkMessages.golden("address-eui64");
    badPrefix[17] = (byte) 129;
    assertNull(Rtnetlink.decode(RtnetlinkMessages.buffer(badPrefix)));
    byte[] badIndex = RtnetlinkMessages.golden("link-p0");
    badIndex[23] = (byte) 0x80;
    assertNull(Rtnetlink.decode(RtnetlinkMessages.buffer(badIndex)));
  }

  private static NetworkLink randomLink(Random random) {
    byte[] mac = new byte[6];
    random.nextBytes(mac);
    String kind = random.nextBoolean() ? "vlan" : "";
    return new NetworkLink(
        1 + random.nextInt(1 << 20),
        "net" + random.nextInt(1000),
        68 + random.nextInt(65468),
        random.nextBoolean(),
        random.nextBoolean(),
        random.nextBoolean(),
        HexFormat.ofDelimiter(":").formatHex(mac),
        random.nextInt(100),
        kind);
  }

  private static AssignedAddress randomAddress(Random random) {
    byte[] raw = new byte[random.nextBoolean() ? 16 : 4];
    random.nextBytes(raw);
    Set<AddressFlag> flags = EnumSet.noneOf(AddressFlag.class);
    for (AddressFlag flag : AddressFlag.values()) {
      if (random.nextBoolean() && (raw.length == 16 || flag != AddressFlag.TEMPORARY)) {
        flags.add(flag);
      }
    }
    return new AssignedAddress(
        1 + random.nextInt(1 << 20),
        AddressText.ofBytes(raw),
        random.nextInt(raw.length * 8 + 1),
        flags);
  }

  private static byte[] dumpRequest(int type, int sequence) {
    return Rtnetlink.request(type, Rtnetlink.NLM_F_DUMP, sequence, Rtnetlink.dumpBody(type));
  }
}
