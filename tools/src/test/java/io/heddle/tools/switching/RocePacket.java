package io.heddle.tools.switching;

import io.heddle.addr.AddressText;
import java.nio.ByteBuffer;

/** RoCEv2 packet as a port receives it, from the Ethernet header on. */
record RocePacket(
    String from, String to, int sourcePort, boolean marked, int sequence, int payload) {
  byte[] bytes() {
    ByteBuffer packet = ByteBuffer.allocate(14 + 40 + 8 + 12 + payload);
    packet.put(new byte[12]).putShort((short) 0x86dd);
    packet.putInt(0x60000000).putShort((short) (8 + 12 + payload));
    packet.put((byte) 17).put((byte) 64);
    packet.put(AddressText.parse(from).getAddress()).put(AddressText.parse(to).getAddress());
    packet.putShort((short) sourcePort).putShort((short) 4791);
    packet.putShort((short) (8 + 12 + payload)).putShort((short) 0);
    packet.putInt(0x0a40ffff).putInt((marked ? 1 : 0) << 24 | 17).putInt(sequence);
    return packet.array();
  }
}
