package io.heddle.platform.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Time in which at least one task of this host waited for a processor, from the kernel's pressure
 * stall information (Documentation/accounting/psi.rst, {@code some}). Zero if the kernel doesn't
 * report it.
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

  /**
   * Returns the total of the file's first line, {@code some}, in nanoseconds. The file has
   * microseconds.
   */
  static long parseStalledNs(String text) {
    int start = text.indexOf(FIELD) + FIELD.length();
    return Long.parseLong(text.substring(start, text.indexOf('\n', start))) * 1_000;
  }
}
