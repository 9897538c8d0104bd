package io.heddle.bridge.fabric;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SystemCallException;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Setters of options that all sockets in fabrics need. They throw a {@link SystemCallException} on
 * failure.
 */
public final class SocketOptions {
  private static final int SOL_IP = 0;
  private static final int SOL_SOCKET = 1;
  private static final int SO_BINDTODEVICE = 25;
  private static final int IP_MULTICAST_IF = 32;
  private static final int REQUEST_BYTES = 12;

  private SocketOptions() {}

  public static int check(String call, int result) {
    if (result < 0) {
      throw new SystemCallException(call, -result);
    }
    return result;
  }

  public static void set(int fd, int level, int option, int value) {
    check(
        "setsockopt(" + level + ", " + option + ")",
        LinuxCalls.setIntOption(fd, level, option, value));
  }

  public static void bindToDevice(int fd, String interfaceName) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(interfaceName);
      check(
          "setsockopt(SO_BINDTODEVICE " + interfaceName + ")",
          LinuxCalls.setsockopt(
              fd, SOL_SOCKET, SO_BINDTODEVICE, name.address(), (int) name.byteSize()));
    }
  }

  /** Sets the source address of packets to IPv4 groups. */
  public static void sendGroupsFrom(int fd, int interfaceIndex, Gid ipv4) {
    try (Arena arena = Arena.ofConfined()) {
      /* struct ip_mreqn: group, address, interface. */
      long request = Memory.allocate(arena, REQUEST_BYTES, 8);
      Memory.ALL.set(Memory.NETWORK_INT, request + 4, (int) ipv4.low());
      Memory.setInt(request + 8, interfaceIndex);
      check(
          "setsockopt(IP_MULTICAST_IF " + ipv4 + ")",
          LinuxCalls.setsockopt(fd, SOL_IP, IP_MULTICAST_IF, request, REQUEST_BYTES));
    }
  }
}
