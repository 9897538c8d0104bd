package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.util.Arrays;

/**
 * Fuzz test: any bytes are a message, a reported fault, or the beginning of a message. With {@code
 * JAZZER_FUZZ=1} the fuzzer searches for other inputs.
 */
class WireFuzzTest {
  /* The first byte selects the negotiated options, the second byte the message type. */
  @FuzzTest(maxDuration = "30s")
  void anyBodyIsAMessageOrAFault(byte[] bytes) {
    if (bytes.length < 2) {
      return;
    }
    boolean fourOctets = (bytes[0] & 1) == 0;
    WireOptions options =
        new WireOptions(
            fourOctets,
            (bytes[0] & 2) == 0,
            (bytes[0] & 4) == 0,
            (bytes[0] & 16) != 0,
            (bytes[0] & 8) == 0 ? BgpMessage.MAX_BYTES : BgpMessage.MAX_EXTENDED_BYTES,
            CodePoints.DEFAULT,
            families(bytes[0] >> 5 & 3));
    int length = Math.min(bytes.length - 2, options.maxMessageBytes() - BgpMessage.HEADER_BYTES);
    byte[] message = new byte[BgpMessage.HEADER_BYTES + length];
    Arrays.fill(message, 0, 16, (byte) -1);
    WireBytes.put16(message, 16, message.length);
    message[18] = bytes[1];
    System.arraycopy(bytes, 2, message, BgpMessage.HEADER_BYTES, length);
    DecodeResult decoded = WireMessages.decode(message, options);
    switch (decoded) {
      case MessageFault fault -> assertFalse(fault.why().isEmpty());
      case UpdateMessage update -> assertReencodes(update, options);
      case OpenMessage open -> {
        if (open.capabilities().stream().noneMatch(WireFuzzTest::isLossy)) {
          OpenMessage extended =
              new OpenMessage(
                  open.autonomousSystem(),
                  open.holdTimeSeconds(),
                  open.identifier(),
                  open.capabilities(),
                  true);
          assertEquals(extended, WireMessages.decode(encode(extended, options), options));
        }
      }
      case RouteRefreshMessage refresh -> {
        if (refresh.subtype() == RouteRefreshMessage.REQUEST) {
          assertEquals(refresh, WireMessages.decode(encode(refresh, options), options));
        }
      }
      case NotificationMessage notification -> {
        assertFalse(notification.describe().isEmpty());
        assertEquals(notification, WireMessages.decode(encode(notification, options), options));
      }
      case KeepaliveMessage keepalive -> assertEquals(0, length);
    }
  }

  private static Families families(int choice) {
    return switch (choice) {
      case 0 -> Families.IPV6_UNICAST;
      case 1 -> Families.IPV6_UNICAST.with(WordsCodec.INSTANCE);
      case 2 -> Families.UNICAST.with(WordsCodec.INSTANCE);
      default -> Families.IPV4_UNICAST;
    };
  }

  /*
   * Returns whether encoding a decoded capability may give other bytes: each filter offer gets an
   * entry of its own, and reserved bits are dropped.
   */
  private static boolean isLossy(Capability capability) {
    return capability instanceof Capability.OutboundRouteFilter;
  }

  private static byte[] encode(BgpMessage message, WireOptions options) {
    return new MessageEncoder(options).encode(message);
  }

  private static void assertReencodes(UpdateMessage update, WireOptions options) {
    update.announced().forEach((high, low, bits) -> assertTrue(bits <= Prefix.MAX_LENGTH));
    assertFalse(update.attributes().toString() == null);
    assertTrue(update.announced().isEmpty() || update.nextHop() != null);
    for (AttributeFault fault : update.faults()) {
      assertFalse(fault.why().isEmpty());
      assertTrue(
          fault.treatment() != AttributeFault.Treatment.WITHDRAW || update.announced().isEmpty());
    }
    if (!update.announced().isEmpty() && options.fourOctetAs()) {
      UpdateMessage again =
          (UpdateMessage)
              WireMessages.decode(
                  encode(
                      UpdateMessage.announce(
                          Nlri.of(update.announced().prefix(0)),
                          update.attributes(),
                          update.nextHop()),
                      options),
                  options);
      assertEquals(update.attributes(), again.attributes());
    }
  }

  @FuzzTest(maxDuration = "10s")
  void anyStreamIsWalkedToItsEnd(byte[] bytes) {
    MessageDecoder decoder = new MessageDecoder(WireMessages.OPTIONS);
    int at = 0;
    while (decoder.decode(bytes, at, bytes.length - at) instanceof BgpMessage) {
      int length = MessageDecoder.messageBytes(bytes, at);
      assertTrue(length >= BgpMessage.HEADER_BYTES && length <= bytes.length - at);
      at += length;
    }
  }
}
