package io.heddle.bgp.wire;

import static io.heddle.bgp.wire.NotificationMessage.BAD_MESSAGE_LENGTH;
import static io.heddle.bgp.wire.NotificationMessage.BAD_MESSAGE_TYPE;
import static io.heddle.bgp.wire.NotificationMessage.HEADER_ERROR;
import static io.heddle.bgp.wire.NotificationMessage.NOT_SYNCHRONIZED;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Decoder of a stream of bytes into messages. It caches attributes, so one decoder serves one
 * session from OPEN to its end. For one thread.
 */
public final class MessageDecoder {
  private static final int MARKER_BYTES = 16;
  static final int OPEN = 1;
  static final int UPDATE = 2;
  static final int NOTIFICATION = 3;
  static final int KEEPALIVE = 4;
  static final int ROUTE_REFRESH = 5;

  private final WireOptions options;
  private final UpdateDecoder updates;

  public MessageDecoder(WireOptions options) {
    this.options = options;
    this.updates = new UpdateDecoder(options);
  }

  /**
   * Returns the length in bytes of the message at {@code offset}, which {@link #decode} must have
   * accepted.
   */
  public static int messageBytes(byte[] bytes, int offset) {
    return WireBytes.u16(bytes, offset + MARKER_BYTES);
  }

  /**
   * Returns the message at {@code offset}, a fault, or null if more bytes are needed.
   *
   * @param available number of received bytes from {@code offset} on
   */
  public @Nullable DecodeResult decode(byte[] bytes, int offset, int available) {
    for (int i = 0; i < Math.min(available, MARKER_BYTES); i++) {
      if (bytes[offset + i] != -1) {
        return MessageFault.of(
            HEADER_ERROR,
            NOT_SYNCHRONIZED,
            "byte %s of the marker is 0x%02x: this isn't BGP, or a byte was lost"
                .formatted(i, bytes[offset + i]));
      }
    }
    if (available < BgpMessage.HEADER_BYTES) {
      return null;
    }
    int length = messageBytes(bytes, offset);
    int type = WireBytes.u8(bytes, offset + 18);
    MessageFault fault = header(length, type);
    if (fault != null) {
      return fault;
    }
    if (available < length) {
      return null;
    }
    int body = offset + BgpMessage.HEADER_BYTES;
    int bodyBytes = length - BgpMessage.HEADER_BYTES;
    return switch (type) {
      case OPEN -> OpenCodec.decode(bytes, body, bodyBytes);
      case UPDATE -> updates.decode(bytes, body, bodyBytes);
      case NOTIFICATION ->
          new NotificationMessage(
              WireBytes.u8(bytes, body),
              WireBytes.u8(bytes, body + 1),
              Arrays.copyOfRange(bytes, body + 2, body + bodyBytes));
      case ROUTE_REFRESH -> RouteRefreshCodec.decode(bytes, body, bodyBytes);
      default -> KeepaliveMessage.INSTANCE;
    };
  }

  private @Nullable MessageFault header(int length, int type) {
    int least = BgpMessage.HEADER_BYTES;
    int most = options.maxMessageBytes();
    switch (type) {
      case OPEN -> {
        least += OpenCodec.MIN_BODY_BYTES;
        most = BgpMessage.MAX_BYTES;
      }
      case UPDATE -> least += UpdateDecoder.MIN_BODY_BYTES;
      case NOTIFICATION -> least += 2;
      case KEEPALIVE -> most = BgpMessage.HEADER_BYTES;
      case ROUTE_REFRESH -> least += RouteRefreshCodec.MIN_BODY_BYTES;
      default -> {
        return MessageFault.of(
            HEADER_ERROR,
            BAD_MESSAGE_TYPE,
            new byte[] {(byte) type},
            "message type " + type + " isn't known");
      }
    }
    if (length < least || length > most) {
      return MessageFault.of(
          HEADER_ERROR,
          BAD_MESSAGE_LENGTH,
          new byte[] {(byte) (length >>> 8), (byte) length},
          "a message of type %s has %s to %s bytes, not %s".formatted(type, least, most, length));
    }
    return null;
  }
}
