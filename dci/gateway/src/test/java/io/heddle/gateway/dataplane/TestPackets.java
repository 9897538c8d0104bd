package io.heddle.gateway.dataplane;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/** Builder of packets as received from a LAN, from the Ethernet header on. */
public final class TestPackets {
  private static final int PAYLOAD_BYTES = 64;

  private TestPackets() {}

  /** Returns a RoCEv2 packet to a queue pair. */
  public static byte[] roce(InetAddress from, InetAddress to, int sourcePort, int queuePair) {
    return udp(from, to, sourcePort, FlowHash.ROCE_PORT, queuePair, 0);
  }

  /**
   * Returns a UDP packet.
   *
   * @param queuePair number of the queue pair in a BTH at the start of the payload
   * @param tags number of VLAN tags
   */
  public static byte[] udp(
      InetAddress from, InetAddress to, int sourcePort, int port, int queuePair, int tags) {
    boolean ipv6 = from instanceof Inet6Address;
    ByteBuffer packet = ByteBuffer.allocate(14 + 4 * tags + (ipv6 ? 40 : 20) + 8 + PAYLOAD_BYTES);
    packet.put(new byte[12]);
    for (int i = 0; i < tags; i++) {
      packet.putShort((short) 0x8100).putShort((short) (100 + i));
    }
    packet.putShort((short) (ipv6 ? 0x86dd : 0x0800));
    if (ipv6) {
      packet.putInt(0x60000000).putShort((short) (8 + PAYLOAD_BYTES));
      packet.put((byte) FlowHash.UDP).put((byte) 64);
    } else {
      packet.putShort((short) 0x4500).putShort((short) (28 + PAYLOAD_BYTES)).putInt(0);
      packet.put((byte) 64).put((byte) FlowHash.UDP).putShort((short) 0);
    }
    packet.put(from.getAddress()).put(to.getAddress());
    packet.putShort((short) sourcePort).putShort((short) port);
    packet.putShort((short) (8 + PAYLOAD_BYTES)).putShort((short) 0);
    packet.put(bth(queuePair));
    return packet.array();
  }

  /** Returns the base transport header of a write to a queue pair. */
  public static byte[] bth(int queuePair) {
    return ByteBuffer.allocate(12).putInt(0x0a40ffff).putInt(queuePair).putInt(7).array();
  }

  /** Returns the length of a packet of {@link #udp} from its IP header on. */
  public static int ipBytes(InetAddress from) {
    return (from instanceof Inet6Address ? 40 : 20) + 8 + PAYLOAD_BYTES;
  }
}
