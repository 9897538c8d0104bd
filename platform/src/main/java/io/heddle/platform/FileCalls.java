package io.heddle.platform;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Linux system calls on files. Names are relative to an open directory, so a renamed or replaced
 * path doesn't change what they mean. The conventions are those of {@link LinuxCalls}. All calls
 * are for the control path.
 */
final class FileCalls {
  /**
   * Directory descriptor for names that are ordinary paths: absolute, or relative to the working
   * directory.
   */
  static final int AT_FDCWD = -100;

  static final int O_RDONLY = 0;
  static final int O_RDWR = 2;
  static final int O_CREAT = 0x40;
  static final int O_EXCL = 0x80;
  static final int O_NONBLOCK = 0x800;
  static final int O_CLOEXEC = 0x80000;

  /* O_DIRECTORY and O_NOFOLLOW have other values on arm64. */
  private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
  static final int O_DIRECTORY = ARM ? 0x4000 : 0x10000;
  static final int O_NOFOLLOW = ARM ? 0x8000 : 0x20000;

  static final int F_GETLK = 5;
  static final int F_SETLK = 6;
  static final int F_OFD_SETLK = 37;

  private static final MethodHandle OPENAT = Downcalls.find("openat", 4);
  private static final MethodHandle MKDIRAT = Downcalls.find("mkdirat", 3);
  private static final MethodHandle STATX = Downcalls.find("statx", 5);
  private static final MethodHandle RENAMEAT = Downcalls.find("renameat", 4);
  private static final MethodHandle UNLINKAT = Downcalls.find("unlinkat", 3);
  private static final MethodHandle FTRUNCATE = Downcalls.find("ftruncate", 2);
  private static final MethodHandle LSEEK = Downcalls.find("lseek", 3);
  private static final MethodHandle FALLOCATE = Downcalls.find("posix_fallocate", 3);
  private static final MethodHandle FCHMOD = Downcalls.find("fchmod", 2);
  private static final MethodHandle FCNTL = Downcalls.find("fcntl", 3);

  private FileCalls() {}

  static int openat(int folder, String name, int flags, int mode) {
    MemorySegment capture = Downcalls.capture();
    try (Arena arena = Arena.ofConfined()) {
      return LinuxCalls.enterDescriptor(
          Downcalls.intResult(
              capture,
              (long)
                  OPENAT.invokeExact(
                      capture,
                      (long) folder,
                      arena.allocateFrom(name).address(),
                      (long) flags,
                      (long) mode,
                      0L)));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  static int mkdirat(int folder, String name, int mode) {
    MemorySegment capture = Downcalls.capture();
    try (Arena arena = Arena.ofConfined()) {
      return Downcalls.intResult(
          capture,
          (long)
              MKDIRAT.invokeExact(
                  capture, (long) folder, arena.allocateFrom(name).address(), (long) mode));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Fills a struct statx. An empty name means the descriptor itself. Symbolic links aren't
   * followed.
   */
  static int statx(int fd, String name, long addressOfStatx) {
    MemorySegment capture = Downcalls.capture();
    try (Arena arena = Arena.ofConfined()) {
      return Downcalls.intResult(
          capture,
          (long)
              STATX.invokeExact(
                  capture,
                  (long) fd,
                  arena.allocateFrom(name).address(),
                  0x1100L /* AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW */,
                  0x7ffL /* STATX_BASIC_STATS */,
                  addressOfStatx));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  static int renameat(int folder, String from, String to) {
    MemorySegment capture = Downcalls.capture();
    try (Arena arena = Arena.ofConfined()) {
      return Downcalls.intResult(
          capture,
          (long)
              RENAMEAT.invokeExact(
                  capture,
                  (long) folder,
                  arena.allocateFrom(from).address(),
                  (long) folder,
                  arena.allocateFrom(to).address(),
                  0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  static int unlinkat(int folder, String name) {
    MemorySegment capture = Downcalls.capture();
    try (Arena arena = Arena.ofConfined()) {
      return Downcalls.intResult(
          capture,
          (long)
              UNLINKAT.invokeExact(capture, (long) folder, arena.allocateFrom(name).address(), 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  static int ftruncate(int fd, long lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) FTRUNCATE.invokeExact(capture, (long) fd, lengthBytes, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /** Moves a file's offset to the file's end. Returns the offset, or the negated errno. */
  static long seekEnd(int fd) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.result(
          capture, (long) LSEEK.invokeExact(capture, (long) fd, 0L, 2L /* SEEK_END */));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Allocates disk space; returns 0 or the negated errno. The C function returns its errno instead
   * of setting it.
   */
  static int posixFallocate(int fd, long offset, long lengthBytes) {
    MemorySegment capture = Downcalls.capture();
    try {
      return -(int) (long) FALLOCATE.invokeExact(capture, (long) fd, offset, lengthBytes);
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  static int fchmod(int fd, int mode) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) FCHMOD.invokeExact(capture, (long) fd, (long) mode, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Calls fcntl(2).
   *
   * @param argument address or number, as the command requires
   */
  static int fcntl(int fd, int command, long argument) {
    MemorySegment capture = Downcalls.capture();
    try {
      return Downcalls.intResult(
          capture, (long) FCNTL.invokeExact(capture, (long) fd, (long) command, argument));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }
}
