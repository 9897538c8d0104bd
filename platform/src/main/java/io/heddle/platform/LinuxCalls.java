package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Linux system calls on descriptors, each of which is a small static method over {@code long}
 * addresses. {@link MemoryCalls}, {@link PipeCalls} and {@link ProcessCalls} have other calls.
 *
 * <p>Every method returns the C function's result, or the negated errno if the result is −1. It
 * throws no exception and allocates nothing. There are three call shapes, of 3, 5 and 7 arguments,
 * since each shape costs 3 ms at start-up. A function with fewer arguments ignores the zeros passed
 * after them. Each method has one {@code invokeExact} call, since the compiler doesn't inline
 * several calls in one method. Integers are passed as {@code long}: the x86-64 and arm64 calling
 * conventions ignore the upper half of an {@code int} argument's register.
 */
public final class LinuxCalls {
  private static final Linker LINKER = Linker.nativeLinker();
  private static final Linker.Option ERRNO = Linker.Option.captureCallState("errno");
  private static final VarHandle ERRNO_VALUE =
      Linker.Option.captureStateLayout()
          .varHandle(java.lang.foreign.MemoryLayout.PathElement.groupElement("errno"));

  /*
   * One capture segment per thread, since errno is meaningful only on the thread that made the
   * call.
   */
  private static final ThreadLocal<MemorySegment> CAPTURE =
      ThreadLocal.withInitial(() -> Arena.global().allocate(Linker.Option.captureStateLayout()));

  private static final MethodHandle SOCKET = find("socket", 3);
  private static final MethodHandle BIND = find("bind", 3);
  private static final MethodHandle CONNECT = find("connect", 3);
  private static final MethodHandle LISTEN = find("listen", 2);
  private static final MethodHandle ACCEPT4 = find("accept4", 4);
  private static final MethodHandle GETSOCKNAME = find("getsockname", 3);
  private static final MethodHandle GETPEERNAME = find("getpeername", 3);
  private static final MethodHandle SETSOCKOPT = find("setsockopt", 5);
  private static final MethodHandle GETSOCKOPT = find("getsockopt", 5);
  private static final MethodHandle IF_NAMETOINDEX = find("if_nametoindex", 1);
  private static final MethodHandle CLOSE = find("close", 1);
  private static final MethodHandle SENDMSG = find("sendmsg", 3);
  private static final MethodHandle RECVMSG = find("recvmsg", 3);
  private static final MethodHandle RECVMMSG = find("recvmmsg", 5);
  private static final MethodHandle SEND = find("send", 4);
  private static final MethodHandle RECV = find("recv", 4);
  private static final MethodHandle EPOLL_CREATE1 = find("epoll_create1", 1);
  private static final MethodHandle EPOLL_CTL = find("epoll_ctl", 4);
  private static final MethodHandle EPOLL_WAIT = find("epoll_wait", 4);
  private static final MethodHandle EVENTFD = find("eventfd", 2);
  private static final MethodHandle READ = find("read", 3);
  private static final MethodHandle WRITE = find("write", 3);
  private static final MethodHandle POLL = find("poll", 3);
  private static final MethodHandle IOCTL = find("ioctl", 3);
  private static final MethodHandle FCNTL = find("fcntl", 3);

  private LinuxCalls() {}

  static MethodHandle find(String name, int arguments) {
    var layouts = new java.lang.foreign.MemoryLayout[arguments <= 3 ? 3 : arguments <= 5 ? 5 : 7];
    java.util.Arrays.fill(layouts, JAVA_LONG);
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name), FunctionDescriptor.of(JAVA_LONG, layouts), ERRNO);
  }

  /** Returns the capture segment of the calling thread. Hot callers should keep it. */
  public static MemorySegment errnoCapture() {
    return CAPTURE.get();
  }

  static long result(MemorySegment capture, long value) {
    return value == -1 ? -(int) ERRNO_VALUE.get(capture, 0L) : value;
  }

  /*
   * Converts the result of a C function that returns an int. Such a function leaves the upper half
   * of the register undefined.
   */
  static int intResult(MemorySegment capture, long value) {
    return (int) value == -1 ? -(int) ERRNO_VALUE.get(capture, 0L) : (int) value;
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
    MemorySegment capture = CAPTURE.get();
    int moved;
    try {
      moved =
          intResult(
              capture,
              (long) FCNTL.invokeExact(capture, (long) fd, 1030L /* F_DUPFD_CLOEXEC */, 3L));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
    close(fd);
    return moved;
  }

  static RuntimeException unexpected(Throwable thrown) {
    return thrown instanceof RuntimeException runtime ? runtime : new IllegalStateException(thrown);
  }

  public static int socket(int domain, int type, int protocol) {
    MemorySegment capture = CAPTURE.get();
    try {
      return enterDescriptor(
          intResult(
              capture,
              (long) SOCKET.invokeExact(capture, (long) domain, (long) type, (long) protocol)));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /**
   * Calls ioctl(2).
   *
   * @param argument address or number, as the request requires
   */
  public static int ioctl(int fd, long request, long argument) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(capture, (long) IOCTL.invokeExact(capture, (long) fd, request, argument));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static int bind(int fd, long addressOfSockaddr, int lengthBytes) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(
          capture,
          (long) BIND.invokeExact(capture, (long) fd, addressOfSockaddr, (long) lengthBytes));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static int connect(int fd, long addressOfSockaddr, int lengthBytes) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(
          capture,
          (long) CONNECT.invokeExact(capture, (long) fd, addressOfSockaddr, (long) lengthBytes));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static int listen(int fd, int backlog) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(capture, (long) LISTEN.invokeExact(capture, (long) fd, (long) backlog, 0L));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** Accepts a connection and returns its descriptor. Writes the peer's address and its length. */
  public static int accept(int fd, long addressOfSockaddr, long addressOfLength, int flags) {
    MemorySegment capture = CAPTURE.get();
    try {
      return enterDescriptor(
          intResult(
              capture,
              (long)
                  ACCEPT4.invokeExact(
                      capture, (long) fd, addressOfSockaddr, addressOfLength, (long) flags, 0L)));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /**
   * Writes the socket's own address. {@code addressOfLength} points to a socklen_t: the size of the
   * sockaddr's memory before the call, the address's length after it.
   */
  public static int getsockname(int fd, long addressOfSockaddr, long addressOfLength) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(
          capture,
          (long) GETSOCKNAME.invokeExact(capture, (long) fd, addressOfSockaddr, addressOfLength));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** Writes the peer's address; the arguments are those of {@link #getsockname}. */
  public static int getpeername(int fd, long addressOfSockaddr, long addressOfLength) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(
          capture,
          (long) GETPEERNAME.invokeExact(capture, (long) fd, addressOfSockaddr, addressOfLength));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static int setsockopt(
      int fd, int level, int option, long addressOfValue, int lengthBytes) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(
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
      throw unexpected(thrown);
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
      MemorySegment capture = CAPTURE.get();
      int result =
          intResult(
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
      throw unexpected(thrown);
    }
  }

  /**
   * Returns the index of an interface in the calling thread's network namespace, or 0 for an
   * unknown name. Control path: it opens an arena.
   */
  public static int interfaceIndex(String name) {
    MemorySegment capture = CAPTURE.get();
    try (Arena arena = Arena.ofConfined()) {
      return (int)
          (long) IF_NAMETOINDEX.invokeExact(capture, arena.allocateFrom(name).address(), 0L, 0L);
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static int close(int fd) {
    OwnDescriptors.closing(fd);
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(capture, (long) CLOSE.invokeExact(capture, (long) fd, 0L, 0L));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** Closes the descriptor when {@code arena} is closed. */
  public static void closeWith(Arena arena, int fd) {
    MemorySegment.NULL.reinterpret(0, arena, gone -> close(fd));
  }

  /** Returns the number of bytes sent, or the negated errno. */
  public static long sendmsg(MemorySegment capture, int fd, long addressOfMsghdr, int flags) {
    try {
      return result(
          capture, (long) SENDMSG.invokeExact(capture, (long) fd, addressOfMsghdr, (long) flags));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** Returns the number of bytes received, or the negated errno. */
  public static long recvmsg(MemorySegment capture, int fd, long addressOfMsghdr, int flags) {
    try {
      return result(
          capture, (long) RECVMSG.invokeExact(capture, (long) fd, addressOfMsghdr, (long) flags));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /** Receives without a timeout. Returns the number of messages received, or the negated errno. */
  public static int recvmmsg(
      MemorySegment capture, int fd, long addressOfMmsghdrs, int count, int flags) {
    try {
      return intResult(
          capture,
          (long)
              RECVMMSG.invokeExact(
                  capture, (long) fd, addressOfMmsghdrs, (long) count, (long) flags, 0L));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static long send(
      MemorySegment capture, int fd, long address, long lengthBytes, int flags) {
    try {
      return result(
          capture,
          (long) SEND.invokeExact(capture, (long) fd, address, lengthBytes, (long) flags, 0L));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static long recv(
      MemorySegment capture, int fd, long address, long lengthBytes, int flags) {
    try {
      return result(
          capture,
          (long) RECV.invokeExact(capture, (long) fd, address, lengthBytes, (long) flags, 0L));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static int epollCreate() {
    MemorySegment capture = CAPTURE.get();
    try {
      return enterDescriptor(
          intResult(
              capture,
              (long) EPOLL_CREATE1.invokeExact(capture, 0x80000L /* EPOLL_CLOEXEC */, 0L, 0L)));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static int epollControl(int epollFd, int operation, int fd, long addressOfEvent) {
    MemorySegment capture = CAPTURE.get();
    try {
      return intResult(
          capture,
          (long)
              EPOLL_CTL.invokeExact(
                  capture, (long) epollFd, (long) operation, (long) fd, addressOfEvent, 0L));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /**
   * Returns the number of ready events, or the negated errno. A {@code timeoutMs} of 0 polls, and
   * −1 waits without limit.
   */
  public static int epollWait(
      MemorySegment capture, int epollFd, long addressOfEvents, int maxEvents, int timeoutMs) {
    try {
      return intResult(
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
      throw unexpected(thrown);
    }
  }

  public static int eventfd(int initial, int flags) {
    MemorySegment capture = CAPTURE.get();
    try {
      return enterDescriptor(
          intResult(
              capture, (long) EVENTFD.invokeExact(capture, (long) initial, (long) flags, 0L)));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static long read(MemorySegment capture, int fd, long address, long lengthBytes) {
    try {
      return result(capture, (long) READ.invokeExact(capture, (long) fd, address, lengthBytes));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  public static long write(MemorySegment capture, int fd, long address, long lengthBytes) {
    try {
      return result(capture, (long) WRITE.invokeExact(capture, (long) fd, address, lengthBytes));
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }

  /**
   * Returns whether a read of this descriptor would return at once. Returns false for a negative
   * descriptor.
   */
  public static boolean isReadable(int fd) {
    MemorySegment capture = CAPTURE.get();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pollfd = arena.allocate(8, 4);
      pollfd.set(JAVA_INT, 0, fd);
      pollfd.set(JAVA_INT, 4, 1 /* POLLIN */);
      return intResult(capture, (long) POLL.invokeExact(capture, pollfd.address(), 1L, 0L)) > 0;
    } catch (Throwable thrown) {
      throw unexpected(thrown);
    }
  }
}
