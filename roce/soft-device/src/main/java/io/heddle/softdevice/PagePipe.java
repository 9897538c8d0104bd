package io.heddle.softdevice;

import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.SocketCalls;
import io.heddle.roce.transport.TransmitRing;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A pipe through which a socket gets pages as they lie, instead of a copy of them (vmsplice(2),
 * splice(2)). The kernel reads them until the packets are gone, so what lies there must stay until
 * the peer has them. One thread at a time.
 */
final class PagePipe {
  /** Pages begin at multiples of this, at the least. */
  static final int PAGE_BYTES = 4096;

  /* Before 6.5 the kernel copied what came out of a pipe, page by page; 6.6 ended the flaws of the new way. */
  private static final int FIRST_MAJOR = 6;
  private static final int FIRST_MINOR = 6;

  private static final int CLOEXEC_NONBLOCK = 0x80000 | 0x800;

  /* iovec 16 | the pipe's ends, 2 of 4 bytes */
  private static final int CELLS_BYTES = 24;

  private final int readEnd;
  private final int writeEnd;
  private final long vector;
  /* Where what didn't leave goes, so that the pipe is empty again. */
  private final long sink;

  /* By these ends, where they are open or not. */
  PagePipe(long cells, long sink) {
    this.sink = sink;
    vector = cells;
    readEnd = Memory.ALL.get(Memory.NATIVE_INT, cells + 16);
    writeEnd = Memory.ALL.get(Memory.NATIVE_INT, cells + 20);
  }

  /**
   * A pipe, or null where the kernel would copy all the same, or has no pipe to give.
   *
   * @param arena must outlive it, and closes it
   * @param kernel its release, such as "6.6.1"
   */
  static @Nullable PagePipe open(Arena arena, String kernel) {
    if (!passesPages(kernel)) {
      return null;
    }
    long cells = Memory.allocate(arena, CELLS_BYTES, 8);
    long sink = Memory.allocate(arena, TransmitRing.SLOT_BYTES, 8);
    if (LinuxCalls.pipe(cells + 16, CLOEXEC_NONBLOCK) < 0) {
      return null;
    }
    PagePipe pipe = new PagePipe(cells, sink);
    LinuxCalls.closeWith(arena, pipe.readEnd);
    LinuxCalls.closeWith(arena, pipe.writeEnd);
    return pipe;
  }

  /** Whether a kernel of this release takes pages out of a pipe without copying them. */
  static boolean passesPages(String kernel) {
    int major = number(kernel, 0);
    int dot = kernel.indexOf('.');
    int minor = dot < 0 ? -1 : number(kernel, dot + 1);
    return minor >= 0 && (major > FIRST_MAJOR || major == FIRST_MAJOR && minor >= FIRST_MINOR);
  }

  /* The number that begins there, or -1. */
  private static int number(String text, int from) {
    int end = from;
    while (end < text.length() && end < from + 4 && Character.isDigit(text.charAt(end))) {
      end++;
    }
    return end == from ? -1 : Integer.parseInt(text, from, end, 10);
  }

  /**
   * Has a connected socket send these bytes, at most 16 pages from the beginning of one, in one
   * piece.
   *
   * @return 0 when they left; −EAGAIN when the socket is full; −ENOSPC when the pipe doesn't take
   *     so many pages; else the negated errno of what refused: then they didn't leave as a whole
   */
  int send(int socketFd, long address, int lengthBytes) {
    int result = SocketCalls.lend(writeEnd, readEnd, socketFd, address, lengthBytes, vector);
    if (result != 0) {
      empty();
    }
    return result;
  }

  /** Where pages go in: a test may leave less room. */
  int writeEnd() {
    return writeEnd;
  }

  private void empty() {
    MemorySegment capture = LinuxCalls.errnoCapture();
    long emptied = 1;
    while (emptied > 0) {
      emptied = LinuxCalls.read(capture, readEnd, sink, TransmitRing.SLOT_BYTES);
    }
  }
}
