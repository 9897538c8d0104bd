package io.heddle.softdevice.io;

import io.heddle.addr.Egress;
import io.heddle.addr.NetworkLink;
import io.heddle.platform.Errno;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;

/**
 * UDP socket bound to a local address: created, bound, connected and closed on the control path.
 */
public final class UdpSocket implements AutoCloseable {
  static final int SOCKADDR_BYTES = 28;

  public static final int AF_INET6 = 10;
  public static final int SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0x80000 | 0x800;
  private static final int SOL_SOCKET = 1;
  private static final int SO_SNDBUF = 7;
  private static final int SO_RCVBUF = 8;
  private static final int SO_SNDBUFFORCE = 32;
  private static final int SO_RCVBUFFORCE = 33;
  private static final int IPPROTO_IPV6 = 41;
  private static final int IPV6_V6ONLY = 26;
  static final int SOL_UDP = 17;
  private static final int UDP_NO_CHECK6_RX = 102;
  static final int UDP_SEGMENT = 103;
  private static final int UDP_GRO = 104;
  private static final int BUFFER_BYTES = 32 << 20;

  private final int fd;
  private final IpOptions options;
  private final Gid address;
  private final int port;
  private boolean isSegmenting = true;
  private boolean allowsZeroCopy = true;
  private int defaultSegmentBytes;
  private boolean canFragment;
  private boolean isFragmenting;
  private boolean closed;

  /** Takes over a bound socket. */
  UdpSocket(int fd, Gid address, int port) {
    this.fd = fd;
    this.address = address;
    options = IpOptions.of(address);
    this.port = port;
  }

  /**
   * Opens a socket bound to the address.
   *
   * @param scope interface index for a link-local address, otherwise 0
   * @param port port number, or 0 for any
   * @throws SystemCallException with EADDRINUSE if the port is taken, or EADDRNOTAVAIL if the
   *     address was removed
   */
  public static UdpSocket bind(Gid address, int scope, int port, boolean receives) {
    int fd =
        SystemCallException.check(
            "socket(AF_INET6, SOCK_DGRAM)",
            LinuxCalls.socket(AF_INET6, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0));
    try {
      /* Lets the socket use mapped IPv4 addresses too, so that all sockets are of one kind. */
      LinuxCalls.setIntOption(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
      /* RoCE packets may not be fragmented. */
      IpOptions options = IpOptions.of(address);
      LinuxCalls.setIntOption(fd, options.level, options.mtuDiscover, 2);
      if (receives) {
        SystemCallException.check(
            "setsockopt(UDP_NO_CHECK6_RX)",
            LinuxCalls.setIntOption(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1));
        SystemCallException.check(
            "setsockopt(UDP_GRO)", LinuxCalls.setIntOption(fd, SOL_UDP, UDP_GRO, 1));
        /* Reports only fragmented packets, for a counter. */
        LinuxCalls.setIntOption(fd, options.level, options.fragmentSize, 1);
        /*
         * SO_RCVBUFFORCE needs CAP_NET_ADMIN. Without it, the system's limit caps the buffer, and
         * the window follows the buffer.
         */
        if (LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES) < 0) {
          LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_RCVBUF, BUFFER_BYTES);
        }
      } else if (LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES) < 0) {
        LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_SNDBUF, BUFFER_BYTES);
      }
      try (Arena arena = Arena.ofConfined()) {
        long name = Memory.allocate(arena, SOCKADDR_BYTES + 8, 8);
        writeName(name, address, scope, port);
        SystemCallException.check(
            "bind([" + address + "]:" + port + ")", LinuxCalls.bind(fd, name, SOCKADDR_BYTES));
        Memory.ALL.set(Memory.NATIVE_INT, name + SOCKADDR_BYTES, SOCKADDR_BYTES);
        SystemCallException.check(
            "getsockname", LinuxCalls.getsockname(fd, name, name + SOCKADDR_BYTES));
        return new UdpSocket(fd, address, Memory.ALL.get(Memory.NETWORK_SHORT, name + 2) & 0xffff);
      }
    } catch (RuntimeException failed) {
      LinuxCalls.close(fd);
      throw failed;
    }
  }

  private static void writeName(long at, Gid address, int scope, int port) {
    Memory.ALL.set(Memory.NATIVE_SHORT, at, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_SHORT, at + 2, (short) port);
    Memory.ALL.set(Memory.NATIVE_INT, at + 4, 0);
    Memory.ALL.set(Memory.NETWORK_LONG, at + 8, address.high());
    Memory.ALL.set(Memory.NETWORK_LONG, at + 16, address.low());
    Memory.ALL.set(Memory.NATIVE_INT, at + 24, scope);
  }

  /**
   * Binds the socket to this interface. Called before {@link #connect}.
   *
   * @return 0, or the negated errno
   */
  int bindToInterface(NetworkLink link) {
    return Egress.bind(fd, link, address.isIpv4Mapped());
  }

  void connect(Gid peer, int scope, int peerPort) {
    try (Arena arena = Arena.ofConfined()) {
      long name = Memory.allocate(arena, SOCKADDR_BYTES, 8);
      writeName(name, peer, scope, peerPort);
      SystemCallException.check(
          "connect([" + peer + "]:" + peerPort + ")", LinuxCalls.connect(fd, name, SOCKADDR_BYTES));
    }
  }

  void setTrafficClass(int trafficClass) {
    LinuxCalls.setIntOption(fd, options.level, options.trafficClass, trafficClass);
  }

  /** Enables reports of congestion marks with each packet, at a small cost per packet. */
  void enableCongestionMarks() {
    LinuxCalls.setIntOption(fd, options.level, options.receiveTrafficClass, 1);
  }

  public int fd() {
    return fd;
  }

  Gid address() {
    return address;
  }

  public int port() {
    return port;
  }

  /** Returns whether the kernel may segment a send. The caller holds the progress lock. */
  boolean isSegmenting() {
    return isSegmenting;
  }

  /** Disables segmentation, which the kernel refused. The caller holds the progress lock. */
  void stopSegmenting() {
    isSegmenting = false;
  }

  /**
   * Sets the socket's default segment size, for sends without control message, such as pages from a
   * pipe. The size only grows, since each change is a system call, and trains of small and large
   * messages may alternate. The caller holds the progress lock.
   *
   * @return whether this is the socket's default size now; false if the default is larger or can't
   *     be set
   */
  boolean growSegmentBytes(int segmentBytes) {
    if (!allowsZeroCopy || !isSegmenting || segmentBytes < defaultSegmentBytes) {
      return false;
    }
    return segmentBytes == defaultSegmentBytes || setDefaultSegmentBytes(segmentBytes);
  }

  /** Returns the default segment size, or 0 for none. The caller holds the progress lock. */
  int defaultSegmentBytes() {
    return defaultSegmentBytes;
  }

  /**
   * Disables zero-copy sends permanently, by removing the default segment size that they need. The
   * caller holds the progress lock.
   *
   * @return whether the socket had a default segment size
   */
  boolean disableZeroCopy() {
    boolean did = defaultSegmentBytes != 0;
    allowsZeroCopy = false;
    if (did) {
      SystemCallException.check(
          "setsockopt(UDP_SEGMENT, 0)", LinuxCalls.setIntOption(fd, SOL_UDP, UDP_SEGMENT, 0));
      defaultSegmentBytes = 0;
    }
    return did;
  }

  private boolean setDefaultSegmentBytes(int bytes) {
    if (LinuxCalls.setIntOption(fd, SOL_UDP, UDP_SEGMENT, bytes) < 0) {
      disableZeroCopy();
      return false;
    }
    defaultSegmentBytes = bytes;
    return true;
  }

  /**
   * Returns the kernel's path MTU to the peer, from the interface, the route or a router's message;
   * 0 if it is unknown.
   */
  int pathMtuBytes() {
    return Math.max(0, LinuxCalls.getIntOption(fd, options.level, options.mtu));
  }

  /**
   * Allows fragmentation of packets that have become too large for their path: the peer is a soft
   * device, and the packets are already built. The caller holds the progress lock.
   */
  void allowFragmentation() {
    canFragment = true;
  }

  /**
   * Starts fragmenting, if this is allowed and not yet started. Returns whether it has started now.
   * The caller holds the progress lock.
   */
  boolean startFragmenting() {
    if (!canFragment || isFragmenting) {
      return false;
    }
    isFragmenting = true;
    return LinuxCalls.setIntOption(fd, options.level, options.mtuDiscover, 0) == 0;
  }

  /** Returns whether a packet was too large for its path. The caller holds the progress lock. */
  boolean isFragmenting() {
    return isFragmenting;
  }

  /** Returns the receive buffer of the socket, in bytes of the kernel's accounting. */
  int receiveBufferBytes() {
    return SystemCallException.check(
        "getsockopt(SO_RCVBUF)", LinuxCalls.getIntOption(fd, SOL_SOCKET, SO_RCVBUF));
  }

  @Override
  public void close() {
    if (!closed) {
      closed = true;
      LinuxCalls.close(fd);
    }
  }

  public static boolean isAddressInUse(SystemCallException failure) {
    return failure.errno() == Errno.EADDRINUSE;
  }
}
