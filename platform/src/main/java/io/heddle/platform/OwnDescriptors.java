package io.heddle.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Table of the descriptors that the plugin has open. The shim reads it in a forked child right
 * after fork(), and closes the child's copies. So connections end and ports are free when the
 * parent process ends, even if the child lives on. The table is the shim's {@code struct
 * heddle_descriptors}; without the shim the table is missing, and nothing is recorded.
 *
 * <p>{@link LinuxCalls} and {@link FileCalls} enter the descriptors that they open. An entry has
 * the file's device and inode, since the host program may close a descriptor of the plugin and
 * reuse its number for another file. All methods are thread-safe, and for the control path only.
 */
public final class OwnDescriptors {
  /* Value of HEDDLE_MAX_DESCRIPTORS in native/src/java_calls.h. */
  static final int MOST = 1 << 18;
  static final int HEADER_BYTES = 16;
  static final int ENTRY_BYTES = 16;

  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int F_SETFD = 2;
  private static final int FD_CLOEXEC = 1;
  private static final int SOL_SOCKET = 1;
  private static final int SO_ACCEPTCONN = 30;
  private static final int SOCKADDR_BYTES = 28;
  /* Number of unused descriptor numbers in a row after which the search for a descriptor ends. */
  private static final int GAP = 1024;
  private static final int NEAR = 64;

  private static volatile long table;
  private static volatile int near;

  private OwnDescriptors() {}

  /**
   * Sets the address of the shim's table; 0 if there is none. Called once, before a descriptor is
   * opened. A second copy of the plugin in the process has its own table.
   */
  public static void setTable(long address) {
    table = address;
  }

  /**
   * Enters a descriptor in the table; ignores the negative result of a failed call.
   *
   * @return the argument
   */
  public static int opened(int fd) {
    long address = table;
    if (address != 0 && fd >= 0 && fd < MOST) {
      enter(address, fd);
    }
    return fd;
  }

  private static synchronized void enter(long address, int fd) {
    FileStatus status;
    try {
      status = FileStatus.of(fd);
    } catch (SystemCallException closedMeanwhile) {
      return;
    }
    long entry = address + HEADER_BYTES + (long) fd * ENTRY_BYTES;
    Memory.setLong(entry, status.device());
    Memory.setLongRelease(entry + Long.BYTES, status.inode());
    if (Memory.getLong(address) <= fd) {
      Memory.setLongRelease(address, fd + 1L);
    }
  }

  /**
   * Removes a descriptor, which is about to be closed, from the table; ignores a negative number.
   */
  public static void closing(int fd) {
    long address = table;
    if (address != 0 && fd >= 0 && fd < MOST) {
      Memory.setLongRelease(address + HEADER_BYTES + (long) fd * ENTRY_BYTES + Long.BYTES, 0);
    }
  }

  /**
   * Enters a TCP socket that Java's libraries opened. They don't expose the descriptor, so it is
   * found by the socket's addresses. Also sets close-on-exec, which Java doesn't set.
   *
   * @param peer peer's address, or null for a listening socket
   * @return descriptor for {@link #closing}, or −1 if nothing was entered
   */
  public static int opened(@Nullable InetSocketAddress local, @Nullable InetSocketAddress peer) {
    int fd = table == 0 || local == null ? -1 : find(local, peer);
    if (fd >= 0) {
      FileCalls.fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return opened(fd);
  }

  /*
   * Finds the descriptor of a socket; −1 if there is none. The search begins at the descriptor
   * found last: the kernel allocates the lowest free number, so the next socket's is probably near.
   */
  static int find(InetSocketAddress local, @Nullable InetSocketAddress peer) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(SOCKADDR_BYTES + Integer.BYTES, Long.BYTES);
      int from = near;
      for (int fd = from; fd < from + NEAR; fd++) {
        if (hasAddresses(fd, local, peer, name)) {
          near = fd;
          return fd;
        }
      }
      int missing = 0;
      for (int fd = 0; missing < GAP && fd < MOST; fd++) {
        int called = name(false, fd, name);
        missing = called == -Errno.EBADF ? missing + 1 : 0;
        if (called == 0 && hasAddresses(fd, local, peer, name)) {
          near = fd;
          return fd;
        }
      }
      return -1;
    }
  }

  private static boolean hasAddresses(
      int fd, InetSocketAddress local, @Nullable InetSocketAddress peer, MemorySegment name) {
    if (name(false, fd, name) != 0 || !isAddress(name, local)) {
      return false;
    }
    if (peer == null) {
      return LinuxCalls.getIntOption(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1;
    }
    /* A socket that is still connecting has no peer's address yet. It counts as a match too. */
    int called = name(true, fd, name);
    return called == 0
        ? isAddress(name, peer)
        : called == -Errno.ENOTCONN && LinuxCalls.getIntOption(fd, SOL_SOCKET, SO_ACCEPTCONN) == 0;
  }

  private static int name(boolean peers, int fd, MemorySegment name) {
    long length = name.address() + SOCKADDR_BYTES;
    Memory.ALL.set(Memory.NATIVE_INT, length, SOCKADDR_BYTES);
    return peers
        ? LinuxCalls.getpeername(fd, name.address(), length)
        : LinuxCalls.getsockname(fd, name.address(), length);
  }

  /*
   * sockaddr_in: family 2 | port 2 | address 4; sockaddr_in6: family 2 | port 2 | flow 4 | address
   * 16 | scope 4
   */
  private static boolean isAddress(MemorySegment name, InetSocketAddress address) {
    int family = Short.toUnsignedInt(Memory.ALL.get(Memory.NATIVE_SHORT, name.address()));
    int port = Short.toUnsignedInt(Memory.ALL.get(Memory.NETWORK_SHORT, name.address() + 2));
    if (port != address.getPort() || family != AF_INET && family != AF_INET6) {
      return false;
    }
    byte[] found =
        family == AF_INET
            ? Memory.toArray(name.address() + 4, 4)
            : Memory.toArray(name.address() + 8, 16);
    return Arrays.equals(mapped(found), mapped(address.getAddress().getAddress()));
  }

  /*
   * Returns an address in 16 bytes, an IPv4 address in IPv4-mapped form. The wildcard addresses of
   * both families give the same bytes.
   */
  private static byte[] mapped(byte[] address) {
    if (address.length == 16) {
      return address;
    }
    byte[] whole = new byte[16];
    if (!Arrays.equals(address, new byte[4])) {
      whole[10] = -1;
      whole[11] = -1;
      System.arraycopy(address, 0, whole, 12, 4);
    }
    return whole;
  }
}
