package io.heddle.bridge.wire;

import static io.heddle.bridge.fabric.FabricSocket.SOL_IP;
import static io.heddle.bridge.fabric.FabricSocket.SOL_IPV6;
import static io.heddle.bridge.fabric.FabricSocket.SOL_SOCKET;
import static io.heddle.bridge.fabric.FabricSocket.set;

import io.heddle.bridge.fabric.FabricSocket;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * UDP socket of a wire fabric, bound to RoCEv2's port and to an interface, for IPv6 and IPv4 (in
 * mapped form). Opened and closed on the control path.
 */
final class WireSocket implements AutoCloseable {
  private static final int SOL_UDP = 17;
  private static final int SO_SNDBUFFORCE = 32;
  private static final int SO_RCVBUFFORCE = 33;
  private static final int SO_SNDBUF = 7;
  private static final int SO_RCVBUF = 8;
  private static final int SO_TIMESTAMPNS = 35;
  private static final int SO_RXQ_OVFL = 40;
  private static final int IP_MTU_DISCOVER = 10;
  private static final int IPV6_MTU_DISCOVER = 23;
  private static final int IPV6_RECVPKTINFO = 49;
  private static final int IPV6_TRANSPARENT = 75;
  private static final int UDP_NO_CHECK6_RX = 102;
  private static final int UDP_GRO = 104;
  private static final int DISCOVER_DO = 2;
  private static final int BUFFER_BYTES = 32 << 20;

  private final int fd;
  private boolean closed;

  private WireSocket(int fd) {
    this.fd = fd;
  }

  /**
   * Opens the socket on an interface.
   *
   * @param ipv4 source address of packets to IPv4 groups, null for none; a path to an IPv6 group
   *     has its own source
   * @throws HeddleException if the port is in use or the interface is gone
   */
  static WireSocket open(String interfaceName, int interfaceIndex, @Nullable Gid ipv4, int hops) {
    int fd = FabricSocket.open(interfaceName, interfaceIndex, ipv4, hops);
    try {
      /*
       * Sets DF. With DF on an unconnected socket, the IPv4 identification is 0:
       * docs/decisions/bridge.md.
       */
      set(fd, SOL_IP, IP_MTU_DISCOVER, DISCOVER_DO);
      set(fd, SOL_IPV6, IPV6_MTU_DISCOVER, DISCOVER_DO);
      set(fd, SOL_IPV6, IPV6_RECVPKTINFO, 1);
      set(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1);
      set(fd, SOL_UDP, UDP_GRO, 1);
      set(fd, SOL_SOCKET, SO_TIMESTAMPNS, 1);
      set(fd, SOL_SOCKET, SO_RXQ_OVFL, 1);
      /* SO_RCVBUFFORCE needs CAP_NET_ADMIN; without it the system's limit applies. */
      if (LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES) < 0) {
        LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
      }
      if (LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES) < 0) {
        LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
      }
      FabricSocket.bind(
          fd,
          PacketFormat.ROCE_PORT,
          interfaceName,
          "UDP port 4791 of "
              + interfaceName
              + " is taken, by another bridge or a RoCE device that the kernel emulates; end it,"
              + " or move the interface to a network namespace and set its namespace");
      return new WireSocket(fd);
    } catch (RuntimeException failed) {
      LinuxCalls.close(fd);
      throw failed;
    }
  }

  /**
   * Allows packets whose source address isn't one of the system's.
   *
   * @throws HeddleException if the process lacks the privilege
   */
  void allowAnySource() {
    int result = LinuxCalls.setIntOption(fd, SOL_IPV6, IPV6_TRANSPARENT, 1);
    if (result == -Errno.EPERM) {
      throw new HeddleException(
          "unicast needs CAP_NET_ADMIN or CAP_NET_RAW, so that packets keep their senders'"
              + " addresses; start the bridge with one of them, or remove [unicast]");
    }
    SystemCallException.check("setsockopt(IPV6_TRANSPARENT)", result);
  }

  int fd() {
    return fd;
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      LinuxCalls.close(fd);
    }
  }
}
