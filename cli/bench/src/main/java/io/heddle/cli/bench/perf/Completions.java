package io.heddle.cli.bench.perf;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * When each of a rank's sends was done, as the rank itself found: whoever looks from outside is
 * kept from its processor by the ranks, and would take that for a stall of theirs.
 *
 * @param seconds of the monotonic clock, in order
 * @param totals bytes up to and with each
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
            "%s, line %s: '%s' is no completion".formatted(file, i + 1, lines.get(i)), malformed);
      }
      totals[i] = total;
    }
    return new Completions(seconds, totals);
  }

  /** A time in which nothing was done. */
  record Gap(double from, double to) {
    double seconds() {
      return to - from;
    }
  }

  /**
   * The longest gap that a completion ended in this time, or that the time's end cut off; it may
   * have begun before.
   *
   * @param end where nothing is looked at any more: a gap that goes on after {@code to} is as long
   *     as up to there
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

  /** Bytes that were done by then. */
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
