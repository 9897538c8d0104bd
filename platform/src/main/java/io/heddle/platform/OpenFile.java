package io.heddle.platform;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Open regular file. Failures are {@link SystemCallException}s with the errno. */
public final class OpenFile implements AutoCloseable {
  private static final int FLOCK_BYTES = 32;
  private static final short F_RDLCK = 0;
  private static final short F_WRLCK = 1;
  private static final short F_UNLCK = 2;

  private final String path;
  private int fd;
  private boolean lockedExclusively;

  OpenFile(String path, int fd) {
    this.path = path;
    this.fd = fd;
  }

  /** Returns the path, for error messages. */
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

  /**
   * Returns the file's current length, and moves the file's position to its end. After the file is
   * closed, the result is negative.
   */
  public long sizeBytes() {
    return FileCalls.seekEnd(fd);
  }

  /** Sets the file's length. New bytes take no space until {@link #allocate}. */
  public void resize(long lengthBytes) {
    require("ftruncate", FileCalls.ftruncate(fd, lengthBytes));
  }

  /**
   * Allocates space for a range. Without it, a store to a mapped page on a full file system kills
   * the process.
   */
  public void allocate(long offset, long lengthBytes) {
    int result = FileCalls.posixFallocate(fd, offset, lengthBytes);
    while (result == -Errno.EINTR) {
      result = FileCalls.posixFallocate(fd, offset, lengthBytes);
    }
    require("posix_fallocate", result);
  }

  /**
   * Maps the file's first bytes in shared mode and returns the address. {@link
   * MemoryCalls#unmapMemory} unmaps them.
   */
  public long map(long lengthBytes, boolean writing) {
    long address = MemoryCalls.mapFile(fd, lengthBytes, writing);
    require("mmap", address);
    return address;
  }

  public void setMode(int mode) {
    require("fchmod", FileCalls.fchmod(fd, mode));
  }

  /**
   * Locks the whole file against other processes. The lock ends when this process ends, or closes
   * any descriptor of the file. A forked child doesn't inherit it.
   *
   * @return false if another process holds the lock
   */
  public boolean tryLock() {
    return tryLock(FileCalls.F_SETLK);
  }

  /**
   * Locks the whole file against everyone else who opened it, in this process too, until this
   * object is closed.
   *
   * @return false if somebody else holds the lock
   */
  public boolean tryLockExclusively() {
    lockedExclusively |= tryLock(FileCalls.F_OFD_SETLK);
    return lockedExclusively;
  }

  /*
   * Releases the lock explicitly. Closing alone isn't enough: a child that another thread forks
   * shares the lock until its exec.
   */
  private void unlockExclusively() {
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

  /** Returns whether another process holds the lock. */
  public boolean isLocked() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment lock = flock(arena, F_RDLCK);
      require("fcntl F_GETLK", FileCalls.fcntl(fd, FileCalls.F_GETLK, lock.address()));
      return lock.get(JAVA_SHORT, 0) != F_UNLCK;
    }
  }

  /*
   * Returns a struct flock for the whole file. Its fields are two shorts, type and whence, then
   * start, length (0 means to the end), and process.
   */
  private static MemorySegment flock(Arena arena, short type) {
    MemorySegment lock = arena.allocate(FLOCK_BYTES, Long.BYTES);
    lock.set(JAVA_SHORT, 0, type);
    return lock;
  }

  /** Reads from the current position, at most {@code mostBytes}. */
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

  /** Writes all bytes at the current position. */
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
      if (lockedExclusively) {
        unlockExclusively();
      }
      LinuxCalls.close(fd);
      fd = -1;
    }
  }
}
