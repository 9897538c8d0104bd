package io.heddle.platform.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How long tasks of this machine have waited for a processor so far, as the kernel counts it
 * (Documentation/accounting/psi.rst: {@code some}, in microseconds). Zero where it doesn't.
 */
final class CpuPressure {
  private static final Path CPU = Path.of("/proc/pressure/cpu");
  private static final boolean COUNTED = Files.isReadable(CPU);
  private static final String FIELD = "total=";

  private CpuPressure() {}

  static long nanoseconds() {
    if (!COUNTED) {
      return 0;
    }
    try {
      return inText(Files.readString(CPU));
    } catch (IOException failure) {
      throw new UncheckedIOException("reading " + CPU, failure);
    }
  }

  /** The same of what the file says; its first line is {@code some}. */
  static long inText(String text) {
    int start = text.indexOf(FIELD) + FIELD.length();
    return Long.parseLong(text.substring(start, text.indexOf('\n', start))) * 1_000;
  }
}
