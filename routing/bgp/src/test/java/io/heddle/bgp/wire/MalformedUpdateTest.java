package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.AttributeFault.Treatment;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests of RFC 7606: a fault withdraws the routes or discards the attribute, and rarely ends the
 * session.
 */
class MalformedUpdateTest {
  private static final Prefix ROUTE = Prefix.of("fd00:900::/32");
  private static final String REACH =
      "800e1a 0002 01 10 fd0000ff000000000000000000000002 00 20fd000900";
  private static final String ORIGIN = "40010100";
  private static final String PATH = "400206 0201 0000fe4c";

  private static UpdateMessage decode(String attributes) {
    return WireMessages.decode(UpdateMessage.class, WireMessages.update(attributes));
  }

  private static void assertWithdrawn(int code, String attributes) {
    UpdateMessage update = decode(attributes);
    assertEquals(List.of(ROUTE), update.withdrawn().prefixes());
    assertTrue(update.announced().isEmpty());
    assertEquals(Treatment.WITHDRAW, update.faults().getFirst().treatment());
    assertEquals(code, update.faults().getFirst().code());
  }

  private static UpdateMessage assertDiscarded(int code, String attributes) {
    UpdateMessage update = decode(attributes);
    assertEquals(List.of(ROUTE), update.announced().prefixes());
    assertTrue(update.withdrawn().isEmpty());
    assertEquals(1, update.faults().size());
    assertEquals(Treatment.DISCARD, update.faults().getFirst().treatment());
    assertEquals(code, update.faults().getFirst().code());
    return update;
  }

  private static void assertReset(int subcode, byte[] message) {
    MessageFault fault = assertInstanceOf(MessageFault.class, WireMessages.decode(message));
    assertEquals(NotificationMessage.UPDATE_ERROR, fault.notification().code());
    assertEquals(subcode, fault.notification().subcode());
  }

  @Test
  void wellFormedOneIsARoute() {
    UpdateMessage update = decode(REACH + ORIGIN + PATH);
    assertEquals(List.of(ROUTE), update.announced().prefixes());
    assertEquals(List.of(), update.faults());
  }

  @Test
  void malformedAttributeOfTheRouteWithdrawsIt() {
    assertWithdrawn(1, REACH + "40010103" + PATH);
    assertWithdrawn(1, REACH + "4001020000" + PATH);
    assertWithdrawn(1, REACH + "c0010100" + PATH);
    assertWithdrawn(2, REACH + ORIGIN + "400206 0202 0000fe4c");
    assertWithdrawn(2, REACH + ORIGIN + "400206 0501 0000fe4c");
    assertWithdrawn(2, REACH + ORIGIN + "400202 0200");
    assertWithdrawn(4, REACH + ORIGIN + PATH + "800403 000001");
    assertWithdrawn(8, REACH + ORIGIN + PATH + "c00803 000001");
    assertWithdrawn(16, REACH + ORIGIN + PATH + "c01007 0180c0a8010101");
    assertWithdrawn(16, REACH + ORIGIN + PATH + "c01000");
    assertWithdrawn(32, REACH + ORIGIN + PATH + "c02008 0000000100000002");
    assertWithdrawn(200, REACH + ORIGIN + PATH + "40c804 61626364");
    assertWithdrawn(14, "c" + REACH.substring(1) + ORIGIN + PATH);
  }

  @Test
  void missingMandatoryAttributeWithdrawsTheRoute() {
    assertWithdrawn(1, REACH + PATH);
    assertWithdrawn(2, REACH + ORIGIN);
    assertWithdrawn(1, REACH);
  }

  @Test
  void malformedAttributeWithoutInfluenceIsDiscarded() {
    assertDiscarded(26, REACH + ORIGIN + PATH + "801a0b 01000c 0000000000000005");
    assertDiscarded(26, REACH + ORIGIN + PATH + "c01a0b 01000b 0000000000000005");
    assertDiscarded(26, REACH + ORIGIN + PATH + "801a02 0100");
    assertDiscarded(6, REACH + ORIGIN + PATH + "40060100");
    assertDiscarded(7, REACH + ORIGIN + PATH + "c00706 fe4c 0a000001");
    assertDiscarded(5, REACH + ORIGIN + PATH + "400504 00000064");
    UpdateMessage twice =
        assertDiscarded(4, REACH + ORIGIN + PATH + "800404 00000001 800404 00000002");
    PathAttribute.MultiExitDiscriminator first =
        twice.attributes().find(PathAttribute.MultiExitDiscriminator.class);
    assertEquals(new PathAttribute.MultiExitDiscriminator(1), first);
  }

  @Test
  void unknownOptionalAttributeIsKept() {
    UpdateMessage update = decode(REACH + ORIGIN + PATH + "c0c804 61626364 80fd00");
    assertEquals(List.of(ROUTE), update.announced().prefixes());
    assertEquals(
        List.of(
            new PathAttribute.Unknown(0xc0, 200, new byte[] {0x61, 0x62, 0x63, 0x64}),
            new PathAttribute.Unknown(0x80, 253, new byte[0])),
        update.attributes().all().subList(2, 4));
  }

  @Test
  void overrunningAttributeWithdrawsKnownRoutes() {
    assertWithdrawn(2, REACH + ORIGIN + "400216 0201 0000fe4c");
    assertWithdrawn(0, REACH + ORIGIN + PATH + "40");
    assertReset(1, WireMessages.update("400216 0201 0000fe4c" + ORIGIN));
  }

  @Test
  void sessionEndsIfRoutesCannotBeSeparated() {
    assertReset(1, WireMessages.update(REACH + REACH + ORIGIN + PATH));
    assertReset(9, WireMessages.update(ORIGIN + PATH + "800e05 0002 01 10 00"));
    assertReset(9, WireMessages.update(ORIGIN + PATH + "800e0a 0002 01 04 0a000001 00 00"));
    assertReset(9, WireMessages.update(REACH.replace("20fd000900", "81fd000900") + ORIGIN + PATH));
    assertReset(9, WireMessages.update("800f02 0002"));
    assertReset(9, WireMessages.update("800f05 0002 01 20fd"));
    assertReset(1, WireMessages.message(2, "0005 0000"));
    assertReset(1, WireMessages.message(2, "0000 0005 40"));
  }

  @Test
  void routesOfOtherFamiliesAreSkipped() {
    UpdateMessage flowspec =
        decode(
            "800e17000285000011014000fd00000b0000000028a1000012344"
                + "0".substring(1)
                + "001010040020602010000fe4cc0100880060000000000"
                + "00");
    assertTrue(flowspec.announced().isEmpty());
    assertEquals(1, flowspec.skippedFamilies());
    UpdateMessage ipv4 =
        WireMessages.decode(
            UpdateMessage.class,
            WireMessages.message(
                2, "0004 180a0001 0014 " + ORIGIN + PATH + "400304 0a000001 180a0002"));
    assertTrue(ipv4.withdrawn().isEmpty() && ipv4.announced().isEmpty());
    assertEquals(1, ipv4.skippedFamilies());
  }

  @Test
  void bitsBehindAPrefixAreIgnored() {
    UpdateMessage update = decode(REACH.replace("20fd000900", "1ffd000901") + ORIGIN + PATH);
    assertEquals(List.of(Prefix.of("fd00:900::/31")), update.announced().prefixes());
  }

  @Test
  void everyTruncationIsDecodedOrReported() throws Exception {
    for (var each : WireMessages.fromDaemons().entrySet()) {
      byte[] whole = each.getValue();
      for (int length = 0; length < whole.length; length++) {
        MessageDecoder decoder = new MessageDecoder(WireMessages.OPTIONS);
        assertNull(decoder.decode(Arrays.copyOf(whole, length), 0, length), each.getKey());
        if (length >= BgpMessage.HEADER_BYTES) {
          byte[] lying = Arrays.copyOf(whole, length);
          WireBytes.put16(lying, 16, length);
          assertNotNull(decoder.decode(lying, 0, length));
        }
      }
    }
  }

  @Test
  void everyFlippedBitIsDecodedOrReported() throws Exception {
    for (var each : WireMessages.fromDaemons().entrySet()) {
      byte[] whole = each.getValue();
      for (int bit = 0; bit < 8 * whole.length; bit++) {
        byte[] flipped = whole.clone();
        flipped[bit / 8] ^= (byte) (1 << bit % 8);
        DecodeResult decoded =
            new MessageDecoder(WireMessages.OPTIONS).decode(flipped, 0, flipped.length);
        boolean lengthGrew = decoded == null && bit / 8 >= 16 && bit / 8 < 18;
        assertTrue(decoded != null || lengthGrew, each.getKey() + " bit " + bit);
      }
    }
  }
}
