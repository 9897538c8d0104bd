package io.heddle.platform;

import java.lang.foreign.MemorySegment;

/**
 * Non-blocking system calls of the data path. In the plugin they go through the shim ({@link
 * ShimCalls}), which is faster because Java needn't capture errno; elsewhere through {@link
 * LinuxCalls}. Each returns the system call's result, or the negated errno.
 */
public final class SocketCalls {
  /**
   * Size of the scratch memory of {@link #send}: {@code msghdr 56 | iovec 16 | cmsghdr with a u16,
   * 24}.
   */
  public static final int CELL_BYTES = 56 + 16 + 24;

  private static final int MSG_DONTWAIT = 0x40;
  private static final int SOL_UDP = 17;
  private static final int UDP_SEGMENT = 103;
  private static final boolean BY_SHIM = ShimCalls.hasSocketCalls();

  private SocketCalls() {}

  /**
   * Sends on a connected socket without blocking: one datagram, or several by UDP segmentation
   * offload (udp(7), UDP_SEGMENT). Returns the number of bytes sent.
   *
   * @param segmentBytes length of each datagram except the last, which may be shorter; 0 for one
   *     datagram, or for the socket's own UDP_SEGMENT
   * @param cell address of {@link #CELL_BYTES} of scratch memory, a multiple of eight
   */
  public static int send(int fd, long address, int lengthBytes, int segmentBytes, long cell) {
    return (int)
        (BY_SHIM
            ? ShimCalls.send(fd, address, lengthBytes, segmentBytes)
            : LinuxCalls.sendmsg(
                LinuxCalls.errnoCapture(),
                fd,
                message(address, lengthBytes, segmentBytes, cell),
                MSG_DONTWAIT));
  }

  private static long message(long address, int lengthBytes, int segmentBytes, long cell) {
    long vector = cell + 56;
    long control = vector + 16;
    for (int at = 0; at < CELL_BYTES; at += Long.BYTES) {
      Memory.ALL.set(Memory.NATIVE_LONG, cell + at, 0);
    }
    Memory.ALL.set(Memory.NATIVE_LONG, cell + 16, vector);
    Memory.ALL.set(Memory.NATIVE_LONG, cell + 24, 1);
    Memory.ALL.set(Memory.NATIVE_LONG, vector, address);
    Memory.ALL.set(Memory.NATIVE_LONG, vector + 8, lengthBytes);
    if (segmentBytes != 0) {
      Memory.ALL.set(Memory.NATIVE_LONG, cell + 32, control);
      Memory.ALL.set(Memory.NATIVE_LONG, cell + 40, 24);
      Memory.ALL.set(Memory.NATIVE_LONG, control, 18);
      Memory.ALL.set(Memory.NATIVE_INT, control + 8, SOL_UDP);
      Memory.ALL.set(Memory.NATIVE_INT, control + 12, UDP_SEGMENT);
      Memory.ALL.set(Memory.NATIVE_SHORT, control + 16, (short) segmentBytes);
    }
    return cell;
  }

  /** Calls recvmmsg(2) without blocking. Returns the number of messages received. */
  public static int receive(int fd, long addressOfMmsghdrs, int count) {
    return BY_SHIM
        ? (int) ShimCalls.receive(fd, addressOfMmsghdrs, count)
        : LinuxCalls.recvmmsg(
            LinuxCalls.errnoCapture(), fd, addressOfMmsghdrs, count, MSG_DONTWAIT);
  }

  /** Calls epoll_wait(2) without blocking. Returns the number of events. */
  public static int ready(int epollFd, long addressOfEvents, int mostEvents) {
    return BY_SHIM
        ? (int) ShimCalls.ready(epollFd, addressOfEvents, mostEvents)
        : LinuxCalls.epollWait(LinuxCalls.errnoCapture(), epollFd, addressOfEvents, mostEvents, 0);
  }

  /**
   * Sends bytes on a connected socket without a copy, through an empty pipe: vmsplice(2) and
   * splice(2). After a failure the pipe may not be empty.
   *
   * @param cell address of 16 bytes of scratch memory
   * @return 0 if all bytes were sent; −ENOSPC if the pipe is too small for all pages; −EIO if only
   *     a part was sent; otherwise the negated errno of the failed call
   */
  public static int sendPages(
      int pipeIn, int pipeOut, int socketFd, long address, int lengthBytes, long cell) {
    if (BY_SHIM) {
      return (int) ShimCalls.sendPages(pipeIn, pipeOut, socketFd, address, lengthBytes);
    }
    MemorySegment capture = LinuxCalls.errnoCapture();
    Memory.ALL.set(Memory.NATIVE_LONG, cell, address);
    Memory.ALL.set(Memory.NATIVE_LONG, cell + 8, lengthBytes);
    long taken = PipeCalls.vmsplice(capture, pipeIn, cell);
    if (taken != lengthBytes) {
      return taken >= 0 || taken == -Errno.EAGAIN ? -Errno.ENOSPC : (int) taken;
    }
    long left = PipeCalls.splice(capture, pipeOut, socketFd, lengthBytes);
    return left == lengthBytes ? 0 : left < 0 ? (int) left : -Errno.EIO;
  }
}
