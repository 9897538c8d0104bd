package io.heddle.bridge.redundancy;

import static io.heddle.bridge.fabric.SocketOptions.check;
import static io.heddle.bridge.fabric.SocketOptions.set;

import io.heddle.bridge.fabric.Memberships;
import io.heddle.bridge.fabric.SocketOptions;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * UDP socket that sends and receives beacons in one fabric. Used by one thread at a time; not
 * time-critical.
 */
public final class BeaconSocket implements AutoCloseable {
  private static final int AF_INET6 = 10;
  private static final int SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0x80000 | 0x800;
  private static final int SOL_IP = 0;
  private static final int SOL_SOCKET = 1;
  private static final int SOL_IPV6 = 41;
  private static final int SO_PRIORITY = 12;
  private static final int IP_TOS = 1;
  private static final int IP_MULTICAST_TTL = 33;
  private static final int IP_MULTICAST_LOOP = 34;
  private static final int IP_MULTICAST_ALL = 49;
  private static final int IPV6_MULTICAST_IF = 17;
  private static final int IPV6_MULTICAST_HOPS = 18;
  private static final int IPV6_MULTICAST_LOOP = 19;
  private static final int IPV6_V6ONLY = 26;
  private static final int IPV6_TCLASS = 67;
  /* Traffic class of network control, as for routing protocols: CS6 (RFC 4594, section 3.1). */
  private static final int CONTROL_CLASS = 0xc0;
  /* The kernel's priority of network control (TC_PRIO_CONTROL). */
  private static final int CONTROL_PRIORITY = 7;
  private static final long SIOCGIFFLAGS = 0x8913;
  private static final int IFF_UP = 0x1;
  private static final int IFF_RUNNING = 0x40;
  private static final int IFREQ_BYTES = 40;
  private static final int IFREQ_FLAGS = 16;
  private static final int BUFFER_BYTES = 2048;
  private static final int NAME_BYTES = 28;

  private final String interfaceName;
  private final BooleanSupplier hasCarrier;
  private final Arena arena = Arena.ofShared();
  private final int fd;
  private final Memberships memberships;
  private final long buffer;
  private final long header;

  private BeaconSocket(String interfaceName, int interfaceIndex, int fd, BooleanSupplier carries) {
    this.interfaceName = interfaceName;
    this.hasCarrier = carries;
    this.fd = fd;
    memberships = new Memberships(interfaceName, interfaceIndex);
    buffer = Memory.allocate(arena, BUFFER_BYTES, 8);
    header = Memory.allocate(arena, 128, 8);
  }

  /**
   * Opens the socket of an interface, and joins the beacons' group.
   *
   * @param ipv4 source address of IPv4 beacons, null for none
   * @param group multicast group that beacons are sent to
   * @param hops time to live of sent beacons
   * @param carries returns whether the fabric carries packets; tested in addition to the
   *     interface's state
   * @throws HeddleException if the port is in use, or the group can't be joined
   */
  public static BeaconSocket open(
      String interfaceName,
      int interfaceIndex,
      @Nullable Gid ipv4,
      Gid group,
      int port,
      int hops,
      BooleanSupplier carries) {
    int fd =
        check(
            "socket(AF_INET6, SOCK_DGRAM)",
            LinuxCalls.socket(AF_INET6, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0));
    BeaconSocket socket = new BeaconSocket(interfaceName, interfaceIndex, fd, carries);
    try {
      set(fd, SOL_IPV6, IPV6_V6ONLY, 0);
      SocketOptions.bindToDevice(fd, interfaceName);
      /*
       * Receives the packets of groups that another socket has joined. IPv6 sockets do so by
       * default.
       */
      set(fd, SOL_IP, IP_MULTICAST_ALL, 1);
      set(fd, SOL_IP, IP_MULTICAST_LOOP, 0);
      set(fd, SOL_IPV6, IPV6_MULTICAST_LOOP, 0);
      set(fd, SOL_IP, IP_MULTICAST_TTL, hops);
      set(fd, SOL_IPV6, IPV6_MULTICAST_HOPS, hops);
      set(fd, SOL_IP, IP_TOS, CONTROL_CLASS);
      set(fd, SOL_IPV6, IPV6_TCLASS, CONTROL_CLASS);
      /*
       * Beacons overtake other packets in the interface's queue. Without CAP_NET_ADMIN this has no
       * effect.
       */
      LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_PRIORITY, CONTROL_PRIORITY);
      set(fd, SOL_IPV6, IPV6_MULTICAST_IF, interfaceIndex);
      if (ipv4 != null) {
        SocketOptions.sendGroupsFrom(fd, interfaceIndex, ipv4);
      }
      socket.bind(port);
      socket.memberships.join(group);
      socket.fillHeader(group, port, interfaceIndex);
      return socket;
    } catch (RuntimeException failed) {
      socket.close();
      throw failed;
    }
  }

  private void bind(int port) {
    name(header + 80, new Gid(0, 0), port, 0);
    int result = LinuxCalls.bind(fd, header + 80, NAME_BYTES);
    if (result == -Errno.EADDRINUSE) {
      throw new HeddleException(
          "UDP port "
              + port
              + " of "
              + interfaceName
              + " is taken, by another bridge of this host; end it, or set port= in all bridges'"
              + " redundancy lines");
    }
    check("bind([::]:" + port + " on " + interfaceName + ")", result);
  }

  private static void name(long at, Gid address, int port, int scope) {
    Memory.ALL.set(Memory.NATIVE_SHORT, at, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_SHORT, at + 2, (short) port);
    Memory.setInt(at + 4, 0);
    Memory.ALL.set(Memory.NETWORK_LONG, at + 8, address.high());
    Memory.ALL.set(Memory.NETWORK_LONG, at + 16, address.low());
    Memory.setInt(at + 24, scope);
  }

  /* Fills the struct msghdr, which is followed by its iovec and the destination's sockaddr. */
  private void fillHeader(Gid group, int port, int interfaceIndex) {
    name(header + 80, group, port, group.isIpv4Mapped() ? 0 : interfaceIndex);
    Memory.setLong(header, header + 80);
    Memory.setInt(header + 8, NAME_BYTES);
    Memory.setLong(header + 16, header + 56);
    Memory.setLong(header + 24, 1);
    Memory.setLong(header + 32, 0);
    Memory.setLong(header + 40, 0);
    Memory.setInt(header + 48, 0);
    Memory.setLong(header + 56, buffer);
  }

  /**
   * Sends a beacon.
   *
   * @return 0, or the errno of the failure
   */
  public int send(byte[] beacon) {
    MemorySegment.copy(MemorySegment.ofArray(beacon), 0, Memory.ALL, buffer, beacon.length);
    Memory.setLong(header + 64, beacon.length);
    long sent = LinuxCalls.sendmsg(LinuxCalls.errnoCapture(), fd, header, 0);
    return sent < 0 ? (int) -sent : 0;
  }

  /**
   * Receives a datagram without waiting.
   *
   * @param into array of at least 2048 bytes
   * @return length of the datagram, or -1 if there is none
   */
  public int receive(byte[] into) {
    long length = LinuxCalls.recv(LinuxCalls.errnoCapture(), fd, buffer, BUFFER_BYTES, 0);
    if (length < 0) {
      return -1;
    }
    MemorySegment.copy(Memory.ALL, buffer, MemorySegment.ofArray(into), 0, length);
    return (int) length;
  }

  /** Returns the descriptor that becomes readable when beacons arrive. */
  public int descriptor() {
    return fd;
  }

  /**
   * Returns whether the fabric carries packets, which requires that the interface is up and has a
   * carrier.
   */
  public boolean isUp() {
    return hasCarrier.getAsBoolean() && interfaceIsUp();
  }

  private boolean interfaceIsUp() {
    byte[] name = interfaceName.getBytes(StandardCharsets.UTF_8);
    Memory.clear(buffer, IFREQ_BYTES);
    MemorySegment.copy(MemorySegment.ofArray(name), 0, Memory.ALL, buffer, name.length);
    int wanted = IFF_UP | IFF_RUNNING;
    return LinuxCalls.ioctl(fd, SIOCGIFFLAGS, buffer) >= 0
        && (Memory.ALL.get(Memory.NATIVE_SHORT, buffer + IFREQ_FLAGS) & wanted) == wanted;
  }

  @Override
  public void close() {
    memberships.close();
    LinuxCalls.close(fd);
    arena.close();
  }
}
