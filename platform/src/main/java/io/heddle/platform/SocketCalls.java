package io.heddle.platform;

import java.lang.foreign.MemorySegment;

/**
 * The system calls of a data path that never wait: by the plugin's shim where there is one, since
 * that needs no errno kept on the way back to Java, else by {@link LinuxCalls}. Each returns what
 * the system call does, or the negated errno.
 */
public final class SocketCalls {
  private static final int MSG_DONTWAIT = 0x40;
  private static final boolean BY_SHIM = ShimCalls.hasSocketCalls();

  private SocketCalls() {}

  /** sendmsg(2) without waiting. Bytes sent. */
  public static int send(int fd, long addressOfMsghdr) {
    return (int)
        (BY_SHIM
            ? ShimCalls.send(fd, addressOfMsghdr, MSG_DONTWAIT)
            : LinuxCalls.sendmsg(LinuxCalls.errnoCapture(), fd, addressOfMsghdr, MSG_DONTWAIT));
  }

  /** recvmmsg(2) without waiting. Messages received. */
  public static int receive(int fd, long addressOfMmsghdrs, int count) {
    return BY_SHIM
        ? (int) ShimCalls.receive(fd, addressOfMmsghdrs, count, MSG_DONTWAIT)
        : LinuxCalls.recvmmsg(
            LinuxCalls.errnoCapture(), fd, addressOfMmsghdrs, count, MSG_DONTWAIT);
  }

  /** epoll_wait(2) without waiting. Events that were written. */
  public static int ready(int epollFd, long addressOfEvents, int mostEvents) {
    return BY_SHIM
        ? (int) ShimCalls.ready(epollFd, addressOfEvents, mostEvents)
        : LinuxCalls.epollWait(LinuxCalls.errnoCapture(), epollFd, addressOfEvents, mostEvents, 0);
  }

  /**
   * Has a connected socket send these bytes by their own pages, in one piece, through a pipe that
   * is empty: vmsplice(2) and splice(2). Where it fails, something may be left in the pipe.
   *
   * @param cell address of 16 bytes that the call may use
   * @return 0 when they left; −ENOSPC when the pipe doesn't take so many pages; −EIO when a part of
   *     them left; else the negated errno of what refused
   */
  public static int lend(
      int pipeIn, int pipeOut, int socketFd, long address, int lengthBytes, long cell) {
    if (BY_SHIM) {
      return (int) ShimCalls.lend(pipeIn, pipeOut, socketFd, address, lengthBytes);
    }
    MemorySegment capture = LinuxCalls.errnoCapture();
    Memory.ALL.set(Memory.NATIVE_LONG, cell, address);
    Memory.ALL.set(Memory.NATIVE_LONG, cell + 8, lengthBytes);
    long taken = LinuxCalls.vmsplice(capture, pipeIn, cell);
    if (taken != lengthBytes) {
      return taken >= 0 || taken == -Errno.EAGAIN ? -Errno.ENOSPC : (int) taken;
    }
    long left = LinuxCalls.splice(capture, pipeOut, socketFd, lengthBytes);
    return left == lengthBytes ? 0 : left < 0 ? (int) left : -Errno.EIO;
  }
}
