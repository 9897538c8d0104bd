package io.heddle.cli.doctor;

import io.heddle.addr.RocePorts;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;

/**
 * RoCEv2 packet that probes a plane, or answers a probe: a UD SEND ONLY to queue pair 1 with a
 * valid ICRC. So filters, queues and hashing treat it like a job's packets. A device drops it as a
 * management datagram without a receiver.
 *
 * <pre>
 *  0 BTH, 12 bytes: opcode 64h, 0, P_Key FFFFh, 0, queue pair 1, 0, sequence number
 * 12 DETH, 8 bytes: Q_Key 80010000h, 0, queue pair 1
 * 20 "HDLPROBE"   28 kind, 1 byte: 1 probe, 2 answer   32 number, 8 bytes   40 length of the text, 2 bytes
 * 42 text, UTF-8, then zeros to the requested length
 *    ICRC, the last 4 bytes
 * </pre>
 *
 * @param kind {@link #REQUEST} or {@link #ANSWER}
 * @param number number of the probe; an answer repeats it
 * @param text an answer's planes, in the form of {@link OfferedPlanes}
 * @param lengthBytes length of the whole UDP payload
 */
record ProbePacket(int kind, long number, String text, int lengthBytes) {
  static final int PORT = RocePorts.ROCE_V2;
  static final int REQUEST = 1;
  static final int ANSWER = 2;

  private static final int UDP_HEADER = 8;
  private static final int IPV4_HEADER = 20;
  private static final int IPV6_HEADER = 40;

  /** Packet size that every IPv6 link carries (RFC 8200, section 5). */
  static final int SMALLEST_BYTES = 1280 - IPV6_HEADER - UDP_HEADER;

  private static final int LARGEST_BYTES = 65_000;
  private static final long MAGIC = 0x4844_4c50_524f_4245L;
  private static final int BTH = 0x6400_ffff;
  private static final int QUEUE_PAIR = 1;
  private static final int Q_KEY = 0x8001_0000;
  private static final int MAGIC_AT = 20;
  private static final int KIND_AT = 28;
  private static final int NUMBER_AT = 32;
  private static final int TEXT_LENGTH_AT = 40;
  private static final int TEXT_AT = 42;
  private static final int ICRC_BYTES = 4;

  /* Returns the text as bytes. If it doesn't fit the packet, the last planes are left out. */
  private byte[] fitting() {
    String planes = text;
    byte[] words = planes.getBytes(StandardCharsets.UTF_8);
    while (words.length > lengthBytes - TEXT_AT - ICRC_BYTES) {
      planes = planes.substring(0, Math.max(0, planes.lastIndexOf(',')));
      words = planes.getBytes(StandardCharsets.UTF_8);
    }
    return words;
  }

  /** Returns the size of the IP and UDP headers in front of the payload. */
  static int headerBytes(InetAddress address) {
    return UDP_HEADER + (address instanceof Inet4Address ? IPV4_HEADER : IPV6_HEADER);
  }

  ByteBuffer encode(InetSocketAddress from, InetSocketAddress to) {
    ByteBuffer packet = ByteBuffer.allocate(lengthBytes);
    packet.putInt(BTH).putInt(QUEUE_PAIR).putInt((int) number & 0xffffff);
    packet.putInt(Q_KEY).putInt(QUEUE_PAIR);
    packet.putLong(MAGIC_AT, MAGIC).put(KIND_AT, (byte) kind).putLong(NUMBER_AT, number);
    byte[] words = fitting();
    packet.putShort(TEXT_LENGTH_AT, (short) words.length).put(TEXT_AT, words);
    int icrcAt = lengthBytes - ICRC_BYTES;
    packet.order(ByteOrder.LITTLE_ENDIAN).putInt(icrcAt, icrc(packet.array(), icrcAt, from, to));
    return packet.order(ByteOrder.BIG_ENDIAN).position(lengthBytes).flip();
  }

  /** Returns the packet; null if it isn't a whole probe packet. */
  static @Nullable ProbePacket decode(
      ByteBuffer packet, InetSocketAddress from, InetSocketAddress to) {
    int length = packet.remaining();
    int icrcAt = length - ICRC_BYTES;
    if (length < SMALLEST_BYTES || packet.getInt(0) != BTH || packet.getLong(MAGIC_AT) != MAGIC) {
      return null;
    }
    byte[] bytes = new byte[length];
    packet.get(0, bytes);
    int kind = bytes[KIND_AT];
    int words = Short.toUnsignedInt(packet.getShort(TEXT_LENGTH_AT));
    int icrc = Integer.reverseBytes(packet.getInt(icrcAt));
    if (kind != REQUEST && kind != ANSWER
        || words > icrcAt - TEXT_AT
        || icrc != icrc(bytes, icrcAt, from, to)) {
      return null;
    }
    return new ProbePacket(
        kind,
        packet.getLong(NUMBER_AT),
        new String(bytes, TEXT_AT, words, StandardCharsets.UTF_8),
        length);
  }

  static ByteBuffer buffer() {
    return ByteBuffer.allocate(LARGEST_BYTES);
  }

  /*
   * Returns the ICRC: CRC-32 over the packet's headers and payload, with ones in place of the
   * fields that routers may change.
   */
  private static int icrc(byte[] packet, int end, InetSocketAddress from, InetSocketAddress to) {
    int udpLength = UDP_HEADER + end + ICRC_BYTES;
    ByteBuffer headers = ByteBuffer.allocate(8 + headerBytes(from.getAddress()));
    headers.putLong(-1L);
    if (from.getAddress() instanceof Inet4Address) {
      /*
       * Linux sends identification 0 from an unconnected socket with don't-fragment set (decision
       * 46).
       */
      headers.putShort((short) 0x45ff).putShort((short) (IPV4_HEADER + udpLength));
      headers.putInt(0x4000).put((byte) -1).put((byte) 17).putShort((short) -1);
    } else {
      headers.putInt(0x6fff_ffff).putShort((short) udpLength).put((byte) 17).put((byte) -1);
    }
    headers.put(from.getAddress().getAddress()).put(to.getAddress().getAddress());
    headers.putShort((short) from.getPort()).putShort((short) to.getPort());
    headers.putShort((short) udpLength).putShort((short) -1);
    CRC32 crc = new CRC32();
    crc.update(headers.array());
    crc.update(packet, 0, 4);
    crc.update(0xff);
    crc.update(packet, 5, end - 5);
    return (int) crc.getValue();
  }
}
