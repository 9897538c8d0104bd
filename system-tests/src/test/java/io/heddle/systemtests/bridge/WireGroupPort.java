package io.heddle.systemtests.bridge;

import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.HeaderChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * Port of a host with a plain UDP socket for each group. It checks each packet as an RDMA device
 * would.
 */
final class WireGroupPort implements GroupPort {
  private static final int ROOM_BYTES = 16_384;
  private static final int MOST_BYTES = 1024;
  /*
   * Largest number of datagrams in a poll, as with a device. With only one, a host that has waited
   * long for a processor would never catch up with the other host's datagrams.
   */
  private static final int BATCH = 64;
  private static final int SOURCE_QUEUE_PAIR = 0x4711;

  private final Gid own;
  private final List<Gid> groups;
  private final List<DatagramChannel> channels = new ArrayList<>();
  private final long packet = Memory.allocate(Arena.global(), ROOM_BYTES, 8);
  private final ByteBuffer view = Memory.ALL.asSlice(packet, ROOM_BYTES).asByteBuffer();
  private final HeaderChecksum headers = new HeaderChecksum();
  private final CRC32 crc = new CRC32();
  private int number;

  WireGroupPort(String interfaceName, Gid own, List<Gid> groups) throws IOException {
    this.own = own;
    this.groups = List.copyOf(groups);
    NetworkInterface link = NetworkInterface.getByName(interfaceName);
    for (Gid each : groups) {
      ProtocolFamily family =
          each.isIpv4Mapped() ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6;
      DatagramChannel channel = DatagramChannel.open(family);
      channels.add(channel);
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.setOption(StandardSocketOptions.IP_MULTICAST_IF, link);
      channel.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, false);
      channel.setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20);
      if (each.isIpv4Mapped()) {
        /*
         * With don't-fragment set, Linux sends identification 0. The CRC, which covers the
         * identification, assumes that.
         */
        channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
      }
      channel.bind(new InetSocketAddress(each.toAddress(), PacketFormat.ROCE_PORT));
      channel.join(each.toAddress(), link);
      channel.configureBlocking(false);
    }
  }

  @Override
  public int mostBytes() {
    return MOST_BYTES;
  }

  @Override
  public void send(int group, ByteBuffer payload, boolean hasImmediate, int immediate)
      throws IOException {
    int opcode = hasImmediate ? DatagramFormat.SEND_ONLY_WITH_IMMEDIATE : DatagramFormat.SEND_ONLY;
    int length = payload.remaining();
    int pad = -length & 3;
    DatagramFormat.write(
        packet,
        opcode,
        pad,
        DatagramFormat.MULTICAST_QUEUE_PAIR,
        number++ & PacketFormat.PSN_MASK,
        QUEUE_KEY,
        SOURCE_QUEUE_PAIR);
    if (hasImmediate) {
      DatagramFormat.setImmediate(packet, immediate);
    }
    long at = packet + DatagramFormat.headerBytes(opcode);
    MemorySegment.copy(MemorySegment.ofBuffer(payload), 0, Memory.ALL, at, length);
    Memory.clear(at + length, pad);
    int covered = DatagramFormat.headerBytes(opcode) + length + pad;
    Memory.setInt(packet + covered, crcOf(covered) ^ front(own, groups.get(group), covered));
    view.clear().limit(covered + PacketFormat.ICRC_BYTES);
    channels
        .get(group)
        .send(view, new InetSocketAddress(groups.get(group).toAddress(), PacketFormat.ROCE_PORT));
  }

  @Override
  public void poll(Heard heard) throws IOException {
    for (int group = 0; group < channels.size(); group++) {
      int more = BATCH;
      InetSocketAddress sender = receive(group);
      while (sender != null) {
        take(group, sender, view.position(), heard);
        sender = --more > 0 ? receive(group) : null;
      }
    }
  }

  private @Nullable InetSocketAddress receive(int group) throws IOException {
    return (InetSocketAddress) channels.get(group).receive(view.clear());
  }

  private void take(int group, InetSocketAddress sender, int length, Heard heard) {
    int covered = length - PacketFormat.ICRC_BYTES;
    Gid source = Gid.of(sender.getAddress());
    if (!DatagramFormat.isDatagram(packet, length)
        || PacketFormat.queuePair(packet) != DatagramFormat.MULTICAST_QUEUE_PAIR
        || DatagramFormat.queueKey(packet) != QUEUE_KEY
        || Memory.getInt(packet + covered)
            != (crcOf(covered) ^ front(source, groups.get(group), covered))) {
      throw new IllegalStateException("a packet of " + sender + " is none that a device takes");
    }
    int opcode = PacketFormat.opcode(packet);
    boolean immediate = opcode == DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
    int payload = DatagramFormat.payloadBytes(packet, length);
    heard.datagram(
        Memory.ALL.asSlice(packet + DatagramFormat.headerBytes(opcode), payload).asByteBuffer(),
        immediate,
        immediate ? DatagramFormat.immediate(packet) : 0);
  }

  private int crcOf(int covered) {
    crc.reset();
    crc.update(view.duplicate().clear().limit(covered));
    return (int) crc.getValue();
  }

  private int front(Gid source, Gid destination, int covered) {
    int port = PacketFormat.ROCE_PORT;
    return source.isIpv4Mapped()
        ? headers.ofIpv4((int) source.low(), port, (int) destination.low(), port, covered)
        : headers.ofIpv6(
            source.high(),
            source.low(),
            port,
            destination.high(),
            destination.low(),
            port,
            covered);
  }

  @Override
  public void close() throws IOException {
    for (DatagramChannel each : channels) {
      each.close();
    }
  }
}
