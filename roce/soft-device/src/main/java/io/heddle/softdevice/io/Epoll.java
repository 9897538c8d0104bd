package io.heddle.softdevice.io;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SocketCalls;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;

/**
 * Level-triggered epoll instance for readable descriptors. The control path adds descriptors. One
 * thread at a time waits.
 */
public final class Epoll {
  /** Largest number of events per wait. */
  static final int EVENTS = 64;

  private static final int CTL_ADD = 1;
  private static final int CTL_DELETE = 2;
  private static final int IN = 1;
  /* The structure is packed on x86-64 only. */
  private static final int EVENT_BYTES = System.getProperty("os.arch").equals("amd64") ? 12 : 16;

  private final int fd;
  private final long events;

  /**
   * @param arena must outlive this object; its close closes the descriptor
   */
  public Epoll(Arena arena) {
    events = Memory.allocate(arena, (long) EVENTS * EVENT_BYTES, 16);
    fd = LinuxCalls.epollCreate();
    if (fd < 0) {
      throw new SystemCallException("epoll_create1", -fd);
    }
    LinuxCalls.closeWith(arena, fd);
  }

  public int fd() {
    return fd;
  }

  /** Adds a descriptor; events report it as this number. */
  public void add(int file, int number) {
    control(CTL_ADD, "epoll_ctl(EPOLL_CTL_ADD)", file, number);
  }

  /** Removes a descriptor. */
  void remove(int file) {
    control(CTL_DELETE, "epoll_ctl(EPOLL_CTL_DEL)", file, 0);
  }

  private void control(int operation, String name, int file, int number) {
    try (Arena confined = Arena.ofConfined()) {
      long event = Memory.allocate(confined, EVENT_BYTES, 8);
      Memory.ALL.set(Memory.NATIVE_INT, event, IN);
      Memory.ALL.set(Memory.NATIVE_LONG, event + EVENT_BYTES - 8, number);
      int result = LinuxCalls.epollControl(fd, operation, file, event);
      if (result < 0) {
        throw new SystemCallException(name, -result);
      }
    }
  }

  /** Returns the number of readable descriptors now, or a negated errno. */
  int poll() {
    return SocketCalls.ready(fd, events, EVENTS);
  }

  /**
   * Waits for readable descriptors; without time limit if the timeout is −1. Returns their number,
   * or a negated errno.
   */
  public int await(int timeoutMs) {
    return LinuxCalls.epollWait(LinuxCalls.errnoCapture(), fd, events, EVENTS, timeoutMs);
  }

  /** Returns the number given to {@link #add} for a descriptor, by its index in the last result. */
  public int number(int index) {
    return (int) Memory.ALL.get(Memory.NATIVE_LONG, events + (long) (index + 1) * EVENT_BYTES - 8);
  }
}
