package io.heddle.bgp.wire;

import static io.heddle.bgp.wire.NotificationMessage.BAD_IDENTIFIER;
import static io.heddle.bgp.wire.NotificationMessage.OPEN_ERROR;
import static io.heddle.bgp.wire.NotificationMessage.UNACCEPTABLE_HOLD_TIME;
import static io.heddle.bgp.wire.NotificationMessage.UNSUPPORTED_PARAMETER;
import static io.heddle.bgp.wire.NotificationMessage.UNSUPPORTED_VERSION;

import java.util.ArrayList;
import java.util.List;

/** Codec of OPEN bodies, in the forms of RFC 4271 and RFC 9072. */
final class OpenCodec {
  static final int MIN_BODY_BYTES = 10;
  private static final int CAPABILITIES_PARAMETER = 2;
  private static final int EXTENDED = 255;
  private static final int UNSPECIFIC = 0;

  private OpenCodec() {}

  static DecodeResult decode(byte[] bytes, int start, int length) {
    int version = WireBytes.u8(bytes, start);
    if (version != OpenMessage.VERSION) {
      return MessageFault.of(
          OPEN_ERROR,
          UNSUPPORTED_VERSION,
          new byte[] {0, OpenMessage.VERSION},
          "the peer speaks BGP version " + version + ", not 4");
    }
    int holdTime = WireBytes.u16(bytes, start + 3);
    if (holdTime == 1 || holdTime == 2) {
      return MessageFault.of(
          OPEN_ERROR, UNACCEPTABLE_HOLD_TIME, "hold time " + holdTime + " s is below 3 s");
    }
    int identifier = WireBytes.i32(bytes, start + 5);
    if (identifier == 0) {
      return MessageFault.of(OPEN_ERROR, BAD_IDENTIFIER, "the peer's BGP identifier is 0.0.0.0");
    }
    int at = start + MIN_BODY_BYTES;
    int end = start + length;
    int parameters = WireBytes.u8(bytes, start + 9);
    boolean extended = parameters != 0 && end - at >= 3 && WireBytes.u8(bytes, at) == EXTENDED;
    if (extended) {
      parameters = WireBytes.u16(bytes, at + 1);
      at += 3;
    }
    if (parameters != end - at) {
      return MessageFault.of(
          OPEN_ERROR,
          UNSPECIFIC,
          "optional parameters of %s bytes don't fill the %s that are left"
              .formatted(parameters, end - at));
    }
    List<Capability> capabilities = new ArrayList<>();
    int header = extended ? 3 : 2;
    while (at < end) {
      int type = WireBytes.u8(bytes, at);
      int size =
          end - at < header
              ? -1
              : extended ? WireBytes.u16(bytes, at + 1) : WireBytes.u8(bytes, at + 1);
      if (size < 0 || size > end - at - header) {
        return MessageFault.of(
            OPEN_ERROR, UNSPECIFIC, "optional parameter " + type + " is longer than the message");
      }
      if (type != CAPABILITIES_PARAMETER) {
        return MessageFault.of(
            OPEN_ERROR, UNSUPPORTED_PARAMETER, "optional parameter " + type + " is unknown");
      }
      if (!addCapabilities(bytes, at + header, at + header + size, capabilities)) {
        return MessageFault.of(
            OPEN_ERROR, UNSPECIFIC, "a capability is longer than its optional parameter");
      }
      at += header + size;
    }
    return new OpenMessage(
        WireBytes.u16(bytes, start + 1), holdTime, identifier, capabilities, extended);
  }

  private static boolean addCapabilities(byte[] bytes, int start, int end, List<Capability> to) {
    int at = start;
    while (at < end) {
      int size = end - at < 2 ? -1 : WireBytes.u8(bytes, at + 1);
      if (size < 0 || size > end - at - 2) {
        return false;
      }
      to.add(CapabilityCodec.decode(WireBytes.u8(bytes, at), bytes, at + 2, size));
      at += 2 + size;
    }
    return true;
  }

  /**
   * Writes all capabilities in one parameter.
   *
   * @throws IllegalArgumentException if the capabilities don't fit RFC 4271's form and RFC 9072's
   *     isn't requested
   */
  static void encode(OpenMessage open, WireWriter out) {
    WireWriter capabilities = new WireWriter();
    open.capabilities().forEach(each -> CapabilityCodec.encode(each, capabilities));
    int size = capabilities.size();
    out.u8(OpenMessage.VERSION).u16(open.autonomousSystem()).u16(open.holdTimeSeconds());
    out.u32(open.identifier());
    if (open.extendedParameters()) {
      out.u8(EXTENDED).u8(EXTENDED).u16(size == 0 ? 0 : size + 3);
      if (size > 0) {
        out.u8(CAPABILITIES_PARAMETER).u16(size);
      }
    } else {
      if (size + 2 >= EXTENDED) {
        throw new IllegalArgumentException(
            size + " bytes of capabilities need extended parameters (RFC 9072)");
      }
      out.u8(size == 0 ? 0 : size + 2);
      if (size > 0) {
        out.u8(CAPABILITIES_PARAMETER).u8(size);
      }
    }
    out.bytes(capabilities.toArray());
  }
}
