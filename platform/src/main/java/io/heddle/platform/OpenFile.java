package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** An open regular file. What fails is a {@link SystemCallException} with its errno. */
public final class OpenFile implements AutoCloseable {
  private static final int FLOCK_BYTES = 32;
  private static final short F_RDLCK = 0;
  private static final short F_WRLCK = 1;
  private static final short F_UNLCK = 2;

  private final String path;
  private int fd;
  private boolean lockedAlone;

  OpenFile(String path, int fd) {
    this.path = path;
    this.fd = fd;
  }

  /** For sentences. */
  public String path() {
    return path;
  }

  public FileStatus status() {
    return FileStatus.of(fd);
  }

  private void require(String call, long result) {
    if (result < 0) {
      throw new SystemCallException(call + " " + path, (int) -result);
    }
  }

  /** Its length now, without a look at anything else; negative once this is closed. */
  public long sizeBytes() {
    return FileCalls.seekEnd(fd);
  }

  /** Gives it this length; what is new takes no room until {@link #allocate}. */
  public void resize(long lengthBytes) {
    require("ftruncate", FileCalls.ftruncate(fd, lengthBytes));
  }

  /**
   * Takes the room for a part of it: storing into a mapped page that a full file system can't hold
   * would kill the process.
   */
  public void allocate(long offset, long lengthBytes) {
    int result = FileCalls.posixFallocate(fd, offset, lengthBytes);
    while (result == -Errno.EINTR) {
      result = FileCalls.posixFallocate(fd, offset, lengthBytes);
    }
    require("posix_fallocate", result);
  }

  /** Maps its first bytes, shared; returns where. {@link MemoryCalls#unmapMemory} ends it. */
  public long map(long lengthBytes, boolean writing) {
    long address = MemoryCalls.mapFile(fd, lengthBytes, writing);
    require("mmap", address);
    return address;
  }

  public void setMode(int mode) {
    require("fchmod", FileCalls.fchmod(fd, mode));
  }

  /**
   * Locks it whole against other processes until this one ends, or closes any descriptor of the
   * file; a forked child has no part in it.
   *
   * @return false where another process has it locked
   */
  public boolean tryLock() {
    return tryLock(FileCalls.F_SETLK);
  }

  /**
   * Locks it whole against whoever opens it, in this process too, until this is closed.
   *
   * @return false where another has it locked
   */
  public boolean tryLockAlone() {
    lockedAlone |= tryLock(FileCalls.F_OFD_SETLK);
    return lockedAlone;
  }

  /* A child that another thread forks has the lock, too, until its exec; closing alone would leave it to it. */
  private void unlockAlone() {
    try (Arena arena = Arena.ofConfined()) {
      FileCalls.fcntl(fd, FileCalls.F_OFD_SETLK, flock(arena, F_UNLCK).address());
    }
  }

  private boolean tryLock(int command) {
    try (Arena arena = Arena.ofConfined()) {
      int result = FileCalls.fcntl(fd, command, flock(arena, F_WRLCK).address());
      if (result == -Errno.EAGAIN || result == -Errno.EACCES) {
        return false;
      }
      require("fcntl F_SETLK", result);
      return true;
    }
  }

  /** Whether another process has it locked. */
  public boolean isLocked() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = flock(arena, F_RDLCK);
      require("fcntl F_GETLK", FileCalls.fcntl(fd, FileCalls.F_GETLK, lock.address()));
      return lock.get(JAVA_SHORT, 0) != F_UNLCK;
    }
  }

  /* struct flock: type and whence, two shorts; start and length, of which 0 means to the end; the process. */
  private static MemorySegment flock(Arena arena, short type) {
    MemorySegment lock = arena.allocate(FLOCK_BYTES, Long.BYTES);
    lock.set(JAVA_SHORT, 0, type);
    return lock;
  }

  /** What follows what was read or written before, at most so many bytes. */
  public byte[] read(int mostBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate(mostBytes);
      int length = 0;
      while (length < mostBytes) {
        long more =
            LinuxCalls.read(
                LinuxCalls.errnoCapture(), fd, bytes.address() + length, mostBytes - length);
        if (more == -Errno.EINTR) {
          continue;
        }
        require("read", more);
        if (more == 0) {
          break;
        }
        length += (int) more;
      }
      return bytes.asSlice(0, length).toArray(JAVA_BYTE);
    }
  }

  /** Writes all of it behind what was read or written before. */
  public void write(byte[] bytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment copy = arena.allocateFrom(JAVA_BYTE, bytes);
      int written = 0;
      while (written < bytes.length) {
        long more =
            LinuxCalls.write(
                LinuxCalls.errnoCapture(), fd, copy.address() + written, bytes.length - written);
        if (more == -Errno.EINTR) {
          continue;
        }
        require("write", more);
        written += (int) more;
      }
    }
  }

  @Override
  public void close() {
    if (fd >= 0) {
      if (lockedAlone) {
        unlockAlone();
      }
      LinuxCalls.close(fd);
      fd = -1;
    }
  }
}
