package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.List;

/**
 * Linux system calls on descriptors, each of which is a small static method over {@code long}
 * addresses. {@link MemoryCalls}, {@link PipeCalls} and {@link ProcessCalls} have other calls.
 *
 * <p>Every method returns the C function's result, or the negated errno if the result is −1. It
 * throws no exception and allocates nothing. Each method has one {@code invokeExact} call, since
 * the compiler doesn't inline several calls in one method.
 */
public final class LinuxCalls {
  private static final MethodHandle SOCKET = Downcalls.find("socket", 3);
  private static final MethodHandle BIND = Downcalls.find("bind", 3);
  private static final MethodHandle CONNECT = Downcalls.find("connect", 3);
  private static final MethodHandle LISTEN = Downcalls.find("listen", 2);
  private static final MethodHandle ACCEPT4 = Downcalls.find("accept4", 4);
  private static final MethodHandle GETSOCKNAME = Downcalls.find("getsockname", 3);
  private static final MethodHandle GETPEERNAME = Downcalls.find("getpeername", 3);
  private static final MethodHandle SETSOCKOPT = Downcalls.find("setsockopt", 5);
  private static final MethodHandle GETSOCKOPT = Downcalls.find("getsockopt", 5);
  private static final MethodHandle IF_NAMETOINDEX = Downcalls.find("if_nametoindex", 1);
  private static final MethodHandle CLOSE = Downcalls.find("close", 1);
  private static final MethodHandle SENDMSG = Downcalls.find("sendmsg", 3);
  private static final MethodHandle RECVMSG = Downcalls.find("recvmsg", 3);
  private static final MethodHandle RECVMMSG = Downcalls.find("recvmmsg", 5);
  private static final MethodHandle SEND = Downcalls.find("send", 4);
  private static final MethodHandle RECV = Downcalls.find("recv", 4);
  private static final MethodHandle EPOLL_CREATE1 = Downcalls.find("epoll_create1", 1);
  private static final MethodHandle EPOLL_CTL = Downcalls.find("epoll_ctl", 4);
  private static final MethodHandle EPOLL_WAIT = Downcalls.find("epoll_wait", 4);
  private static final MethodHandle EVENTFD = Downcalls.find("eventfd", 2);
  private static final MethodHandle READ = Downcalls.find("read", 3);
  private static final MethodHandle WRITE = Downcalls.find("write", 3);
  private static final MethodHandle POLL = Downcalls.find("poll", 3);
  private static final MethodHandle IOCTL = Downcalls.find("ioctl", 3);
  private static final MethodHandle FCNTL = Downcalls.find("fcntl", 3);

  private LinuxCalls() {}

  /**
   * Links the system calls of {@link LinuxCalls}, pipes and processes, which would otherwise be
   * linked by their first calls. For a thread of its own, as linking takes milliseconds.
   */
  public static void link() {
    for (Class<?> calls : List.of(PipeCalls.class, ProcessCalls.class)) {
      try {
        MethodHandles.lookup().ensureInitialized(calls);
      } catch (IllegalAccessException impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  /** Returns the capture segment of the calling thread. Hot callers should keep it. */
  public static MemorySegment errnoCapture() {
    return Downcalls.capture();
  }

  /**
   * Enters a new descriptor in {@link OwnDescriptors} and returns it. A descriptor below 3 is
   * replaced by a duplicate with a larger number: processes that become daemons close 0 to 2, even
   * if the plugin uses one of these numbers. {@code java_library_hooks.c} does the same for
   * descriptors that Java opens.
   *
   * @param fd descriptor, or a negated errno, which is returned
   */
  static int enterDescriptor(int fd) {
    return OwnDescriptors.opened(fd < 0 || fd > 2 ? fd : duplicateAboveStandard(fd));
  }

  private static int duplicateAboveStandard(int fd) {
    MemorySegment capture = Downcalls.capture();
    int moved;
    try {
      moved =
          Downcalls.intResult(
              capture,
              (long) FCNTL.invokeExact(capture, (long) fd, 1030L /* F_DUPFD_CLOEXEC */, 3L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
    close(fd);
    return moved;
  }

  public static int socket(int domain, int type, int protocol) {
    MemorySegment capture = Downcalls.capture();
    try {
      return enterDescriptor(
          Downcalls.intResult(
              capture,
              (long) SOCKET.invokeExact(capture, (long) domain, (long) type, (long) protocol)));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Calls ioctl(2).
   *
   * @param argument address or number, as the request requires
   */
  public static int ioctl(int fd, long request, long argument) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) IOCTL.invokeExact(capture, (long) fd, request, argument));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int bind(int fd, long addressOfSockaddr, int lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture,
          (long) BIND.invokeExact(capture, (long) fd, addressOfSockaddr, (long) lengthBytes));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int connect(int fd, long addressOfSockaddr, int lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture,
          (long) CONNECT.invokeExact(capture, (long) fd, addressOfSockaddr, (long) lengthBytes));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int listen(int fd, int backlog) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) LISTEN.invokeExact(capture, (long) fd, (long) backlog, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Accepts a connection and returns its descriptor. Writes the peer's address and its length. */
  public static int accept(int fd, long addressOfSockaddr, long addressOfLength, int flags) {
    MemorySegment capture = Downcalls.capture();
    try {
      return enterDescriptor(
          Downcalls.intResult(
              capture,
              (long)
                  ACCEPT4.invokeExact(
                      capture, (long) fd, addressOfSockaddr, addressOfLength, (long) flags, 0L)));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Writes the socket's own address. {@code addressOfLength} points to a socklen_t: the size of the
   * sockaddr's memory before the call, the address's length after it.
   */
  public static int getsockname(int fd, long addressOfSockaddr, long addressOfLength) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture,
          (long) GETSOCKNAME.invokeExact(capture, (long) fd, addressOfSockaddr, addressOfLength));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Writes the peer's address; the arguments are those of {@link #getsockname}. */
  public static int getpeername(int fd, long addressOfSockaddr, long addressOfLength) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture,
          (long) GETPEERNAME.invokeExact(capture, (long) fd, addressOfSockaddr, addressOfLength));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int setsockopt(
      int fd, int level, int option, long addressOfValue, int lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture,
          (long)
              SETSOCKOPT.invokeExact(
                  capture,
                  (long) fd,
                  (long) level,
                  (long) option,
                  addressOfValue,
                  (long) lengthBytes));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Sets an option whose value is a C {@code int}. Control path: it opens an arena. */
  public static int setIntOption(int fd, int level, int option, int value) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cell = arena.allocate(JAVA_INT);
      cell.set(JAVA_INT, 0, value);
      return setsockopt(fd, level, option, cell.address(), Integer.BYTES);
    }
  }

  /**
   * Returns the value of an option that is a C {@code int}, or the negated errno. Control path: it
   * opens an arena.
   */
  public static int getIntOption(int fd, int level, int option) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment cells = arena.allocate(JAVA_INT, 2);
      cells.setAtIndex(JAVA_INT, 1, Integer.BYTES);
      MemorySegment capture = Downcalls.capture();
      int result =
          Downcalls.intResult(
              capture,
              (long)
                  GETSOCKOPT.invokeExact(
                      capture,
                      (long) fd,
                      (long) level,
                      (long) option,
                      cells.address(),
                      cells.address() + Integer.BYTES));
      return result < 0 ? result : cells.get(JAVA_INT, 0);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Returns the index of an interface in the calling thread's network namespace, or 0 for an
   * unknown name. Control path: it opens an arena.
   */
  public static int interfaceIndex(String name) {
    MemorySegment capture = Downcalls.capture();
    try (Arena arena = Arena.ofConfined()) {
      return (int)
          (long) IF_NAMETOINDEX.invokeExact(capture, arena.allocateFrom(name).address(), 0L, 0L);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int close(int fd) {
    OwnDescriptors.closing(fd);
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(capture, (long) CLOSE.invokeExact(capture, (long) fd, 0L, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Closes the descriptor when {@code arena} is closed. */
  public static void closeWith(Arena arena, int fd) {
    MemorySegment.NULL.reinterpret(0, arena, gone -> close(fd));
  }

  /** Returns the number of bytes sent, or the negated errno. */
  public static long sendmsg(MemorySegment capture, int fd, long addressOfMsghdr, int flags) {
    try {
      return Downcalls.result(
          capture, (long) SENDMSG.invokeExact(capture, (long) fd, addressOfMsghdr, (long) flags));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Returns the number of bytes received, or the negated errno. */
  public static long recvmsg(MemorySegment capture, int fd, long addressOfMsghdr, int flags) {
    try {
      return Downcalls.result(
          capture, (long) RECVMSG.invokeExact(capture, (long) fd, addressOfMsghdr, (long) flags));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Receives without a timeout. Returns the number of messages received, or the negated errno. */
  public static int recvmmsg(
      MemorySegment capture, int fd, long addressOfMmsghdrs, int count, int flags) {
    try {
      return Downcalls.intResult(
          capture,
          (long)
              RECVMMSG.invokeExact(
                  capture, (long) fd, addressOfMmsghdrs, (long) count, (long) flags, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static long send(
      MemorySegment capture, int fd, long address, long lengthBytes, int flags) {
    try {
      return Downcalls.result(
          capture,
          (long) SEND.invokeExact(capture, (long) fd, address, lengthBytes, (long) flags, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static long recv(
      MemorySegment capture, int fd, long address, long lengthBytes, int flags) {
    try {
      return Downcalls.result(
          capture,
          (long) RECV.invokeExact(capture, (long) fd, address, lengthBytes, (long) flags, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int epollCreate() {
    MemorySegment capture = Downcalls.capture();
    try {
      return enterDescriptor(
          Downcalls.intResult(
              capture,
              (long) EPOLL_CREATE1.invokeExact(capture, 0x80000L /* EPOLL_CLOEXEC */, 0L, 0L)));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int epollControl(int epollFd, int operation, int fd, long addressOfEvent) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture,
          (long)
              EPOLL_CTL.invokeExact(
                  capture, (long) epollFd, (long) operation, (long) fd, addressOfEvent, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Returns the number of ready events, or the negated errno. A {@code timeoutMs} of 0 polls, and
   * −1 waits without limit.
   */
  public static int epollWait(
      MemorySegment capture, int epollFd, long addressOfEvents, int maxEvents, int timeoutMs) {
    try {
      return Downcalls.intResult(
          capture,
          (long)
              EPOLL_WAIT.invokeExact(
                  capture,
                  (long) epollFd,
                  addressOfEvents,
                  (long) maxEvents,
                  (long) timeoutMs,
                  0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int eventfd(int initial, int flags) {
    MemorySegment capture = Downcalls.capture();
    try {
      return enterDescriptor(
          Downcalls.intResult(
              capture, (long) EVENTFD.invokeExact(capture, (long) initial, (long) flags, 0L)));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static long read(MemorySegment capture, int fd, long address, long lengthBytes) {
    try {
      return Downcalls.result(
          capture, (long) READ.invokeExact(capture, (long) fd, address, lengthBytes));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static long write(MemorySegment capture, int fd, long address, long lengthBytes) {
    try {
      return Downcalls.result(
          capture, (long) WRITE.invokeExact(capture, (long) fd, address, lengthBytes));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Returns whether a read of this descriptor would return at once. Returns false for a negative
   * descriptor.
   */
  public static boolean isReadable(int fd) {
    MemorySegment capture = Downcalls.capture();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pollfd = arena.allocate(8, 4);
      pollfd.set(JAVA_INT, 0, fd);
      pollfd.set(JAVA_INT, 4, 1 /* POLLIN */);
      return Downcalls.intResult(
              capture, (long) POLL.invokeExact(capture, pollfd.address(), 1L, 0L))
          > 0;
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }
}
