package io.heddle.softroce;

import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.VerbsException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * What lies between a queue pair and its peer: the sending socket, both ends' addresses and ports,
 * and the checksums of either direction. The control path changes it under the progress lock, the
 * lock holder uses it.
 */
final class PeerLink {
  private static final int LARGEST_WINDOW = 960;

  private final FlowChecksum sendFlow = new FlowChecksum();
  private final FlowChecksum receiveFlow = new FlowChecksum();
  private @Nullable UdpSocket socket;
  private Gid localGid = new Gid(0, 0);
  private Gid remoteGid = new Gid(0, 0);
  private int scope;
  private int receivePort;
  private int receiveBufferBytes;
  private int remoteSourcePort;
  private boolean softPeer;

  /** The checksum of what is sent. */
  FlowChecksum sendFlow() {
    return sendFlow;
  }

  /** A sending socket of this address, for {@link #use}; needs no lock. */
  static UdpSocket open(SoftPort.Address address, Object queuePair) {
    try {
      return UdpSocket.bind(address.gid(), address.scope(), 0, false);
    } catch (SystemCallException failed) {
      throw new VerbsException(
          "modify_qp", queuePair + " to INIT on " + address.gid(), failed.errno());
    }
  }

  /** Takes over a socket from {@link #open}; under the lock. */
  void use(UdpSocket fresh, SoftPort.Address address, SoftContext.ReceivePort receiver) {
    close();
    socket = fresh;
    localGid = address.gid();
    scope = address.scope();
    receivePort = receiver.port();
    receiveBufferBytes = receiver.bufferBytes();
  }

  /** What a soft peer must know; null before there is a socket. */
  @Nullable EndpointParameters parameters() {
    UdpSocket open = socket;
    return open == null
        ? null
        : new EndpointParameters(receivePort, open.port(), receiveBufferBytes);
  }

  /**
   * Points the socket at the peer; needs no lock, since nothing is sent yet.
   *
   * @param peer null for a standard device
   */
  void connect(
      ReadyToReceiveAttributes attributes, @Nullable EndpointParameters peer, Object queuePair) {
    UdpSocket open = java.util.Objects.requireNonNull(socket);
    try {
      open.connect(attributes.remoteGid(), scope, portOf(peer));
    } catch (SystemCallException failed) {
      throw new VerbsException(
          "modify_qp", queuePair + " to RTR with peer " + attributes.remoteGid(), failed.errno());
    }
    open.setTrafficClass(attributes.trafficClass());
  }

  private static int portOf(@Nullable EndpointParameters peer) {
    return peer == null ? SoftContext.ROCE_PORT : peer.port();
  }

  /** From now on packets of this peer are good ones; under the lock. */
  void believe(Gid gid, @Nullable EndpointParameters peer) {
    remoteGid = gid;
    softPeer = peer != null;
    remoteSourcePort = peer == null ? 0 : peer.sourcePort();
    int sourcePort = java.util.Objects.requireNonNull(socket).port();
    sendFlow.reset(localGid, sourcePort, remoteGid, portOf(peer));
    receiveFlow.reset(remoteGid, remoteSourcePort, localGid, receivePort);
  }

  /**
   * Packets whose kernel buffers, 15 % of bookkeeping included, the peer's socket can hold; of a
   * standard peer, as many as ours.
   */
  int window(@Nullable EndpointParameters peer, int mtu) {
    int bufferBytes = peer == null ? receiveBufferBytes : peer.receiveBufferBytes();
    int each = Math.max(1024, (mtu + 64) * 115 / 100);
    return Math.max(8, Math.min(LARGEST_WINDOW, bufferBytes / each));
  }

  boolean isPeer(long high, long low, int port) {
    return high == remoteGid.high()
        && low == remoteGid.low()
        && (!softPeer || port == remoteSourcePort);
  }

  /** Of a packet whose BTH byte 4 has been made zero. */
  boolean checksumIsRight(ByteBuffer view, long base, long packet, int bytes, int sourcePort) {
    if (sourcePort != remoteSourcePort) {
      /* A standard peer chooses its port by its own rule. */
      remoteSourcePort = sourcePort;
      receiveFlow.setSourcePort(sourcePort);
    }
    int covered = bytes - PacketFormat.ICRC_BYTES;
    return receiveFlow.of(view, (int) (packet - base), covered)
        == Memory.ALL.get(Memory.NATIVE_INT, packet + covered);
  }

  /** The socket to send by; null before INIT. */
  @Nullable UdpSocket socket() {
    return socket;
  }

  void close() {
    if (socket != null) {
      socket.close();
      socket = null;
    }
  }
}
