package io.heddle.flowspec.wire;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.FamilyCodec;
import io.heddle.flowspec.rule.ComponentTypes;
import io.heddle.flowspec.rule.FlowRule;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Flowspec routes of one family (RFC 8955 §4.1): AFI 1 or 2, SAFI 133.
 *
 * <pre>
 * length 1, up to 239, or 2 with 0xf in front | components
 * </pre>
 *
 * A rule whose components are malformed, or of an unknown type, counts as withdrawn: its length is
 * known. Where a length runs past the end, the rules can't be told from each other.
 *
 * @param types which number stands for which field
 * @param ipv4 whether it is AFI 1
 */
public record FlowspecCodec(ComponentTypes types, boolean ipv4) implements FamilyCodec<FlowRule> {
  static final int LONG_LENGTH = 0xf0;

  /** IPv6's. */
  public FlowspecCodec(ComponentTypes types) {
    this(types, false);
  }

  /** IPv6's and IPv4's. */
  public static List<FlowspecCodec> both(ComponentTypes types) {
    return List.of(new FlowspecCodec(types, false), new FlowspecCodec(types, true));
  }

  @Override
  public AddressFamily family() {
    return ipv4 ? AddressFamily.IPV4_FLOWSPEC : AddressFamily.IPV6_FLOWSPEC;
  }

  @Override
  public boolean hasNextHop() {
    return false;
  }

  @Override
  public @Nullable String decode(ByteBuffer routes, Sink<FlowRule> sink) {
    ComponentReader reader = new ComponentReader(types, ipv4);
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
        sink.route(FlowRule.read(ipv4, bytes, reader.components()));
      } else {
        sink.malformed(FlowRule.malformed(ipv4, bytes), why);
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
