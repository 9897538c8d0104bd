package io.heddle.bgp.flowspec.wire;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.FamilyCodec;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Codec of Flowspec routes of one address family (RFC 8955 §4.1): AFI 1 or 2, SAFI 133.
 *
 * <pre>
 * length 1 (up to 239) or 2 (first four bits are 1) | components
 * </pre>
 *
 * A rule with malformed or unknown components counts as withdrawn, since its length is known. If a
 * length exceeds the input, the rules can't be separated, and the whole attribute is malformed.
 *
 * @param types component type numbers of the fields
 * @param ipv4 whether the routes are of AFI 1
 */
public record FlowspecCodec(ComponentTypes types, boolean ipv4) implements FamilyCodec<FlowRule> {
  static final int LONG_LENGTH = 0xf0;

  /** Creates the codec of IPv6 rules. */
  public FlowspecCodec(ComponentTypes types) {
    this(types, false);
  }

  /** Returns the codecs of IPv6 rules and of IPv4 rules. */
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
