package io.heddle.softdevice;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SocketCalls;
import io.heddle.platform.SystemCallException;
import java.lang.foreign.Arena;

/**
 * Which of several files can be read, level-triggered. Files are added on the control path; one
 * thread at a time waits.
 */
final class Epoll {
  /** Files that one wait tells of at most. */
  static final int EVENTS = 64;

  private static final int CTL_ADD = 1;
  private static final int CTL_DELETE = 2;
  private static final int IN = 1;
  /* Packed on x86-64 only. */
  private static final int EVENT_BYTES = System.getProperty("os.arch").equals("amd64") ? 12 : 16;

  private final int fd;
  private final long events;

  /**
   * @param arena must outlive this, and closes it
   */
  Epoll(Arena arena) {
    events = Memory.allocate(arena, (long) EVENTS * EVENT_BYTES, 16);
    fd = LinuxCalls.epollCreate();
    if (fd < 0) {
      throw new SystemCallException("epoll_create1", -fd);
    }
    LinuxCalls.closeWith(arena, fd);
  }

  int fd() {
    return fd;
  }

  /** Tells of this file from now on, by the number that the caller has for it. */
  void add(int file, int number) {
    control(CTL_ADD, "epoll_ctl(EPOLL_CTL_ADD)", file, number);
  }

  /** Tells of this file no more. */
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

  /** Files that can be read at this moment, or a negated errno. */
  int look() {
    return SocketCalls.ready(fd, events, EVENTS);
  }

  /** Waits for files that can be read, for ever with −1. Their number, or a negated errno. */
  int await(int timeoutMs) {
    return LinuxCalls.epollWait(LinuxCalls.errnoCapture(), fd, events, EVENTS, timeoutMs);
  }

  /** Number of the file that the last call told of in this place. */
  int number(int place) {
    return (int) Memory.ALL.get(Memory.NATIVE_LONG, events + (long) (place + 1) * EVENT_BYTES - 8);
  }
}
