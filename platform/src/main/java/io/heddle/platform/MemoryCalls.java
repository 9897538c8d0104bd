package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Linux system calls on memory: mappings, advice and futexes. The conventions are those of {@link
 * LinuxCalls}.
 */
public final class MemoryCalls {
  private static final MethodHandle MMAP = Downcalls.find("mmap", 6);
  private static final MethodHandle MUNMAP = Downcalls.find("munmap", 2);
  private static final MethodHandle MADVISE = Downcalls.find("madvise", 3);
  private static final MethodHandle MSYNC = Downcalls.find("msync", 3);
  private static final MethodHandle GETPAGESIZE = Downcalls.find("getpagesize", 0);
  private static final MethodHandle SYSCALL = Downcalls.find("syscall", 7);

  /*
   * Number of the system call futex, for which the C library has no function. It differs by
   * architecture.
   */
  private static final long SYS_FUTEX =
      System.getProperty("os.arch").equals("aarch64") ? 98L : 202L;

  private MemoryCalls() {}

  /**
   * Maps private anonymous memory, zeroed and page-aligned. Only touched pages take physical memory
   * (an arena would touch all of them). Returns the address of the memory, or the negated errno.
   */
  public static long mapMemory(long lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.result(
          capture,
          (long)
              MMAP.invokeExact(
                  capture,
                  0L,
                  lengthBytes,
                  3L /* PROT_READ | PROT_WRITE */,
                  0x22L /* MAP_PRIVATE | MAP_ANONYMOUS */,
                  -1L,
                  0L,
                  0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Maps a file's first bytes in shared mode. Returns the address, or the negated errno. */
  static long mapFile(int fd, long lengthBytes, boolean writing) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.result(
          capture,
          (long)
              MMAP.invokeExact(
                  capture,
                  0L,
                  lengthBytes,
                  writing ? 3L : 1L /* PROT_READ | PROT_WRITE : PROT_READ */,
                  1L /* MAP_SHARED */,
                  (long) fd,
                  0L,
                  0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  public static int unmapMemory(long address, long lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) MUNMAP.invokeExact(capture, address, lengthBytes, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Requests large pages (such as 2 MiB) for those parts of untouched memory into which whole large
   * pages fit. Returns 0, or the negated errno, also if the system has no large pages.
   */
  public static int adviseLargePages(long address, long lengthBytes) {
    return advise(address, lengthBytes, 14L /* MADV_HUGEPAGE */);
  }

  /**
   * Excludes untouched, page-aligned memory from large pages, each of which takes 2 MiB once any
   * byte is touched. Returns 0, or the negated errno.
   */
  public static int adviseSmallPages(long address, long lengthBytes) {
    return advise(address, lengthBytes, 15L /* MADV_NOHUGEPAGE */);
  }

  /**
   * Returns whether every page of a range is mapped. The call doesn't access the memory. The kernel
   * searches its list of mappings, not pages, so a check of a gibibyte costs as much as one of a
   * page. Returns true if the kernel doesn't report mappings.
   */
  public static boolean isMapped(long address, long lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      long page = address & -(long) (int) (long) GETPAGESIZE.invokeExact(capture, 0L, 0L, 0L);
      int result =
          Downcalls.intResult(
              capture,
              (long)
                  MSYNC.invokeExact(
                      capture, page, address - page + lengthBytes, 1L /* MS_ASYNC */));
      return result != -Errno.ENOMEM;
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  private static int advise(long address, long lengthBytes, long advice) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) MADVISE.invokeExact(capture, address, lengthBytes, advice));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Waits until another thread or process wakes the waiters of this aligned {@code int}, or for the
   * timeout. Returns at once if the {@code int} no longer has the expected value. The memory may be
   * a read-only file mapping. For the control path, since it opens an arena.
   *
   * @return 0 if woken, otherwise the negated errno (EAGAIN for another value, ETIMEDOUT, EINTR)
   */
  public static int futexWait(long address, int expected, long timeoutNs) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment timespec = arena.allocate(JAVA_LONG, 2);
      timespec.setAtIndex(JAVA_LONG, 0, timeoutNs / 1_000_000_000L);
      timespec.setAtIndex(JAVA_LONG, 1, timeoutNs % 1_000_000_000L);
      MemorySegment capture = Downcalls.capture();
      return (int)
          Downcalls.result(
              capture,
              (long)
                  SYSCALL.invokeExact(
                      capture,
                      SYS_FUTEX,
                      address,
                      0L /* FUTEX_WAIT */,
                      (long) expected,
                      timespec.address(),
                      0L,
                      0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Wakes every waiter of this aligned {@code int}. Returns the number of waiters, or the negated
   * errno.
   */
  public static int futexWakeAll(long address) {
    MemorySegment capture = Downcalls.capture();
    try {
      return (int)
          Downcalls.result(
              capture,
              (long)
                  SYSCALL.invokeExact(
                      capture,
                      SYS_FUTEX,
                      address,
                      1L /* FUTEX_WAKE */,
                      (long) Integer.MAX_VALUE,
                      0L,
                      0L,
                      0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }
}
