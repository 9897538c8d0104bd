package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MessageCodecTest {
  private static final MessageEncoder ENCODER = new MessageEncoder(WireMessages.OPTIONS);
  private static final NextHop NEXT_HOP =
      NextHop.of(Prefix.of("fd00::1").address(), Prefix.of("fe80::1").address());
  private static final PathAttributes ATTRIBUTES =
      PathAttributes.of(
          PathAttribute.Origin.IGP,
          new PathAttribute.Path(AsPath.of(65001, 4_200_000_001L)),
          new PathAttribute.MultiExitDiscriminator(0xffff_ffffL),
          new PathAttribute.AtomicAggregate(),
          new PathAttribute.Aggregator(4_200_000_001L, 0x0a000001),
          new PathAttribute.Communities(List.of(0xfde9_0001, 0xffff_ff01)),
          new PathAttribute.ExtendedCommunities(
              List.of(
                  new ExtendedCommunity.PathBandwidth(true, 0x0a000301, 0xffff),
                  new ExtendedCommunity.PathBandwidth(false, 0x0a000301, 100),
                  new ExtendedCommunity.LinkBandwidth(false, 65002, 125e6f),
                  new ExtendedCommunity.Color(0xc000, 0xffff_fff0L),
                  new ExtendedCommunity.Unreachable(false, 0x80, 0x0a000002),
                  new ExtendedCommunity.FibSuppress(23456, 0x0a000003),
                  new ExtendedCommunity.Other(0x8006_fdea_7fc0_0001L),
                  new ExtendedCommunity.Other(0x0004_fdea_7fc0_0001L))),
          new PathAttribute.LargeCommunities(List.of(new LargeCommunity(0xffff_ffffL, 2, 3))),
          new PathAttribute.Aigp(-2),
          new PathAttribute.Unknown(0xc0, 222, new byte[300]));

  private static void assertFault(int code, int subcode, String why, byte[] message) {
    MessageFault fault = assertInstanceOf(MessageFault.class, WireMessages.decode(message));
    assertEquals(code, fault.notification().code(), fault.why());
    assertEquals(subcode, fault.notification().subcode(), fault.why());
    assertTrue(fault.why().contains(why), fault.why());
  }

  @Test
  void everyAttributeRoundTrips() {
    UpdateMessage update =
        UpdateMessage.announce(Nlri.of(Prefix.of("fd00::/32")), ATTRIBUTES, NEXT_HOP);
    assertEquals(update, WireMessages.decode(ENCODER.encode(update)));
    assertEquals(100, ATTRIBUTES.pathBandwidth().gigabitsPerSecond(), "the lowest");
    assertTrue(ATTRIBUTES.isUnreachable());
  }

  @Test
  void codePointsOfDraftsMove() {
    CodePoints moved = new CodePoints(0x0899, 0x0310, 0x0311, 0x0082, 0x0901);
    WireOptions options =
        new WireOptions(true, true, true, false, 4096, moved, Families.IPV6_UNICAST);
    PathAttributes attributes =
        PathAttributes.of(
            PathAttribute.Origin.IGP,
            new PathAttribute.Path(AsPath.of(65001)),
            new PathAttribute.ExtendedCommunities(
                List.of(
                    new ExtendedCommunity.PathBandwidth(true, 1, 400),
                    new ExtendedCommunity.Unreachable(true, 0, 2),
                    new ExtendedCommunity.FibSuppress(1, 2),
                    new ExtendedCommunity.Redirect(0, 1, 7))));
    UpdateMessage update =
        UpdateMessage.announce(Nlri.of(Prefix.of("fd00::/32")), attributes, NEXT_HOP);
    byte[] bytes = new MessageEncoder(options).encode(update);
    assertEquals(update, WireMessages.decode(bytes, options));
    UpdateMessage misread = WireMessages.decode(UpdateMessage.class, bytes);
    assertEquals(
        List.of(
            new ExtendedCommunity.Other(0x0899_0000_0001_0190L),
            new ExtendedCommunity.Other(0x0311_0000_0000_0002L),
            new ExtendedCommunity.Other(0x0082_0001_0000_0002L),
            new ExtendedCommunity.Other(0x0901_0001_0000_0007L)),
        misread.attributes().extendedCommunities());
    assertThrows(
        IllegalArgumentException.class, () -> new CodePoints(0x0180, 0x0180, -1, 0x81, -1));
    assertThrows(
        IllegalArgumentException.class, () -> new CodePoints(0x4180, 0x0309, -1, 0x81, -1));
  }

  @Test
  void steeringCommunitiesRoundTrip() {
    Map<Long, String> known =
        Map.of(
            0x0900_8001_0000_002aL, "redirect to 42 of type 1",
            0x0002_fde9_0000_0005L, "target 65001:5",
            0x0102_0a00_0001_0005L, "target 10.0.0.1:5",
            0x0202_fa56_ea01_0005L, "target 4200000001:5",
            0x0302_fa56_ea01_0005L, "0x0302fa56ea010005");
    known.forEach((bits, text) -> {
      ExtendedCommunity read = ExtendedCommunity.of(bits, CodePoints.DEFAULT);
      assertEquals(text, read.toString());
      assertEquals(bits, read.bits(CodePoints.DEFAULT));
    });
  }

  @Test
  void pathOfATwoOctetSpeakerIsMerged() {
    WireOptions old =
        new WireOptions(false, true, true, false, 4096, CodePoints.DEFAULT, Families.IPV6_UNICAST);
    String reach = "800e1a 0002 01 10 fd0000ff000000000000000000000002 00 20fd000900";
    byte[] bytes =
        WireMessages.update(
            reach + "40010100 400208 0203 fde9 5ba0 5ba0 c0110a 0202 fa56ea01 fa56ea02");
    UpdateMessage update = (UpdateMessage) WireMessages.decode(bytes, old);
    AsPath path = update.attributes().asPath();
    assertEquals("65001 4200000001 4200000002", path.toString());
    assertEquals(3, path.hops());
  }

  @Test
  void manyRoutesFillSeveralMessages() {
    List<Prefix> routes =
        IntStream.range(0, 1000).mapToObj(i -> new Prefix(0xfd00_0000_0000_0000L, i, 128)).toList();
    for (UpdateMessage update :
        List.of(
            UpdateMessage.withdraw(Nlri.of(routes)),
            UpdateMessage.announce(Nlri.of(routes), ATTRIBUTES, NEXT_HOP))) {
      List<Prefix> came = new ArrayList<>();
      for (byte[] message : ENCODER.encodeAll(update)) {
        assertTrue(message.length <= BgpMessage.MAX_BYTES);
        UpdateMessage part = WireMessages.decode(UpdateMessage.class, message);
        came.addAll(part.announced().prefixes());
        came.addAll(part.withdrawn().prefixes());
      }
      assertEquals(routes, came);
      assertThrows(IllegalArgumentException.class, () -> ENCODER.encode(update));
    }
    assertEquals(
        UpdateMessage.END_OF_RIB, WireMessages.decode(ENCODER.encode(UpdateMessage.END_OF_RIB)));
  }

  @Test
  void linesOfAFilterFillOneMessage() {
    List<OrfEntry> lines =
        IntStream.range(0, OrfEntry.HOSTS_PER_MESSAGE)
            .mapToObj(i -> OrfEntry.permit(i, new Prefix(1, i, 128)))
            .toList();
    assertTrue(
        ENCODER.encode(RouteRefreshMessage.filter(AddressFamily.IPV6_UNICAST, false, lines)).length
            <= 4096);
    List<OrfEntry> others =
        List.of(
            OrfEntry.removeAll(),
            OrfEntry.deny(7, Prefix.of("fd00::1")),
            new OrfEntry(OrfEntry.Action.REMOVE, false, 9, 33, 128, Prefix.of("fd00::/32")));
    RouteRefreshMessage message =
        RouteRefreshMessage.filter(AddressFamily.IPV6_UNICAST, true, others);
    assertEquals(message, WireMessages.decode(ENCODER.encode(message)));
  }

  @Test
  void openHasBothFormsOfParameters() {
    List<Capability> capabilities =
        List.of(
            new Capability.Multiprotocol(AddressFamily.IPV6_UNICAST),
            new Capability.ExtendedNextHop(
                List.of(new Capability.ExtendedNextHop.Encoding(AddressFamily.IPV4_UNICAST, 2))),
            new Capability.GracefulRestart(
                false,
                true,
                120,
                List.of(new Capability.GracefulRestart.Kept(AddressFamily.IPV6_UNICAST, true))),
            new Capability.Role(3),
            new Capability.LinkLocalNextHop(),
            new Capability.Unknown(73, new byte[] {1, 'x', 0}));
    for (boolean extended : new boolean[] {false, true}) {
      OpenMessage open = new OpenMessage(23456, 9, 0x0a000001, capabilities, extended);
      assertEquals(open, WireMessages.decode(ENCODER.encode(open)));
      OpenMessage bare = new OpenMessage(65001, 0, 1, List.of(), extended);
      assertEquals(bare, WireMessages.decode(ENCODER.encode(bare)));
    }
    List<Capability> long1 = List.of(new Capability.Unknown(99, new byte[255]));
    assertThrows(
        IllegalArgumentException.class,
        () -> ENCODER.encode(new OpenMessage(1, 9, 1, long1, false)));
  }

  @Test
  void badOpenIsAnsweredWithItsReason() {
    String rest = "fe4c 0009 0a000001 00";
    assertFault(2, 1, "version 3", WireMessages.message(1, "03" + rest));
    assertFault(2, 6, "hold time 2", WireMessages.message(1, "04 fe4c 0002 0a000001 00"));
    assertFault(2, 3, "0.0.0.0", WireMessages.message(1, "04 fe4c 0009 00000000 00"));
    assertFault(2, 0, "don't fill", WireMessages.message(1, "04 fe4c 0009 0a000001 05 0202"));
    assertFault(2, 0, "longer", WireMessages.message(1, "04 fe4c 0009 0a000001 03 020400"));
    assertFault(2, 4, "parameter 1", WireMessages.message(1, "04 fe4c 0009 0a000001 02 0100"));
    assertFault(2, 0, "capability", WireMessages.message(1, "04 fe4c 0009 0a000001 04 0202 4108"));
    OpenMessage open =
        WireMessages.decode(
            OpenMessage.class,
            WireMessages.message(1, "04 fe4c 0009 0a000001 07 0205 4103 000001"));
    assertEquals(
        List.of(new Capability.Unknown(65, new byte[] {0, 0, 1})),
        open.capabilities(),
        "a capability of the wrong length isn't one that is known");
  }

  @Test
  void brokenFramingIsReported() {
    byte[] garbage = "GET / HTTP/1.1\r\n\r\n".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    assertFault(1, 1, "marker", garbage);
    assertFault(1, 3, "type 6", WireMessages.message(6, ""));
    assertFault(1, 2, "not 20", WireMessages.message(4, "00"));
    assertFault(1, 2, "29 to 4096", WireMessages.message(1, "04"));
    byte[] huge = WireMessages.message(2, "00000000");
    WireBytes.put16(huge, 16, 4097);
    assertFault(1, 2, "not 4097", huge);
    WireOptions extended =
        new WireOptions(true, true, true, false, 65535, CodePoints.DEFAULT, Families.IPV6_UNICAST);
    assertNull(new MessageDecoder(extended).decode(huge, 0, huge.length), "more may come");
  }

  @Test
  void otherOperatorsSentenceIsShown() {
    NotificationMessage shutdown =
        WireMessages.decode(
            NotificationMessage.class,
            WireMessages.message(3, "06 02 13 706c616e652d31206d61696e74656e616e6365"));
    assertEquals(
        "Cease/administrative shutdown (6/2) \"plane-1 maintenance\"", shutdown.describe());
    assertEquals(shutdown, NotificationMessage.cease(2, "plane-1 maintenance"));
    assertEquals("", new NotificationMessage(6, 2, new byte[] {9, 'x'}).shutdownText());
    assertEquals("hold timer expired (4/0)", new NotificationMessage(4, 0).describe());
    assertEquals(
        "code 99 (99/1) with ff", new NotificationMessage(99, 1, new byte[] {-1}).describe());
    String endless = "\u00e9".repeat(200);
    assertEquals(127, NotificationMessage.cease(2, endless).shutdownText().length());
  }

  @Test
  void sameBytesGiveTheSameAttributes() {
    MessageDecoder decoder = new MessageDecoder(WireMessages.OPTIONS);
    PathAttributes first = null;
    for (int i = 0; i < 3; i++) {
      byte[] bytes =
          ENCODER.encode(
              UpdateMessage.announce(Nlri.of(new Prefix(1, i, 128)), ATTRIBUTES, NEXT_HOP));
      UpdateMessage update = (UpdateMessage) decoder.decode(bytes, 0, bytes.length);
      assertFalse(update == null || update.announced().isEmpty());
      if (first != null) {
        assertSame(first, update.attributes());
      }
      first = update.attributes();
    }
  }
}
