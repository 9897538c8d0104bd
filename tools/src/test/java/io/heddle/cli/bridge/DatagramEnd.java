package io.heddle.cli.bridge;

import io.heddle.bridge.cm.ManagementDatagram;
import io.heddle.platform.Memory;
import io.heddle.platform.NetworkNamespace;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.HeaderChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.zip.CRC32;

/**
 * Sender and receiver of RoCEv2 datagrams at one address of a host, by a plain UDP socket. On the
 * wire it looks like an RDMA device.
 */
final class DatagramEnd implements AutoCloseable {
  private static final int BUFFER_BYTES = 4096;

  private final Gid address;
  private final Arena arena = Arena.ofShared();
  private final long packet = Memory.allocate(arena, BUFFER_BYTES, 8);
  private final ByteBuffer view = Memory.ALL.asSlice(packet, BUFFER_BYTES).asByteBuffer();
  private final HeaderChecksum headers = new HeaderChecksum();
  private final CRC32 crc = new CRC32();
  private final DatagramChannel channel;
  private int length;
  private Gid from = new Gid(0, 0);

  /** Opens an end for an address, in the network namespace that has the address. */
  DatagramEnd(String namespace, Gid address) {
    this.address = address;
    channel = NetworkNamespace.call(namespace, () -> open(address));
  }

  private static DatagramChannel open(Gid address) {
    try {
      DatagramChannel opened =
          DatagramChannel.open(
              address.isIpv4Mapped() ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
      opened.configureBlocking(false);
      return opened.bind(new InetSocketAddress(address.toAddress(), PacketFormat.ROCE_PORT));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  Gid address() {
    return address;
  }

  /** Returns the address in memory of the received packet, or of the packet being built. */
  long packet() {
    return packet;
  }

  /**
   * Returns the address in memory of the payload of the received packet, or of the packet being
   * built.
   */
  long payload() {
    return packet + DatagramFormat.HEADER_BYTES;
  }

  int lengthBytes() {
    return length;
  }

  /** Returns the sender of the last received packet. */
  Gid from() {
    return from;
  }

  /** Sends the management datagram that was written to the payload. */
  void sendMad(Gid to) {
    DatagramFormat.write(
        packet,
        0,
        ManagementDatagram.QUEUE_PAIR,
        0,
        ManagementDatagram.QUEUE_KEY,
        ManagementDatagram.QUEUE_PAIR);
    sealAndSend(to, ManagementDatagram.BYTES);
  }

  /** Sends a number from one queue pair to another. */
  void sendNumber(Gid to, int queuePair, int sourceQueuePair, int queueKey, long number) {
    DatagramFormat.write(packet, 0, queuePair, 0, queueKey, sourceQueuePair);
    Memory.ALL.set(Memory.NETWORK_LONG, payload(), number);
    sealAndSend(to, Long.BYTES);
  }

  /** Completes the packet being built with its CRC and sends it. */
  void sealAndSend(Gid to, int payloadBytes) {
    int covered = DatagramFormat.HEADER_BYTES + payloadBytes;
    Memory.setInt(packet + covered, crcOf(covered) ^ front(address, to, covered));
    sendRaw(to, covered + PacketFormat.ICRC_BYTES);
  }

  /** Sends the packet being built unchanged. */
  void sendRaw(Gid to, int lengthBytes) {
    try {
      channel.send(
          view.clear().limit(lengthBytes),
          new InetSocketAddress(to.toAddress(), PacketFormat.ROCE_PORT));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /**
   * Receives a packet without waiting.
   *
   * @return false if there is no packet
   * @throws AssertionError if a device would drop the packet
   */
  boolean receive() {
    InetSocketAddress sender;
    try {
      sender = (InetSocketAddress) channel.receive(view.clear());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    if (sender == null) {
      return false;
    }
    length = view.position();
    from = Gid.of(sender.getAddress());
    int covered = length - PacketFormat.ICRC_BYTES;
    if (!DatagramFormat.isDatagram(packet, length)
        || sender.getPort() != PacketFormat.ROCE_PORT
        || Memory.getInt(packet + covered) != (crcOf(covered) ^ front(from, address, covered))) {
      throw new AssertionError(address + " got a packet that is none, from " + sender);
    }
    return true;
  }

  private int crcOf(int covered) {
    crc.reset();
    crc.update(view.clear().limit(covered));
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
  public void close() {
    try {
      channel.close();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } finally {
      arena.close();
    }
  }
}
