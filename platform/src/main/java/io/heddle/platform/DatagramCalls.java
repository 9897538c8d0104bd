package io.heddle.platform;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * System calls for batches of datagrams, and a wait with nanosecond resolution. The conventions are
 * those of {@link LinuxCalls}.
 */
public final class DatagramCalls {
  private static final MethodHandle SENDMMSG = Downcalls.find("sendmmsg", 4);
  private static final MethodHandle PPOLL = Downcalls.find("ppoll", 4);
  private static final int MSG_DONTWAIT = 0x40;

  private DatagramCalls() {}

  /**
   * Sends messages without blocking. Returns the number of messages sent, at least 1, or −errno.
   */
  public static int send(MemorySegment capture, int fd, long addressOfMmsghdrs, int count) {
    try {
      return Downcalls.intResult(
          capture,
          (long)
              SENDMMSG.invokeExact(
                  capture, (long) fd, addressOfMmsghdrs, (long) count, (long) MSG_DONTWAIT, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }

  /**
   * Waits for events of descriptors, with a timeout.
   *
   * @param addressOfPollfds {@code count} of {@code int fd | short events | short returned}
   * @param addressOfTimespec two {@code long}, seconds and nanoseconds
   * @return number of descriptors with events; 0 after the timeout; otherwise the negated errno
   */
  public static int poll(
      MemorySegment capture, long addressOfPollfds, int count, long addressOfTimespec) {
    try {
      return Downcalls.intResult(
          capture,
          (long)
              PPOLL.invokeExact(
                  capture, addressOfPollfds, (long) count, addressOfTimespec, 0L, 0L));
    } catch (Throwable thrown) {
      throw Downcalls.unexpected(thrown);
    }
  }
}
