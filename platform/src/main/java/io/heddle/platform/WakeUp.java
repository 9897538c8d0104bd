package io.heddle.platform;

import java.lang.foreign.Arena;

/**
 * Wake-up descriptor (eventfd(2)) for a thread that waits for descriptors. {@link #wake}, which any
 * thread may call, makes the descriptor readable.
 */
public final class WakeUp {
  private static final int CLOEXEC_NONBLOCK = 0x80000 | 0x800;

  private final int fd;
  /* Address of two longs: the value to write, and memory for the value that is read. */
  private final long cells;

  /**
   * Creates the descriptor.
   *
   * @param arena arena that outlives this object; its close closes the descriptor
   * @throws SystemCallException if no descriptor is available
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

  /** Returns the descriptor, which is readable from {@link #wake} to {@link #reset}. */
  public int fd() {
    return fd;
  }

  /**
   * Ends the current wait, or the next one. Any thread may call it.
   *
   * @return 0, or the negated errno
   */
  public int wake() {
    long written = LinuxCalls.write(LinuxCalls.errnoCapture(), fd, cells, Long.BYTES);
    /* With EAGAIN the counter is at its maximum, so the descriptor is readable already. */
    return written < 0 && written != -Errno.EAGAIN ? (int) written : 0;
  }

  /** Resets the descriptor. The waiting thread calls it before it looks for work. */
  public void reset() {
    LinuxCalls.read(LinuxCalls.errnoCapture(), fd, cells + Long.BYTES, Long.BYTES);
  }
}
