package io.heddle.gateway;

import io.heddle.platform.NetworkNamespace;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;

/**
 * Sender of packets in the form of RoCEv2 from the near data centre. Each packet contains a unique
 * number.
 */
final class WanSender implements AutoCloseable {
  static final int PORT = 50_000;

  private final DatagramSocket socket;
  private long next;

  /**
   * @param source address of the host h1
   * @param first number of the first packet
   */
  WanSender(NetworkNamespace h1, String source, long first) {
    next = first;
    socket =
        h1.call(
            () -> new DatagramSocket(new InetSocketAddress(InetAddress.getByName(source), PORT)));
  }

  /** Returns the number of the next packet. */
  long next() {
    return next;
  }

  /** Sends one packet. Used by one thread at a time. */
  void send(String destination, int port, int queuePair) throws Exception {
    ByteBuffer payload = ByteBuffer.allocate(64);
    payload.putInt(0x0a40ffff).putInt(queuePair).putInt(0).putLong(next++);
    socket.send(new DatagramPacket(payload.array(), 64, InetAddress.getByName(destination), port));
  }

  @Override
  public void close() {
    socket.close();
  }
}
