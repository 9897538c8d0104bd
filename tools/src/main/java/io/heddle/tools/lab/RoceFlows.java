package io.heddle.tools.lab;

import io.heddle.platform.NetworkNamespace;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;

/**
 * RoCEv2 flows from host a of a {@link HashLab} to its peer, each with its own source port. The
 * peer discards the packets.
 */
final class RoceFlows implements AutoCloseable {
  private static final int PORT = 4791;
  private static final int PAYLOAD_BYTES = 1_024;
  private static final int BTH_BYTES = 12;
  private static final int WRITE_ONLY = 0x0a40ffff;
  private static final int ACKNOWLEDGE = 0x1100ffff;

  private final List<DatagramChannel> senders;
  private final DatagramChannel receiver;
  private final InetSocketAddress peer = new InetSocketAddress(HashLab.PEER, PORT);
  private int sequence;

  /**
   * Opens the sockets.
   *
   * @param firstPort source port of the first flow; further flows have the following ports
   */
  RoceFlows(HashLab lab, int firstPort, int flows) {
    receiver =
        NetworkNamespace.call(
            lab.namespace("b"), () -> bound(new InetSocketAddress(HashLab.PEER, PORT)));
    senders =
        NetworkNamespace.call(
            lab.namespace("a"),
            () -> {
              List<DatagramChannel> channels = new ArrayList<>();
              for (int i = 0; i < flows; i++) {
                channels.add(bound(new InetSocketAddress(HashLab.HOST, firstPort + i)));
              }
              return channels;
            });
  }

  private static DatagramChannel bound(InetSocketAddress own) throws IOException {
    return DatagramChannel.open(StandardProtocolFamily.INET6).bind(own);
  }

  /**
   * Sends {@code each} packets on every flow, alternating between the flows.
   *
   * @param data whether data packets are sent, which have a mark; otherwise protocol packets
   */
  void send(int each, boolean data) {
    ByteBuffer packet = ByteBuffer.allocate(BTH_BYTES + (data ? PAYLOAD_BYTES : 0));
    packet.putInt(0, data ? WRITE_ONLY : ACKNOWLEDGE).putInt(4, (data ? 1 : 0) << 24 | 17);
    try {
      for (int i = 0; i < each; i++) {
        packet.putInt(8, sequence++ & 0xffffff);
        for (DatagramChannel sender : senders) {
          sender.send(packet.rewind(), peer);
        }
      }
    } catch (IOException failed) {
      throw new LabException("the lab's host can't send: " + failed.getMessage(), failed);
    }
  }

  @Override
  public void close() {
    try {
      receiver.close();
      for (DatagramChannel sender : senders) {
        sender.close();
      }
    } catch (IOException failed) {
      throw new LabException("can't close a socket: " + failed.getMessage(), failed);
    }
  }
}
