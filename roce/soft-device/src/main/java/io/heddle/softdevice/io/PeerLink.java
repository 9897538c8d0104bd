package io.heddle.softdevice.io;

import io.heddle.addr.NetworkLink;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.LinkEnd;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.Gid;
import io.heddle.verbs.VerbsException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Link between an address of a queue pair and an address of its peer. It has the sending socket,
 * the addresses and ports of both ends, and the checksums of both directions. The control path
 * changes it under the progress lock; the lock's holder uses it.
 */
public final class PeerLink {
  private static final int LARGEST_WINDOW = 1920;

  /* ECN bits. If either is set, switches may mark packets instead of dropping them. */
  private static final int MARKABLE = 3;

  private final FlowChecksum sendFlow = new FlowChecksum();
  private final FlowChecksum receiveFlow = new FlowChecksum();
  private @Nullable UdpSocket socket;
  private @Nullable ReceivePort receiver;
  private @Nullable NetworkLink link;
  private Gid localGid = new Gid(0, 0);
  private Gid remoteGid = new Gid(0, 0);
  private int scope;
  private int receivePort;
  private int receiveBufferBytes;
  private int writeBytes;
  private int remotePort;
  private int remoteSourcePort;
  private int trafficClass;
  private int standardPacketBytes;
  private boolean softPeer;
  private boolean absent = true;

  /** Returns the checksum of sent packets. */
  FlowChecksum sendFlow() {
    return sendFlow;
  }

  /**
   * Returns the checksum of received packets. For a standard peer, it is set to the source port of
   * the last packet.
   */
  public FlowChecksum receiveFlow() {
    return receiveFlow;
  }

  /** Opens a sending socket of this address, for {@link #takeSocket}. The caller needs no lock. */
  public static UdpSocket open(SoftPort.Address address, SourcePorts ports, Object queuePair) {
    try {
      return ports.bind(address);
    } catch (SystemCallException failed) {
      throw new VerbsException(
          "modify_qp", queuePair + " to INIT on " + address.gid(), failed.errno());
    }
  }

  /** Takes over a socket from {@link #open}. The caller holds the lock. */
  void takeSocket(UdpSocket fresh, SoftPort.Address address, ReceivePort port) {
    close();
    socket = fresh;
    receiver = port;
    port.addUser();
    localGid = address.gid();
    link = address.link();
    scope = address.scope();
    receivePort = port.port();
    receiveBufferBytes = port.bufferBytes();
    writeBytes = PacketSizes.onLink(address.link().mtuBytes());
  }

  Gid localGid() {
    return localGid;
  }

  Gid remoteGid() {
    return remoteGid;
  }

  /** Returns the receive port, or 0 without an address. */
  int receivePort() {
    return socket == null ? 0 : receivePort;
  }

  /** Returns the source port, or 0 without an address. */
  int sourcePort() {
    UdpSocket open = socket;
    return open == null ? 0 : open.port();
  }

  int receiveBufferBytes() {
    return receiveBufferBytes;
  }

  /** Returns the largest WRITE payload per packet on the local link. */
  int writeBytes() {
    return writeBytes;
  }

  /**
   * Returns the largest WRITE payload per packet on the path to the peer. Called after the link is
   * connected.
   */
  int writeBytesOnPath() {
    UdpSocket open = socket;
    int mtu = open == null || absent ? 0 : open.pathMtuBytes();
    return mtu == 0 ? writeBytes : Math.min(writeBytes, PacketSizes.onLink(mtu));
  }

  /**
   * Connects the socket to the peer. The caller needs no lock, since nothing is sent yet. Returns
   * false if an end has no address.
   */
  boolean connect(LinkEnd peer, int classOfTraffic, EgressPinning pinning, Object queuePair) {
    UdpSocket open = socket;
    NetworkLink own = link;
    if (open == null || own == null || peer.port() == 0) {
      return false;
    }
    try {
      pinning.bindIfNeeded(open, own, peer.gid());
      open.connect(peer.gid(), scope, peer.port());
    } catch (SystemCallException failed) {
      throw new VerbsException(
          "modify_qp", queuePair + " to RTR with peer " + peer.gid(), failed.errno());
    }
    open.setTrafficClass(classOfTraffic);
    trafficClass = classOfTraffic;
    if ((classOfTraffic & MARKABLE) != 0 && receiver != null) {
      /* Switches may mark the peer's packets too, so the receiver reports marks. */
      receiver.socket().enableCongestionMarks();
    }
    return true;
  }

  /** Accepts packets of this peer from now on. The caller holds the lock. */
  void acceptPeer(LinkEnd peer, boolean connected, boolean isSoft) {
    UdpSocket open = socket;
    absent = !connected;
    if (open == null || absent) {
      return;
    }
    remoteGid = peer.gid();
    softPeer = isSoft;
    remotePort = peer.port();
    remoteSourcePort = peer.sourcePort();
    sendFlow.reset(localGid, open.port(), remoteGid, peer.port());
    receiveFlow.reset(remoteGid, remoteSourcePort, localGid, receivePort);
  }

  /** Sets the sizes of packets on this link. */
  void setSizes(PacketSizes sizes) {
    standardPacketBytes = sizes.narrowPacketBytes();
  }

  /** Returns the length of the longest packet within the path MTU. */
  int standardPacketBytes() {
    return standardPacketBytes;
  }

  /** Returns whether the peer is a soft device. */
  public boolean isSoft() {
    return softPeer;
  }

  /** Returns whether another link has the same addresses, port and traffic class. */
  public boolean hasSamePath(PeerLink other) {
    return this == other
        || remotePort == other.remotePort
            && trafficClass == other.trafficClass
            && remoteGid.low() == other.remoteGid.low()
            && remoteGid.high() == other.remoteGid.high()
            && localGid.low() == other.localGid.low()
            && localGid.high() == other.localGid.high();
  }

  /** Returns the destination as text, or an empty text if an end has no address. */
  String destination() {
    return absent ? "" : "UDP port " + remotePort + " of " + remoteGid;
  }

  /** Returns whether an end has no address or no route. */
  boolean isAbsent() {
    return absent;
  }

  /**
   * Returns the largest window, in packets: those that fit both a socket buffer of this size, with
   * 15 % overhead, and the transmit ring.
   */
  static int window(int bufferBytes, PacketSizes sizes) {
    int each = Math.max(1024, (sizes.sentWriteBytes() + 64) * 115 / 100);
    int most = Math.min(LARGEST_WINDOW, TransmitRing.SLOTS * sizes.packetsOfTrain());
    return Math.max(8, Math.min(most, bufferBytes / each));
  }

  boolean isPeer(long high, long low, int port) {
    return high == remoteGid.high()
        && low == remoteGid.low()
        && (!softPeer || port == remoteSourcePort);
  }

  /**
   * Returns whether the checksum of a packet is valid. The caller has set byte 4 of the packet's
   * BTH to zero.
   */
  public boolean isChecksumRight(
      ByteBuffer view, long base, long packet, int bytes, int sourcePort) {
    if (sourcePort != remoteSourcePort) {
      /* A standard peer chooses its source port itself. */
      remoteSourcePort = sourcePort;
      receiveFlow.setSourcePort(sourcePort);
    }
    int covered = bytes - PacketFormat.ICRC_BYTES;
    return receiveFlow.of(view, (int) (packet - base), covered)
        == Memory.ALL.get(Memory.NATIVE_INT, packet + covered);
  }

  /** Returns the sending socket, or null before INIT. */
  @Nullable UdpSocket socket() {
    return socket;
  }

  void close() {
    if (socket != null) {
      socket.close();
      socket = null;
    }
    if (receiver != null) {
      receiver.removeUser();
      receiver = null;
    }
  }
}
