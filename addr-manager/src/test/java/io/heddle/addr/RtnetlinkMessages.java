package io.heddle.addr;

import java.io.IOException;
import java.io.InputStream;
import java.net.Inet6Address;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Messages for tests: some recorded from a kernel, others from a second, independent encoder. */
final class RtnetlinkMessages {
  private static final int CAPACITY = 4096;

  private RtnetlinkMessages() {}

  /** Returns a message that Linux 6.18 sent; the tests expect what iproute2 printed for it. */
  static byte[] golden(String name) throws IOException {
    try (InputStream hex = RtnetlinkMessages.class.getResourceAsStream("golden/" + name + ".hex")) {
      if (hex == null) {
        throw new IOException("no golden message " + name);
      }
      return HexFormat.of()
          .parseHex(new String(hex.readAllBytes(), StandardCharsets.US_ASCII).replace("\n", ""));
    }
  }

  static ByteBuffer buffer(byte[] message) {
    return ByteBuffer.wrap(message).order(ByteOrder.nativeOrder());
  }

  static byte[] encode(int type, NetworkLink link) {
    ByteBuffer message = start(type);
    int flags =
        (link.administrativelyUp() ? 0x1 : 0)
            | (link.loopback() ? 0x8 : 0)
            | (link.carrier() ? 0x10000 : 0);
    message.putInt(0).putInt(link.index()).putInt(flags).putInt(0);
    attribute(message, 3, (link.name() + "\0").getBytes(StandardCharsets.UTF_8));
    attribute(message, 4, number(link.mtuBytes()));
    attribute(message, 33, new byte[] {(byte) (link.carrier() ? 1 : 0)});
    attribute(message, 1, HexFormat.ofDelimiter(":").parseHex(link.macAddress()));
    if (link.parentIndex() != 0) {
      attribute(message, 5, number(Math.abs(link.parentIndex())));
    }
    if (link.parentIndex() < 0) {
      attribute(message, 37, number(0));
    }
    if (!link.kind().isEmpty()) {
      byte[] kind = link.kind().getBytes(StandardCharsets.UTF_8);
      ByteBuffer nested = ByteBuffer.allocate(4 + kind.length).order(ByteOrder.nativeOrder());
      nested.putShort((short) (4 + kind.length)).putShort((short) 1).put(kind);
      attribute(message, 18 | 0x8000, nested.array());
    }
    return finish(message);
  }

  static byte[] encode(int type, AssignedAddress address) {
    ByteBuffer message = start(type);
    boolean v6 = address.address() instanceof Inet6Address;
    message
        .put((byte) (v6 ? 10 : 2))
        .put((byte) address.prefixLength())
        .put((byte) 0)
        .put((byte) 0);
    message.putInt(address.interfaceIndex());
    attribute(message, 1, address.address().getAddress());
    attribute(message, 8, number(AddressFlag.toBits(address.flags())));
    return finish(message);
  }

  private static ByteBuffer start(int type) {
    ByteBuffer message = ByteBuffer.allocate(CAPACITY).order(ByteOrder.nativeOrder());
    return message.putInt(0).putShort((short) type).putShort((short) 0).putInt(0).putInt(0);
  }

  private static byte[] finish(ByteBuffer message) {
    message.putInt(0, message.position());
    byte[] bytes = new byte[message.position()];
    message.get(0, bytes);
    return bytes;
  }

  private static void attribute(ByteBuffer message, int type, byte[] value) {
    message.putShort((short) (4 + value.length)).putShort((short) type).put(value);
    while (message.position() % 4 != 0) {
      message.put((byte) 0);
    }
  }

  private static byte[] number(int value) {
    return ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(value).array();
  }
}
