package io.heddle.tools.simulate;

import io.heddle.cli.kit.ProgressLine;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Progress line of a long run with its estimated remaining time, on standard error. */
final class Estimate {
  private static final long QUIET_NS = TimeUnit.SECONDS.toNanos(2);
  private static final double PERCENT = 100;

  private final ProgressLine line = ProgressLine.onStandardError();
  private final long startNs = System.nanoTime();

  /**
   * Reports progress.
   *
   * @param part completed part, 0 to 1
   */
  void update(String what, double part) {
    long tookNs = System.nanoTime() - startNs;
    if (tookNs < QUIET_NS) {
      return;
    }
    String left =
        part > 0
            ? ", about %s s left".formatted((long) Math.ceil(tookNs * (1 - part) / part / 1e9))
            : "";
    line.update(() ->
        String.format(Locale.ROOT, "heddle simulate: %s, %.0f %%%s", what, PERCENT * part, left));
  }

  void end() {
    line.clear();
  }
}
