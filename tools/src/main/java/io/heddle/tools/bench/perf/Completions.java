package io.heddle.tools.bench.perf;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Completion times of a rank's sends. The rank records them itself: an observing process would be
 * delayed by the ranks on its processor, and would take its own delay for a stall of theirs.
 *
 * @param seconds completion times in ascending order, in seconds of the monotonic clock
 * @param totals number of bytes sent up to and including each completion
 */
record Completions(double[] seconds, long[] totals) {
  static Completions read(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    double[] seconds = new double[lines.size()];
    long[] totals = new long[lines.size()];
    long total = 0;
    for (int i = 0; i < lines.size(); i++) {
      String[] words = lines.get(i).split(" ");
      try {
        seconds[i] = Double.parseDouble(words[0]);
        total += Long.parseLong(words[1]);
      } catch (NumberFormatException | ArrayIndexOutOfBoundsException malformed) {
        throw new HeddleException(
            "%s, line %s: '%s' is not a completion".formatted(file, i + 1, lines.get(i)),
            malformed);
      }
      totals[i] = total;
    }
    return new Completions(seconds, totals);
  }

  /** Interval between two successive completions. */
  record Gap(double from, double to) {
    double seconds() {
      return to - from;
    }
  }

  /**
   * Returns the longest gap that ended within the interval or was still open at its end. A gap may
   * have begun before the interval.
   *
   * @param end time at which a gap counts as ended if it has no end before
   */
  Gap longestGap(double from, double to, double end) {
    Gap longest = new Gap(from, from);
    double before = from;
    for (double at : seconds) {
      if (at > from) {
        Gap gap = new Gap(before, Math.min(at, end));
        longest = gap.seconds() > longest.seconds() ? gap : longest;
      }
      before = at;
      if (at >= to) {
        return longest;
      }
    }
    Gap rest = new Gap(before, end);
    return rest.seconds() > longest.seconds() ? rest : longest;
  }

  /** Returns the number of bytes completed up to and including {@code time}. */
  long bytesAt(double time) {
    int low = 0;
    int high = seconds.length;
    while (low < high) {
      int middle = low + high >>> 1;
      if (seconds[middle] <= time) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low == 0 ? 0 : totals[low - 1];
  }
}
