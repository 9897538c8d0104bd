package io.heddle.softdevice.io;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.PipeCalls;
import io.heddle.platform.SocketCalls;
import io.heddle.roce.transport.TransmitRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Pipe that passes pages to a socket without a copy (vmsplice(2), splice(2)). The kernel reads the
 * pages until the packets are sent, so the pages must stay unchanged until the peer has the data.
 * Used by one thread at a time.
 */
public final class PagePipe {
  /** Smallest page size. */
  static final int PAGE_BYTES = 4096;

  /*
   * First kernel release on which pipes are used. Before 6.5 the kernel copied pages from a pipe;
   * 6.6 fixed the first bugs of the zero-copy path.
   */
  private static final int FIRST_MAJOR = 6;
  private static final int FIRST_MINOR = 6;

  private static final int CLOEXEC_NONBLOCK = 0x80000 | 0x800;

  /* Layout: iovec 16 | both ends of the pipe, 4 bytes each. */
  private static final int CELLS_BYTES = 24;

  private final int readEnd;
  private final int writeEnd;
  private final long vector;
  /* Buffer for draining unsent data from the pipe. */
  private final long drainBuffer;

  /* Creates a pipe from the ends in these cells. A test may pass ends that aren't open. */
  PagePipe(long cells, long sink) {
    this.drainBuffer = sink;
    vector = cells;
    readEnd = Memory.ALL.get(Memory.NATIVE_INT, cells + 16);
    writeEnd = Memory.ALL.get(Memory.NATIVE_INT, cells + 20);
  }

  /**
   * Opens a pipe. Returns null if the kernel would copy anyway or has no pipe left.
   *
   * @param arena must outlive the pipe; its close closes the pipe
   * @param kernel the kernel's release, such as "6.6.1"
   */
  public static @Nullable PagePipe open(Arena arena, String kernel) {
    if (!supportsPages(kernel)) {
      return null;
    }
    long cells = Memory.allocate(arena, CELLS_BYTES, 8);
    long sink = Memory.allocate(arena, TransmitRing.SLOT_BYTES, 8);
    if (PipeCalls.pipe(cells + 16, CLOEXEC_NONBLOCK) < 0) {
      return null;
    }
    PagePipe pipe = new PagePipe(cells, sink);
    LinuxCalls.closeWith(arena, pipe.readEnd);
    LinuxCalls.closeWith(arena, pipe.writeEnd);
    return pipe;
  }

  /** Returns whether a kernel of this release takes pages from a pipe without a copy. */
  static boolean supportsPages(String kernel) {
    int major = number(kernel, 0);
    int dot = kernel.indexOf('.');
    int minor = dot < 0 ? -1 : number(kernel, dot + 1);
    return minor >= 0 && (major > FIRST_MAJOR || major == FIRST_MAJOR && minor >= FIRST_MINOR);
  }

  /* Returns the number at this position of the text, or -1. */
  private static int number(String text, int from) {
    int end = from;
    while (end < text.length() && end < from + 4 && Character.isDigit(text.charAt(end))) {
      end++;
    }
    return end == from ? -1 : Integer.parseInt(text, from, end, 10);
  }

  /**
   * Sends bytes on a connected socket in one piece, at most 16 pages, page-aligned.
   *
   * @return 0 if all bytes were sent; −EAGAIN if the socket is full; −ENOSPC if the pipe holds
   *     fewer pages; otherwise the negated errno of the failed call, after which a part may have
   *     been sent
   */
  int send(int socketFd, long address, int lengthBytes) {
    int result = SocketCalls.sendPages(writeEnd, readEnd, socketFd, address, lengthBytes, vector);
    if (result != 0) {
      empty();
    }
    return result;
  }

  /** Returns the write end, so that a test can reduce the pipe's capacity. */
  int writeEnd() {
    return writeEnd;
  }

  private void empty() {
    MemorySegment capture = LinuxCalls.errnoCapture();
    long emptied = 1;
    while (emptied > 0) {
      emptied = LinuxCalls.read(capture, readEnd, drainBuffer, TransmitRing.SLOT_BYTES);
    }
  }
}
