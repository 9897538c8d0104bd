package io.heddle.addr;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Codec of the rtnetlink messages about links and addresses (linux/netlink.h, linux/rtnetlink.h,
 * linux/if_link.h, linux/if_addr.h). All numbers are in the machine's byte order.
 *
 * <pre>
 * nlmsghdr   length 4 | type 2 | flags 2 | sequence 4 | port 4        then the payload, padded to 4
 * ifinfomsg  family 1 | pad 1 | type 2 | index 4 | flags 4 | change 4 then attributes
 * ifaddrmsg  family 1 | prefix length 1 | flags 1 | scope 1 | index 4 then attributes
 * rtattr     length 2 | type 2 | value, padded to 4                   length counts the header
 * </pre>
 */
final class Rtnetlink {
  static final int AF_NETLINK = 16;
  static final int NETLINK_ROUTE = 0;
  static final int HEADER_BYTES = 16;
  static final int ATTRIBUTE_HEADER_BYTES = 4;
  static final int LINK_BODY_BYTES = 16;
  static final int ADDRESS_BODY_BYTES = 8;

  static final int NLMSG_ERROR = 2;
  static final int NLMSG_DONE = 3;
  static final int NLMSG_OVERRUN = 4;
  static final int RTM_NEWLINK = 16;
  static final int RTM_DELLINK = 17;
  static final int RTM_GETLINK = 18;
  static final int RTM_NEWADDR = 20;
  static final int RTM_DELADDR = 21;
  static final int RTM_GETADDR = 22;

  static final int NLM_F_REQUEST = 0x1;
  static final int NLM_F_ACK = 0x4;
  static final int NLM_F_DUMP_INTR = 0x10;
  static final int NLM_F_DUMP = 0x300;

  static final int RTMGRP_LINK = 0x1;
  static final int RTMGRP_IPV4_IFADDR = 0x10;
  static final int RTMGRP_IPV6_IFADDR = 0x100;

  static final int AF_INET = 2;
  static final int AF_INET6 = 10;

  static final int IFLA_ADDRESS = 1;
  static final int IFLA_IFNAME = 3;
  static final int IFLA_MTU = 4;
  static final int IFLA_LINK = 5;
  static final int IFLA_LINKINFO = 18;
  static final int IFLA_CARRIER = 33;
  static final int IFLA_LINK_NETNSID = 37;
  static final int IFLA_INFO_KIND = 1;

  static final int IFA_ADDRESS = 1;
  static final int IFA_LOCAL = 2;
  static final int IFA_FLAGS = 8;

  static final int IFF_UP = 0x1;
  static final int IFF_LOOPBACK = 0x8;
  static final int IFF_LOWER_UP = 0x10000;

  /* The two highest bits of an attribute's type are flags (nested, network byte order). */
  private static final int ATTRIBUTE_TYPE_MASK = 0x3fff;

  private Rtnetlink() {}

  /** Returns the body of a request for all links (RTM_GETLINK) or all addresses (RTM_GETADDR). */
  static byte[] dumpBody(int type) {
    return new byte[type == RTM_GETLINK ? LINK_BODY_BYTES : ADDRESS_BODY_BYTES];
  }

  /**
   * Returns a request message: the header, then the body.
   *
   * @param flags NLM_F_* flags in addition to NLM_F_REQUEST
   * @param body the struct of this type of message, and attributes
   */
  static byte[] request(int type, int flags, int sequence, byte[] body) {
    ByteBuffer message =
        ByteBuffer.allocate(HEADER_BYTES + body.length).order(ByteOrder.nativeOrder());
    message.putInt(message.capacity()).putShort((short) type);
    message.putShort((short) (NLM_F_REQUEST | flags)).putInt(sequence).putInt(0).put(body);
    return message.array();
  }

  /**
   * Returns the length of the message at the buffer's position, header included; −1 if there is no
   * whole message.
   */
  static int messageLength(ByteBuffer buffer) {
    if (buffer.remaining() < HEADER_BYTES) {
      return -1;
    }
    int length = buffer.getInt(buffer.position());
    return length >= HEADER_BYTES && length <= buffer.remaining() ? length : -1;
  }

  /** Returns the distance from a message of this length to the next message. */
  static int aligned(int length) {
    return (length + 3) & ~3;
  }

  /**
   * Decodes a message of type NEWLINK, DELLINK, NEWADDR or DELADDR; returns null for a malformed or
   * irrelevant message. The position of {@code message} is its header; its limit is its end.
   */
  static @Nullable AddressEvent decode(ByteBuffer message) {
    int type = message.getShort(message.position() + 4) & 0xffff;
    ByteBuffer payload = slice(message, HEADER_BYTES, message.remaining() - HEADER_BYTES);
    return switch (type) {
      case RTM_NEWLINK, RTM_DELLINK -> {
        NetworkLink link = decodeLink(payload);
        yield link == null
            ? null
            : type == RTM_NEWLINK
                ? new AddressEvent.LinkChanged(link)
                : new AddressEvent.LinkRemoved(link);
      }
      case RTM_NEWADDR, RTM_DELADDR -> {
        AssignedAddress address = decodeAddress(payload);
        yield address == null
            ? null
            : type == RTM_NEWADDR
                ? new AddressEvent.AddressChanged(address)
                : new AddressEvent.AddressRemoved(address);
      }
      default -> null;
    };
  }

  private static @Nullable NetworkLink decodeLink(ByteBuffer payload) {
    if (payload.remaining() < LINK_BODY_BYTES) {
      return null;
    }
    /*
     * Skips other families: the kernel reports a bridge port a second time in family AF_BRIDGE,
     * with other attributes.
     */
    if (payload.get(0) != 0) {
      return null;
    }
    final int index = payload.getInt(4);
    final int flags = payload.getInt(8);
    String name = "";
    String mac = "";
    String kind = "";
    int mtu = 0;
    int parent = 0;
    boolean parentElsewhere = false;
    boolean carrier = (flags & IFF_LOWER_UP) != 0;
    Attributes attributes =
        new Attributes(slice(payload, LINK_BODY_BYTES, payload.remaining() - LINK_BODY_BYTES));
    while (attributes.next()) {
      ByteBuffer value = attributes.value();
      switch (attributes.type()) {
        case IFLA_IFNAME -> name = text(value);
        case IFLA_ADDRESS -> mac = macText(value);
        case IFLA_LINKINFO -> kind = kindOf(value);
        case IFLA_MTU -> mtu = value.remaining() >= 4 ? value.getInt(0) : 0;
        case IFLA_LINK -> parent = value.remaining() >= 4 ? value.getInt(0) : 0;
        case IFLA_LINK_NETNSID -> parentElsewhere = true;
        case IFLA_CARRIER -> carrier = value.hasRemaining() && value.get(0) != 0;
        default -> {
          /* Ignores some fifty other attributes of the kernel. */
        }
      }
    }
    if (attributes.isMalformed() || index <= 0 || name.isEmpty() || mtu < 0) {
      return null;
    }
    boolean peer = kind.equals("veth");
    return new NetworkLink(
        index,
        name,
        mtu,
        (flags & IFF_UP) != 0,
        carrier,
        (flags & IFF_LOOPBACK) != 0,
        mac,
        peer || parent < 0 ? 0 : parentElsewhere ? -parent : parent,
        kind);
  }

  private static @Nullable AssignedAddress decodeAddress(ByteBuffer payload) {
    if (payload.remaining() < ADDRESS_BODY_BYTES) {
      return null;
    }
    int family = payload.get(0) & 0xff;
    int addressBytes = family == AF_INET6 ? 16 : family == AF_INET ? 4 : 0;
    int prefixLength = payload.get(1) & 0xff;
    int flags = payload.get(2) & 0xff;
    int index = payload.getInt(4);
    byte @Nullable [] address = null;
    byte @Nullable [] local = null;
    Attributes attributes =
        new Attributes(
            slice(payload, ADDRESS_BODY_BYTES, payload.remaining() - ADDRESS_BODY_BYTES));
    while (attributes.next()) {
      ByteBuffer value = attributes.value();
      switch (attributes.type()) {
        case IFA_ADDRESS -> address = bytes(value);
        case IFA_LOCAL -> local = bytes(value);
        case IFA_FLAGS -> flags = value.remaining() >= 4 ? value.getInt(0) : flags;
        default -> {
          /* Ignores label, broadcast address and lifetimes. */
        }
      }
    }
    /*
     * On a point-to-point interface IFA_ADDRESS is the peer's address, and IFA_LOCAL is this
     * host's.
     */
    byte @Nullable [] own = local != null ? local : address;
    if (attributes.isMalformed()
        || own == null
        || addressBytes == 0
        || own.length != addressBytes
        || prefixLength > 8 * addressBytes
        || index <= 0) {
      return null;
    }
    return new AssignedAddress(
        index,
        AddressText.ofBytes(own),
        prefixLength,
        AddressFlag.ofBits(flags, family == AF_INET6));
  }

  private static String kindOf(ByteBuffer linkInfo) {
    Attributes nested = new Attributes(linkInfo);
    while (nested.next()) {
      if (nested.type() == IFLA_INFO_KIND) {
        return text(nested.value());
      }
    }
    return "";
  }

  private static ByteBuffer slice(ByteBuffer buffer, int offset, int length) {
    return buffer.slice(buffer.position() + offset, length).order(ByteOrder.nativeOrder());
  }

  private static byte[] bytes(ByteBuffer value) {
    byte[] raw = new byte[value.remaining()];
    value.get(0, raw);
    return raw;
  }

  private static String text(ByteBuffer value) {
    byte[] raw = bytes(value);
    int length = 0;
    while (length < raw.length && raw[length] != 0) {
      length++;
    }
    return new String(raw, 0, length, StandardCharsets.UTF_8);
  }

  private static String macText(ByteBuffer value) {
    return HexFormat.ofDelimiter(":").formatHex(bytes(value)).toLowerCase(Locale.ROOT);
  }

  /**
   * Iterator over consecutive attributes. It stops at the first attribute whose length doesn't fit.
   */
  private static final class Attributes {
    private final ByteBuffer run;
    private int at;
    private int length;
    private int nextAt;
    private boolean isMalformed;

    Attributes(ByteBuffer run) {
      this.run = run;
    }

    boolean next() {
      at = nextAt;
      int left = run.limit() - at;
      if (left <= 0) {
        return false;
      }
      length = left < ATTRIBUTE_HEADER_BYTES ? 0 : run.getShort(at) & 0xffff;
      if (length < ATTRIBUTE_HEADER_BYTES || length > left) {
        isMalformed = true;
        return false;
      }
      nextAt = at + aligned(length);
      return true;
    }

    int type() {
      return run.getShort(at + 2) & ATTRIBUTE_TYPE_MASK;
    }

    ByteBuffer value() {
      return slice(run, at + ATTRIBUTE_HEADER_BYTES, length - ATTRIBUTE_HEADER_BYTES);
    }

    boolean isMalformed() {
      return isMalformed;
    }
  }
}
