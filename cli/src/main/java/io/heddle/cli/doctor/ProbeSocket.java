package io.heddle.cli.doctor;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * UDP socket at a plane's address, usually at port 4791. Its packets are never fragmented. Used by
 * one thread.
 */
final class ProbeSocket implements AutoCloseable {
  private final DatagramChannel channel;
  private final InetSocketAddress own;

  /** A packet and its sender. */
  record Received(ProbePacket packet, InetSocketAddress from) {}

  /**
   * Opens the socket.
   *
   * @throws IOException if the port is in use, for example by a running job's soft device
   */
  ProbeSocket(InetAddress address, int port) throws IOException {
    own = new InetSocketAddress(address, port);
    channel =
        DatagramChannel.open(
            address instanceof Inet4Address
                ? StandardProtocolFamily.INET
                : StandardProtocolFamily.INET6);
    try {
      channel.setOption(ExtendedSocketOptions.IP_DONTFRAGMENT, true);
      channel.bind(own);
    } catch (IOException failure) {
      channel.close();
      throw failure;
    }
  }

  /**
   * Sends a packet.
   *
   * @throws IOException if the kernel knows that the packet is too long for the path, or that the
   *     destination is unreachable
   */
  void send(ProbePacket packet, InetSocketAddress to) throws IOException {
    channel.send(packet.encode(own, to), to);
  }

  /** Waits for the next probe packet and returns it. */
  Received receive() throws IOException {
    channel.configureBlocking(true);
    while (true) {
      Received received = take();
      if (received != null) {
        return received;
      }
    }
  }

  /** Waits for the next probe packet and returns it; null if none arrives within the timeout. */
  @Nullable Received receive(long timeoutMs) throws IOException {
    channel.configureBlocking(false);
    long deadline = System.nanoTime() + timeoutMs * 1_000_000;
    while (System.nanoTime() - deadline < 0) {
      Received received = take();
      if (received != null) {
        return received;
      }
      java.util.concurrent.locks.LockSupport.parkNanos(200_000);
    }
    return null;
  }

  private @Nullable Received take() throws IOException {
    ByteBuffer buffer = ProbePacket.buffer();
    InetSocketAddress from = (InetSocketAddress) channel.receive(buffer);
    if (from == null) {
      return null;
    }
    ProbePacket packet = ProbePacket.decode(buffer.flip(), from, own);
    return packet == null ? null : new Received(packet, from);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
