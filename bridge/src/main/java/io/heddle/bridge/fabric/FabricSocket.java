package io.heddle.bridge.fabric;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Calls for the UDP sockets of fabrics. Each socket is bound to an interface, and is for IPv6 and
 * IPv4 (in mapped form). All calls throw a {@link SystemCallException} on failure.
 */
public final class FabricSocket {
  /** Length of a struct sockaddr_in6. */
  public static final int NAME_BYTES = 28;

  public static final int SOL_IP = 0;
  public static final int SOL_SOCKET = 1;
  public static final int SOL_IPV6 = 41;
  private static final int AF_INET6 = 10;
  private static final int SOCK_DGRAM_CLOEXEC_NONBLOCK = 2 | 0x80000 | 0x800;
  private static final int SO_BINDTODEVICE = 25;
  private static final int IP_MULTICAST_IF = 32;
  private static final int IP_MULTICAST_TTL = 33;
  private static final int IP_MULTICAST_LOOP = 34;
  private static final int IP_MULTICAST_ALL = 49;
  private static final int IPV6_MULTICAST_IF = 17;
  private static final int IPV6_MULTICAST_HOPS = 18;
  private static final int IPV6_MULTICAST_LOOP = 19;
  private static final int IPV6_V6ONLY = 26;
  private static final int REQUEST_BYTES = 12;

  private FabricSocket() {}

  /**
   * Opens a socket on an interface, without a port.
   *
   * @param ipv4 source address of packets to IPv4 groups, null for none
   * @param hops time to live of packets to groups
   * @return its descriptor
   */
  public static int open(String interfaceName, int interfaceIndex, @Nullable Gid ipv4, int hops) {
    int fd =
        SystemCallException.check(
            "socket(AF_INET6, SOCK_DGRAM)",
            LinuxCalls.socket(AF_INET6, SOCK_DGRAM_CLOEXEC_NONBLOCK, 0));
    try {
      set(fd, SOL_IPV6, IPV6_V6ONLY, 0);
      bindToDevice(fd, interfaceName);
      /* Receives the groups that other sockets have joined. IPv6 sockets do so by default. */
      set(fd, SOL_IP, IP_MULTICAST_ALL, 1);
      set(fd, SOL_IP, IP_MULTICAST_LOOP, 0);
      set(fd, SOL_IPV6, IPV6_MULTICAST_LOOP, 0);
      set(fd, SOL_IP, IP_MULTICAST_TTL, hops);
      set(fd, SOL_IPV6, IPV6_MULTICAST_HOPS, hops);
      set(fd, SOL_IPV6, IPV6_MULTICAST_IF, interfaceIndex);
      if (ipv4 != null) {
        sendGroupsFrom(fd, interfaceIndex, ipv4);
      }
      return fd;
    } catch (RuntimeException failed) {
      LinuxCalls.close(fd);
      throw failed;
    }
  }

  /**
   * Binds a socket to a port.
   *
   * @param taken message if another socket has the port
   */
  public static void bind(int fd, int port, String interfaceName, String taken) {
    try (Arena arena = Arena.ofConfined()) {
      long name = Memory.allocate(arena, NAME_BYTES + 4, 8);
      writeName(name, new Gid(0, 0), port, 0);
      int result = LinuxCalls.bind(fd, name, NAME_BYTES);
      if (result == -Errno.EADDRINUSE) {
        throw new HeddleException(taken);
      }
      SystemCallException.check("bind([::]:" + port + " on " + interfaceName + ")", result);
    }
  }

  /** Writes a struct sockaddr_in6, {@value #NAME_BYTES} bytes. */
  public static void writeName(long at, Gid address, int port, int scope) {
    Memory.ALL.set(Memory.NATIVE_SHORT, at, (short) AF_INET6);
    Memory.ALL.set(Memory.NETWORK_SHORT, at + 2, (short) port);
    Memory.setInt(at + 4, 0);
    Memory.ALL.set(Memory.NETWORK_LONG, at + 8, address.high());
    Memory.ALL.set(Memory.NETWORK_LONG, at + 16, address.low());
    Memory.setInt(at + 24, scope);
  }

  public static void set(int fd, int level, int option, int value) {
    SystemCallException.check(
        "setsockopt(" + level + ", " + option + ")",
        LinuxCalls.setIntOption(fd, level, option, value));
  }

  private static void bindToDevice(int fd, String interfaceName) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(interfaceName);
      SystemCallException.check(
          "setsockopt(SO_BINDTODEVICE " + interfaceName + ")",
          LinuxCalls.setsockopt(
              fd, SOL_SOCKET, SO_BINDTODEVICE, name.address(), (int) name.byteSize()));
    }
  }

  /** Sets the source address of packets to IPv4 groups. */
  private static void sendGroupsFrom(int fd, int interfaceIndex, Gid ipv4) {
    try (Arena arena = Arena.ofConfined()) {
      /* struct ip_mreqn: group, address, interface. */
      long request = Memory.allocate(arena, REQUEST_BYTES, 8);
      Memory.ALL.set(Memory.NETWORK_INT, request + 4, (int) ipv4.low());
      Memory.setInt(request + 8, interfaceIndex);
      SystemCallException.check(
          "setsockopt(IP_MULTICAST_IF " + ipv4 + ")",
          LinuxCalls.setsockopt(fd, SOL_IP, IP_MULTICAST_IF, request, REQUEST_BYTES));
    }
  }
}
