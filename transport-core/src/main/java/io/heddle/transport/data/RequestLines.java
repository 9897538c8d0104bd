package io.heddle.transport.data;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.Memory;

/**
 * Request lines of one communicator: {@code struct heddle_request} of native/src/java_calls.h, 64
 * bytes each.
 *
 * <p>The thread that drives the communicator writes sizes, then the state with release; the shim
 * reads the state with acquire. The shim writes RELEASED with release once it has answered for a
 * finished request; {@link #claim} reads it with acquire. A line is in use from claim to RELEASED.
 */
public final class RequestLines {
  public static final int BYTES = 64;

  public static final int PENDING = 0;
  private static final int DONE = 1;
  public static final int RELEASED = 2;
  private static final int COUNT = 4;
  private static final int SIZES = 8;
  private static final int COMM = 40;
  private static final int FIRST_WINDOW = 16;

  private final long base;
  private final int lines;
  private final long commAddress;
  /* Number of lines that are used in rotation, a power of two; it doubles when all are in use. */
  private int window;
  private int cursor;
  /* Number of lines that were ever in use; the others cost no memory yet. */
  private int begun;

  /**
   * @param base address of the lines: zeros, aligned to {@link #BYTES}
   * @param lines number of lines, a power of two
   * @param commAddress address of the communicator's line, to which the request lines point
   */
  public RequestLines(long base, int lines, long commAddress) {
    this.base = base;
    this.commAddress = commAddress;
    this.lines = lines;
    window = Math.min(FIRST_WINDOW, lines);
  }

  int count() {
    return lines;
  }

  public long address(int line) {
    return base + (long) line * BYTES;
  }

  int line(long address) {
    return (int) ((address - base) / BYTES);
  }

  boolean isPending(int line) {
    return line < begun && Memory.getIntAcquire(address(line)) == PENDING;
  }

  /**
   * Claims a free line and makes it pending. Returns its index, or −1 when all are in use. A line
   * that was never used is taken only where all others are in use, so that per-line memory stays
   * small.
   */
  public int claim() {
    int line = claimOfWindow();
    if (line < 0 && window < lines) {
      cursor = window;
      window *= 2;
      line = claimOfWindow();
    }
    return line;
  }

  private int claimOfWindow() {
    for (int i = 0; i < window; i++) {
      int line = cursor;
      cursor = (cursor + 1) & window - 1;
      long address = address(line);
      if (line == begun) {
        begun++;
        Memory.ALL.set(Memory.NATIVE_LONG, address + COMM, commAddress);
        Memory.ALL.set(JAVA_INT, address, PENDING);
        return line;
      }
      if (Memory.getIntAcquire(address) == RELEASED) {
        Memory.ALL.set(JAVA_INT, address, PENDING);
        return line;
      }
    }
    return -1;
  }

  void setSize(int line, int index, int sizeBytes) {
    Memory.ALL.set(JAVA_INT, address(line) + SIZES + (long) index * Integer.BYTES, sizeBytes);
  }

  /** Finishes a request whose sizes are set; pairs with the acquire in the shim's test(). */
  public void complete(int line, int sizes) {
    Memory.ALL.set(JAVA_INT, address(line) + COUNT, sizes);
    Memory.setIntRelease(address(line), DONE);
  }

  /** Ends a pending request with this result. */
  public void fail(int line, int result) {
    Memory.setIntRelease(address(line), -result);
  }

  /** Ends every pending request with this result; finished ones keep theirs. */
  public void failPending(int result) {
    for (int line = 0; line < begun; line++) {
      if (Memory.getIntAcquire(address(line)) == PENDING) {
        Memory.setIntRelease(address(line), -result);
      }
    }
  }

  /** Returns whether some request isn't finished yet. */
  public boolean isAnyPending() {
    for (int line = 0; line < begun; line++) {
      if (Memory.getIntAcquire(address(line)) == PENDING) {
        return true;
      }
    }
    return false;
  }
}
