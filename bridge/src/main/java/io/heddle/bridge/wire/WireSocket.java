package io.heddle.bridge.wire;

import static io.heddle.bridge.fabric.SocketOptions.check;
import static io.heddle.bridge.fabric.SocketOptions.set;

import io.heddle.bridge.fabric.SocketOptions;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import org.jspecify.annotations.Nullable;

/**
 * UDP socket of a wire fabric, bound to RoCEv2's port and to an interface, for IPv6 and IPv4 (in
 * mapped form). Opened and closed on the control path.
 */
final class WireSocket implements AutoCloseable {
  private static final int AF_INET6 = 10;
  private static final int SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0x80000 | 0x800;
  private static final int SOL_IP = 0;
  private static final int SOL_SOCKET = 1;
  private static final int SOL_UDP = 17;
  private static final int SOL_IPV6 = 41;
  private static final int SO_SNDBUFFORCE = 32;
  private static final int SO_RCVBUFFORCE = 33;
  private static final int SO_SNDBUF = 7;
  private static final int SO_RCVBUF = 8;
  private static final int SO_TIMESTAMPNS = 35;
  private static final int SO_RXQ_OVFL = 40;
  private static final int IP_MTU_DISCOVER = 10;
  private static final int IP_MULTICAST_TTL = 33;
  private static final int IP_MULTICAST_LOOP = 34;
  private static final int IP_MULTICAST_ALL = 49;
  private static final int IPV6_MULTICAST_IF = 17;
  private static final int IPV6_MULTICAST_HOPS = 18;
  private static final int IPV6_MULTICAST_LOOP = 19;
  private static final int IPV6_MTU_DISCOVER = 23;
  private static final int IPV6_V6ONLY = 26;
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
    int fd =
        check(
            "socket(AF_INET6, SOCK_DGRAM)",
            LinuxCalls.socket(AF_INET6, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0));
    try {
      set(fd, SOL_IPV6, IPV6_V6ONLY, 0);
      SocketOptions.bindToDevice(fd, interfaceName);
      /*
       * Sets DF. With DF on an unconnected socket, the IPv4 identification is 0:
       * docs/decisions/bridge.md.
       */
      set(fd, SOL_IP, IP_MTU_DISCOVER, DISCOVER_DO);
      set(fd, SOL_IPV6, IPV6_MTU_DISCOVER, DISCOVER_DO);
      set(fd, SOL_IP, IP_MULTICAST_LOOP, 0);
      set(fd, SOL_IPV6, IPV6_MULTICAST_LOOP, 0);
      /*
       * Receives the packets of groups that other sockets have joined. IPv6 sockets do so by
       * default.
       */
      set(fd, SOL_IP, IP_MULTICAST_ALL, 1);
      set(fd, SOL_IP, IP_MULTICAST_TTL, hops);
      set(fd, SOL_IPV6, IPV6_MULTICAST_HOPS, hops);
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
      sendGroupsFrom(fd, interfaceIndex, ipv4);
      bind(fd, interfaceName);
      return new WireSocket(fd);
    } catch (RuntimeException failed) {
      LinuxCalls.close(fd);
      throw failed;
    }
  }

  private static void sendGroupsFrom(int fd, int interfaceIndex, @Nullable Gid ipv4) {
    if (ipv4 != null) {
      SocketOptions.sendGroupsFrom(fd, interfaceIndex, ipv4);
    }
    set(fd, SOL_IPV6, IPV6_MULTICAST_IF, interfaceIndex);
  }

  private static void bind(int fd, String interfaceName) {
    try (Arena arena = Arena.ofConfined()) {
      long name = Memory.allocate(arena, WireSendPath.NAME_BYTES + 4, 8);
      Memory.ALL.set(Memory.NATIVE_SHORT, name, (short) AF_INET6);
      Memory.ALL.set(Memory.NETWORK_SHORT, name + 2, (short) PacketFormat.ROCE_PORT);
      int result = LinuxCalls.bind(fd, name, WireSendPath.NAME_BYTES);
      if (result == -Errno.EADDRINUSE) {
        throw new HeddleException(
            "UDP port 4791 of "
                + interfaceName
                + " is taken, by another bridge or a RoCE device that the kernel emulates; end it,"
                + " or move the interface to a network namespace and set namespace=");
      }
      check("bind([::]:4791 on " + interfaceName + ")", result);
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
              + " addresses; start the bridge with one of them, or remove the unicast line");
    }
    check("setsockopt(IPV6_TRANSPARENT)", result);
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
