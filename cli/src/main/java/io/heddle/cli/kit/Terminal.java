package io.heddle.cli.kit;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.heddle.platform.LinuxCalls;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Size of the terminal on standard output.
 *
 * @param columns number of columns; 0 without a terminal
 * @param rows number of rows; 0 without a terminal
 */
public record Terminal(int columns, int rows) {
  private static final int STANDARD_OUTPUT = 1;
  private static final long TIOCGWINSZ = 0x5413;
  private static final int WINSIZE_BYTES = 8;
  private static final int USUAL_COLUMNS = 80;
  private static final int USUAL_ROWS = 24;

  /** Returns the current size. Don't store it, since a window's size changes. */
  public static Terminal current() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment winsize = arena.allocate(WINSIZE_BYTES);
      if (LinuxCalls.ioctl(STANDARD_OUTPUT, TIOCGWINSZ, winsize.address()) < 0) {
        return new Terminal(0, 0);
      }
      int rows = Short.toUnsignedInt(winsize.get(JAVA_SHORT, 0));
      int columns = Short.toUnsignedInt(winsize.get(JAVA_SHORT, 2));
      return new Terminal(columns == 0 ? USUAL_COLUMNS : columns, rows == 0 ? USUAL_ROWS : rows);
    }
  }

  public boolean exists() {
    return columns > 0;
  }
}
