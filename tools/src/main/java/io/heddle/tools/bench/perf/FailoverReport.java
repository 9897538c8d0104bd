package io.heddle.tools.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * Report of {@code heddle perf failover}.
 *
 * @param processors number of processors of the machine
 * @param bytes size of each all-reduce
 * @param policy spray policy
 * @param rounds number of rounds
 */
record FailoverReport(int processors, long bytes, String policy, int rounds, List<Row> rows) {
  /**
   * Result of one case.
   *
   * @param plane name of the case, as in {@code --cases}
   * @param event description of the case
   * @param aimMs time in ms that the job may take from the event to full speed; 0 if no stall is
   *     allowed
   * @param rounds effect of the event in each round
   * @param met whether every round met the target
   */
  record Row(String plane, String event, int aimMs, List<Recovery> rounds, boolean met) {
    static Row of(FailoverCase of, List<Recovery> rounds) {
      boolean met =
          rounds.stream()
              .allMatch(each ->
                  of.aimMs() == 0
                      ? !each.isStall()
                      : each.fullSpeedMs() != null && each.fullSpeedMs() <= of.aimMs());
      return new Row(of.toString(), of.text(), of.aimMs(), List.copyOf(rounds), met);
    }

    String line() {
      return "%-12s %-26s %-26s %-26s %s, %s%n"
          .formatted(
              plane,
              spread(rounds.stream().map(Recovery::usualGapMs).toList()),
              spread(rounds.stream().map(Recovery::gapMs).toList()),
              fullSpeed(rounds),
              aimMs == 0 ? "no stall" : "<= " + aimMs + " ms",
              met ? "met" : "missed");
    }
  }

  FailoverReport {
    rows = List.copyOf(rows);
  }

  String table() {
    StringBuilder text = new StringBuilder(head(processors, bytes, policy, rounds));
    rows.forEach(row -> text.append(row.line()));
    return text.toString();
  }

  /** Returns the lines above the table. */
  static String head(int processors, long bytes, String policy, int rounds) {
    StringBuilder text = new StringBuilder();
    text.append(
        "# heddle perf failover: all-reduces of %s bytes by 2 ranks, policy %s, a plane lost, %s rounds, %s processors%n"
            .formatted(bytes, policy, rounds, processors));
    text.append(
        "# median (least to most), in ms; usual gap: longest time in a second without a completion"
            + " of a rank\n");
    text.append(
        "%-12s %-26s %-26s %-26s %s%n"
            .formatted("plane", "usual gap", "longest gap after", "to full speed", "aim"));
    return text.toString();
  }

  private static String fullSpeed(List<Recovery> rounds) {
    List<Double> times = new ArrayList<>();
    rounds.stream().map(Recovery::fullSpeedMs).filter(Objects::nonNull).forEach(times::add);
    String never = times.size() == rounds.size() ? "" : ", never " + (rounds.size() - times.size());
    return (times.isEmpty() ? "" : spread(times)) + never;
  }

  private static String spread(List<Double> values) {
    Quantiles all = Quantiles.of(values);
    return String.format(Locale.ROOT, "%.1f (%.1f to %.1f)", all.median(), all.least(), all.most());
  }
}
