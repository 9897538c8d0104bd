package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests of IPv4 unicast in its own fields (RFC 4271 §4.3) and with IPv6 next hops (RFC 8950). */
class Ipv4UnicastTest {
  private static final WireOptions BOTH = WireOptions.DEFAULT.withFamilies(Families.UNICAST);
  private static final MessageEncoder ENCODER = new MessageEncoder(BOTH);
  private static final PathAttributes ATTRIBUTES =
      PathAttributes.of(PathAttribute.Origin.IGP, new PathAttribute.Path(AsPath.of(65001)));
  private static final NextHop NEXT_HOP = NextHop.of(Prefix.of("10.0.0.1").address());
  private static final String ORIGIN = "40 01 01 00";
  private static final String PATH = "40 02 06 02 01 0000 fde9";
  private static final String TEN = "40 03 04 0a000001";

  private static DecodeResult decode(byte[] message) {
    return WireMessages.decode(message, BOTH);
  }

  /* Decodes an UPDATE; the parameters are the contents of its three parts, in hex. */
  private static UpdateMessage update(String withdrawn, String attributes, String announced) {
    return assertInstanceOf(UpdateMessage.class, decode(message(withdrawn, attributes, announced)));
  }

  private static byte[] message(String withdrawn, String attributes, String announced) {
    int gone = WireMessages.bytes(withdrawn).length;
    int length = WireMessages.bytes(attributes).length;
    return WireMessages.message(
        2, "%04x%s%04x%s%s".formatted(gone, withdrawn, length, attributes, announced));
  }

  @Test
  void routesRoundTrip() {
    UpdateMessage update =
        UpdateMessage.announce(
            Nlri.of(
                Prefix.of("0.0.0.0/0"),
                Prefix.of("10.0.0.0/8"),
                Prefix.of("10.128.0.0/9"),
                Prefix.of("192.0.2.7")),
            ATTRIBUTES,
            NEXT_HOP);
    assertEquals(update, decode(ENCODER.encode(update)));
    UpdateMessage gone = UpdateMessage.withdraw(Nlri.of(Prefix.of("10.1.0.0/16")));
    assertEquals(gone, decode(ENCODER.encode(gone)));
  }

  @Test
  void fieldsFollowRfc4271() {
    byte[] announced =
        ENCODER.encode(
            UpdateMessage.announce(Nlri.of(Prefix.of("10.2.0.0/15")), ATTRIBUTES, NEXT_HOP));
    String body = HexFormat.of().formatHex(announced).substring(2 * BgpMessage.HEADER_BYTES);
    assertEquals(("0000 0014" + ORIGIN + PATH + TEN + "0f 0a02").replace(" ", ""), body);
    byte[] withdrawn = ENCODER.encode(UpdateMessage.withdraw(Nlri.of(Prefix.of("192.0.2.0/24"))));
    assertEquals(
        "0004 18c00002 0000".replace(" ", ""),
        HexFormat.of().formatHex(withdrawn).substring(2 * BgpMessage.HEADER_BYTES));
  }

  @Test
  void oneMessageMayHaveRoutesOfBothFamilies() {
    String reach = "80 0e 1a 0002 01 10 fd000000000000000000000000000001 00 20 fd0000aa";
    String unreach = "80 0f 08 0002 01 20 fd0000bb";
    UpdateMessage read =
        update("10 0a05", ORIGIN + PATH + TEN + reach + unreach, "10 0a06 18 0a0700");
    assertEquals("[10.5.0.0/16, fd00:bb::/32]", read.withdrawn().toString());
    assertEquals("[fd00:aa::/32, 10.6.0.0/16, 10.7.0.0/24]", read.announced().toString());
    assertTrue(read.faults().isEmpty(), read.faults()::toString);
  }

  @Test
  void endOfRibIsAMessageWithoutAnything() {
    List<UpdateMessage> ends = UpdateMessage.endsOfRib(Families.UNICAST);
    assertEquals(
        List.of(AddressFamily.IPV6_UNICAST, AddressFamily.IPV4_UNICAST),
        ends.stream().map(UpdateMessage::endOfRib).toList());
    ends.forEach(each -> assertEquals(each, decode(ENCODER.encode(each))));
    assertEquals(BgpMessage.HEADER_BYTES + 4, ENCODER.encode(ends.get(1)).length);
    assertEquals(
        AddressFamily.IPV4_UNICAST, update("", "80 0f 03 0001 01", "").endOfRib(), "as RFC 8950");
  }

  @Test
  void nextHopMayBeOfIpv6() {
    String reach = "80 0e 18 0001 01 10 fd000000000000000000000000000001 00 10 0a06";
    UpdateMessage read = update("", ORIGIN + PATH + reach, "");
    assertEquals("[10.6.0.0/16]", read.announced().toString());
    assertEquals("fd00::1", String.valueOf(read.nextHop()));
  }

  @Test
  void routesWithoutAValidNextHopAreWithdrawn() {
    assertWithdrawn("attribute 3", ORIGIN + PATH);
    for (String impossible : List.of("00000000", "7f000001", "e0000001", "a9fe0001")) {
      assertWithdrawn("attribute 3", ORIGIN + PATH + "40 03 04" + impossible);
    }
    assertWithdrawn("attribute 3", ORIGIN + PATH + "40 03 03 0a0000");
    assertWithdrawn("attribute 2", ORIGIN + TEN);
  }

  private static void assertWithdrawn(String what, String attributes) {
    UpdateMessage read = update("", attributes, "10 0a06");
    assertEquals("[10.6.0.0/16]", read.withdrawn().toString(), attributes);
    assertTrue(read.announced().isEmpty(), attributes);
    assertEquals(what, "attribute " + read.faults().getFirst().code(), attributes);
  }

  @Test
  void unroutablePrefixesAreIgnored() {
    UpdateMessage read =
        update("", ORIGIN + PATH + TEN, "08 7f 04 e0 10 a9fe 08 00 00 20 0a000007");
    assertEquals("[0.0.0.0/0, 10.0.0.7/32]", read.announced().toString());
    assertEquals(4, read.ignored());
  }

  @Test
  void inseparableRoutesEndTheSession() {
    for (byte[] message :
        List.of(
            message("21 0a000000 00", ORIGIN, ""),
            message("10 0a", ORIGIN, ""),
            message("", ORIGIN + PATH + TEN, "21 0a000000 00"),
            message("", ORIGIN + PATH + TEN, "18 0a00"))) {
      MessageFault fault = assertInstanceOf(MessageFault.class, decode(message));
      assertEquals(NotificationMessage.UPDATE_ERROR, fault.notification().code());
      assertEquals(NotificationMessage.INVALID_NETWORK_FIELD, fault.notification().subcode());
    }
  }

  @Test
  void unagreedIpv4FieldsAreIgnored() {
    UpdateMessage read =
        assertInstanceOf(
            UpdateMessage.class,
            WireMessages.decode(message("10 0a05", ORIGIN + PATH + TEN, "10 0a06")));
    assertTrue(read.announced().isEmpty() && read.withdrawn().isEmpty());
    assertEquals(1, read.skippedFamilies());
    MessageEncoder six = new MessageEncoder(WireMessages.OPTIONS);
    assertEquals(
        List.of(),
        six.encodeAll(
            UpdateMessage.announce(Nlri.of(Prefix.of("10.6.0.0/16")), ATTRIBUTES, NEXT_HOP)));
  }

  @Test
  void manyRoutesAreSplitIntoMessages() {
    List<Prefix> all =
        IntStream.range(0, 3_000).mapToObj(i -> Prefix.ipv4(0x0a000000 + i, 32)).toList();
    List<Prefix> come = new ArrayList<>();
    List<Prefix> gone = new ArrayList<>();
    for (byte[] each :
        ENCODER.encodeAll(UpdateMessage.announce(Nlri.of(all), ATTRIBUTES, NEXT_HOP))) {
      assertTrue(each.length <= BgpMessage.MAX_BYTES);
      come.addAll(((UpdateMessage) decode(each)).announced().prefixes());
    }
    for (byte[] each : ENCODER.encodeAll(UpdateMessage.withdraw(Nlri.of(all)))) {
      assertTrue(each.length <= BgpMessage.MAX_BYTES);
      gone.addAll(((UpdateMessage) decode(each)).withdrawn().prefixes());
    }
    assertEquals(all, come);
    assertEquals(all, gone);
  }

  @Test
  void ipv4FiltersRoundTrip() {
    RouteRefreshMessage filter =
        RouteRefreshMessage.filter(
            AddressFamily.IPV4_UNICAST,
            true,
            List.of(
                OrfEntry.permit(5, Prefix.of("10.0.0.7")),
                OrfEntry.deny(10, Prefix.of("10.0.0.0/9"))));
    byte[] message = ENCODER.encode(filter);
    assertEquals(filter, decode(message));
    assertTrue(
        HexFormat.of()
            .formatHex(message)
            .endsWith("00000005000020" + "0a000007" + "20" + "0000000a000009" + "0a00"));
  }
}
