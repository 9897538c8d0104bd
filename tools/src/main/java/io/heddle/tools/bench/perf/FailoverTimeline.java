package io.heddle.tools.bench.perf;

import io.heddle.tools.job.AllReducePlan;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Timeline of the events around a plane loss: log lines of a round's ranks, and gaps in their
 * completions.
 */
final class FailoverTimeline {
  /** Line of a rank's log: the time in seconds, and the text. */
  private static final Pattern LINE = Pattern.compile("(\\d+\\.\\d+) (.*)");

  private static final double BEFORE_SECONDS = 0.05;
  private static final double AFTER_SECONDS = 0.75;
  private static final double MS = 1e3;

  /** Shortest gap between two completions, in seconds, that the timeline lists. */
  private static final double GAP_SECONDS = 0.008;

  private record Entry(double seconds, String text) {}

  private FailoverTimeline() {}

  /**
   * Returns the timeline, with times in milliseconds since the event.
   *
   * @param event time at which the command that causes the event was started, in seconds of the
   *     monotonic clock
   * @param over time at which that command had ended, in seconds of the monotonic clock
   * @param done completions of each rank
   */
  static String of(AllReducePlan plan, int ranks, double event, double over, List<Completions> done)
      throws IOException {
    List<Entry> entries = new ArrayList<>();
    entries.add(new Entry(event, "the command that causes the event starts"));
    entries.add(new Entry(over, "the command that causes the event has ended"));
    for (int rank = 0; rank < ranks; rank++) {
      for (String line : Files.readAllLines(plan.log(rank))) {
        Matcher timed = LINE.matcher(line);
        if (timed.matches()) {
          entries.add(new Entry(Double.parseDouble(timed.group(1)), timed.group(2)));
        }
      }
      entries.addAll(gaps(rank, done.get(rank)));
    }
    entries.sort(Comparator.comparingDouble(Entry::seconds));
    StringBuilder text = new StringBuilder();
    for (Entry entry : entries) {
      double since = entry.seconds() - event;
      if (since >= -BEFORE_SECONDS && since <= AFTER_SECONDS) {
        text.append(String.format(Locale.ROOT, "%8.2f  %s%n", MS * since, entry.text()));
      }
    }
    return text.append(System.lineSeparator()).toString();
  }

  private static List<Entry> gaps(int rank, Completions done) {
    List<Entry> entries = new ArrayList<>();
    double[] seconds = done.seconds();
    for (int i = 1; i < seconds.length; i++) {
      double gap = seconds[i] - seconds[i - 1];
      if (gap >= GAP_SECONDS) {
        entries.add(
            new Entry(
                seconds[i],
                String.format(
                    Locale.ROOT,
                    "rank %d: a send completes, the first for %.1f ms",
                    rank,
                    MS * gap)));
      }
    }
    return entries;
  }
}
