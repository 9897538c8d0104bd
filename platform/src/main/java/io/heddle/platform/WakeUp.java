package io.heddle.platform;

import java.lang.foreign.Arena;

/**
 * By what any thread ends the wait of one that waits for descriptors: one more of them, which can
 * be read once somebody has called {@link #wake} (eventfd(2)).
 */
public final class WakeUp {
  private static final int CLOEXEC_NONBLOCK = 0x80000 | 0x800;

  private final int fd;
  /* What is written, and behind it what is read. */
  private final long cells;

  /**
   * @param arena must outlive this, and closes it
   * @throws SystemCallException where no descriptor is to be had
   */
  public WakeUp(Arena arena) {
    cells = Memory.allocate(arena, 2L * Long.BYTES, Long.BYTES);
    Memory.setLong(cells, 1);
    fd = LinuxCalls.eventfd(0, CLOEXEC_NONBLOCK);
    if (fd < 0) {
      throw new SystemCallException("eventfd", -fd);
    }
    LinuxCalls.closeWith(arena, fd);
  }

  /** Readable from {@link #wake} to {@link #calm}. */
  public int fd() {
    return fd;
  }

  /**
   * Ends the wait, or the next one. Any thread.
   *
   * @return 0, or the negated errno
   */
  public int wake() {
    long written = LinuxCalls.write(LinuxCalls.errnoCapture(), fd, cells, Long.BYTES);
    /* A counter that is full can be read as well. */
    return written < 0 && written != -Errno.EAGAIN ? (int) written : 0;
  }

  /** The next wait lasts. The thread that waits, before it looks for what it was woken for. */
  public void calm() {
    LinuxCalls.read(LinuxCalls.errnoCapture(), fd, cells + Long.BYTES, Long.BYTES);
  }
}
