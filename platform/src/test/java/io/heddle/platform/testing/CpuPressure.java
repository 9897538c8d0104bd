package io.heddle.platform.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Time that tasks of this host have waited for a processor, from the kernel's pressure stall
 * information (Documentation/accounting/psi.rst: {@code some}, in microseconds). Zero if it isn't
 * available.
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
      return parseStalledNs(Files.readString(CPU));
    } catch (IOException failure) {
      throw new UncheckedIOException("reading " + CPU, failure);
    }
  }

  /** Parses the text of the kernel's file, whose first line is {@code some}. */
  static long parseStalledNs(String text) {
    int start = text.indexOf(FIELD) + FIELD.length();
    return Long.parseLong(text.substring(start, text.indexOf('\n', start))) * 1_000;
  }
}
