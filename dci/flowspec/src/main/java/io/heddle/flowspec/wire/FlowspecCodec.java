package io.heddle.flowspec.wire;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.FamilyCodec;
import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.rule.FlowRule;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * IPv6 Flowspec routes, AFI 2 and SAFI 133 (RFC 8955 §4.1).
 *
 * <pre>
 * length 1, up to 239, or 2 with 0xf in front | components
 * </pre>
 *
 * A rule whose components are malformed, or of an unknown type, counts as withdrawn: its length is
 * known. Where a length runs past the end, the rules can't be told from each other.
 *
 * @param types which number stands for which field
 */
public record FlowspecCodec(ComponentTypes types) implements FamilyCodec<FlowRule> {
  static final int LONG_LENGTH = 0xf0;

  @Override
  public AddressFamily family() {
    return AddressFamily.IPV6_FLOWSPEC;
  }

  @Override
  public boolean hasNextHop() {
    return false;
  }

  @Override
  public @Nullable String decode(ByteBuffer routes, Sink<FlowRule> sink) {
    ComponentReader reader = new ComponentReader(types);
    while (routes.hasRemaining()) {
      int length = routes.get() & 0xff;
      if (length >= LONG_LENGTH) {
        if (!routes.hasRemaining()) {
          return "a rule's length ends in its first octet";
        }
        length = (length & 0xf) << 8 | routes.get() & 0xff;
      }
      if (length > routes.remaining()) {
        return "a rule of " + length + " bytes where " + routes.remaining() + " are left";
      }
      byte[] bytes = new byte[length];
      routes.get(bytes);
      String why = reader.read(bytes);
      if (why == null) {
        sink.route(FlowRule.read(bytes, reader.components()));
      } else {
        sink.malformed(FlowRule.malformed(bytes), why);
      }
    }
    return null;
  }

  @Override
  public byte[] encode(FlowRule rule) {
    byte[] bytes = rule.bytes();
    boolean isShort = bytes.length < LONG_LENGTH;
    ByteBuffer out = ByteBuffer.allocate(bytes.length + (isShort ? 1 : 2));
    if (isShort) {
      out.put((byte) bytes.length);
    } else {
      out.putShort((short) (LONG_LENGTH << 8 | bytes.length));
    }
    return out.put(bytes).array();
  }
}
