package io.heddle.addr;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Route that the kernel finds for a destination (linux/rtnetlink.h), in the machine's byte order.
 *
 * <pre>
 * rtmsg     family 1 | destination bits 1 | source bits 1 | tos 1
 *           | table 1 | protocol 1 | scope 1 | type 1 | flags 4       then attributes
 * rtnexthop length 2 | flags 1 | hops 1 | interface 4                 then attributes
 * </pre>
 *
 * @param type type of the route: RTN_UNICAST, RTN_LOCAL and so on
 * @param prefixLength length of the route's destination prefix in bits
 * @param interfaces outgoing interfaces; more than one if the route has several next hops
 */
record ResolvedRoute(int type, int prefixLength, List<Integer> interfaces) {
  static final int RTM_GETROUTE = 26;

  private static final int BODY_BYTES = 12;
  private static final int RTN_UNICAST = 1;
  private static final int RTM_F_FIB_MATCH = 0x2000;
  private static final int RTA_DST = 1;
  private static final int RTA_SRC = 2;
  private static final int RTA_OIF = 4;
  private static final int RTA_MULTIPATH = 9;
  private static final int NEXT_HOP_BYTES = 8;

  ResolvedRoute {
    interfaces = List.copyOf(interfaces);
  }

  boolean isUnicast() {
    return type == RTN_UNICAST;
  }

  boolean usesInterface(int interfaceIndex) {
    return interfaces.contains(interfaceIndex);
  }

  boolean usesOnlyInterface(int interfaceIndex) {
    return interfaces.stream().allMatch(each -> each == interfaceIndex);
  }

  /**
   * Returns the body of a request for the route to a destination. The answer has the route's
   * destination prefix from the routing table.
   *
   * @param from source address; null for any
   * @param interfaceIndex outgoing interface, 0 for any
   */
  static byte[] request(InetAddress to, @Nullable InetAddress from, int interfaceIndex) {
    byte[] destination = to.getAddress();
    int attribute = Rtnetlink.ATTRIBUTE_HEADER_BYTES + destination.length;
    int bytes =
        BODY_BYTES + attribute + (from == null ? 0 : attribute) + (interfaceIndex == 0 ? 0 : 8);
    ByteBuffer body = ByteBuffer.allocate(bytes).order(ByteOrder.nativeOrder());
    int bits = Byte.SIZE * destination.length;
    body.put((byte) (to instanceof Inet4Address ? Rtnetlink.AF_INET : Rtnetlink.AF_INET6));
    body.put((byte) bits).put((byte) (from == null ? 0 : bits)).put((byte) 0);
    body.putInt(0).putInt(RTM_F_FIB_MATCH);
    body.putShort((short) attribute).putShort((short) RTA_DST).put(destination);
    if (from != null) {
      body.putShort((short) attribute).putShort((short) RTA_SRC).put(from.getAddress());
    }
    if (interfaceIndex != 0) {
      body.putShort((short) 8).putShort((short) RTA_OIF).putInt(interfaceIndex);
    }
    return body.array();
  }

  /** Decodes the body of an answer; returns null if it is malformed. */
  static @Nullable ResolvedRoute decode(ByteBuffer body) {
    if (body.remaining() < BODY_BYTES) {
      return null;
    }
    var interfaces = new ArrayList<Integer>();
    int at = BODY_BYTES;
    while (body.remaining() - at >= Rtnetlink.ATTRIBUTE_HEADER_BYTES) {
      int length = body.getShort(at) & 0xffff;
      if (length < Rtnetlink.ATTRIBUTE_HEADER_BYTES || length > body.remaining() - at) {
        return null;
      }
      int type = body.getShort(at + 2) & 0x3fff;
      if (type == RTA_OIF && length >= 8) {
        interfaces.add(body.getInt(at + 4));
      } else if (type == RTA_MULTIPATH) {
        addNextHops(body, at + Rtnetlink.ATTRIBUTE_HEADER_BYTES, at + length, interfaces);
      }
      at += Rtnetlink.aligned(length);
    }
    return new ResolvedRoute(body.get(7) & 0xff, body.get(1) & 0xff, interfaces);
  }

  private static void addNextHops(ByteBuffer body, int from, int end, List<Integer> interfaces) {
    int at = from;
    while (end - at >= NEXT_HOP_BYTES) {
      int length = body.getShort(at) & 0xffff;
      if (length < NEXT_HOP_BYTES) {
        return;
      }
      interfaces.add(body.getInt(at + 4));
      at += Rtnetlink.aligned(length);
    }
  }
}
