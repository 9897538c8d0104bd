package io.heddle.tools.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Report of {@code heddle perf among-threads}: all-reduce times of several contestants.
 *
 * @param network isolation of the hosts
 * @param processors number of processors of the machine
 * @param load load average of the last minute before the measurement
 * @param loadAtEnd load average of the last minute at the end, which includes the measurement's own
 *     load
 * @param algorithm topology of the all-reduce
 * @param ranks number of ranks
 * @param channels number of concurrent channels of each rank
 * @param spins number of empty polls after which the thread that stands for the GPU's kernels
 *     yields its core; 0 for never
 * @param rounds number of turns of each contestant at each size
 * @param turns number of all-reduces in a turn
 * @param contestants names of the contestants in order; the last one is the rival with which the
 *     others are compared
 */
record AmongThreadsReport(
    String network,
    int processors,
    double load,
    double loadAtEnd,
    Algorithm algorithm,
    int ranks,
    int channels,
    int spins,
    int rounds,
    int turns,
    List<String> contestants,
    List<Row> rows) {
  /*
   * Run time in µs from which the table shows a thread. Threads that ran less are only in the JSON.
   */
  private static final double LEAST_SHOWN_US = 0.5;

  /** Topology of the all-reduce. */
  enum Algorithm {
    RING,
    TREE;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * Results of all contestants at one size.
   *
   * @param bytes size of each all-reduce
   */
  record Row(long bytes, List<Cell> cells) {}

  /**
   * Result of one contestant at one size.
   *
   * @param medianUs median over the rounds, µs
   * @param lowerQuartileUs lower quartile over the rounds, µs
   * @param upperQuartileUs upper quartile over the rounds, µs
   * @param timesRival median over the rounds of the rival's time ÷ this contestant's; above 1 this
   *     contestant is faster
   * @param lowerQuartileTimesRival lower quartile of this ratio
   * @param upperQuartileTimesRival upper quartile of this ratio
   * @param rounds median time of an all-reduce in each round's turn, µs; values of contestants at
   *     the same index are from the same round
   * @param threads accounts of a rank's threads for an all-reduce and the small one before it, in
   *     descending order of run time; empty unless enabled
   */
  record Cell(
      double medianUs,
      double lowerQuartileUs,
      double upperQuartileUs,
      double timesRival,
      double lowerQuartileTimesRival,
      double upperQuartileTimesRival,
      List<Double> rounds,
      List<ThreadAccount> threads) {}

  /** Source of the scheduler statistics of a contestant's threads at a size. */
  interface Accounts {
    List<ThreadAccount> of(int contestant, long bytes);
  }

  /**
   * Builds the rows of the table.
   *
   * @param figures times of each contestant in µs, by size, one per round
   */
  static List<Row> rows(List<Map<Long, List<Double>>> figures, Accounts accounts) {
    List<Row> rows = new ArrayList<>();
    for (Map.Entry<Long, List<Double>> rival : figures.getLast().entrySet()) {
      List<Cell> cells = new ArrayList<>();
      for (int i = 0; i < figures.size(); i++) {
        List<Double> own = figures.get(i).getOrDefault(rival.getKey(), List.of());
        cells.add(cell(own, rival.getValue(), accounts.of(i, rival.getKey())));
      }
      rows.add(new Row(rival.getKey(), cells));
    }
    return rows;
  }

  private static Cell cell(List<Double> own, List<Double> rival, List<ThreadAccount> threads) {
    List<Double> ratios = new ArrayList<>();
    for (int round = 0; round < own.size(); round++) {
      ratios.add(rival.get(round) / own.get(round));
    }
    Quantiles times = Quantiles.of(own);
    Quantiles timesRival = Quantiles.of(ratios);
    return new Cell(
        times.median(),
        times.lowerQuartile(),
        times.upperQuartile(),
        timesRival.median(),
        timesRival.lowerQuartile(),
        timesRival.upperQuartile(),
        List.copyOf(own),
        threads);
  }

  /**
   * Returns the times of the slowest rank, since an all-reduce ends when the last rank has the
   * result.
   */
  static List<Double> slowestOf(List<List<Double>> timesOfRanks) {
    List<Double> slowest = new ArrayList<>(timesOfRanks.getFirst());
    for (List<Double> times : timesOfRanks) {
      for (int turn = 0; turn < slowest.size(); turn++) {
        slowest.set(turn, Math.max(slowest.get(turn), times.get(turn)));
      }
    }
    return slowest;
  }

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# all-reduce among NCCL's threads: %s, %d ranks, %d channels; %s, %d processors, load %.1f"
            + " before and %.1f at the end",
        algorithm.word(),
        ranks,
        channels,
        network,
        processors,
        load,
        loadAtEnd);
    line(
        text,
        "# medians of %d rounds of %d all-reduces in turns (quartiles); x rival: rival's time ÷"
            + " this one, above 1 is faster",
        rounds,
        turns);
    StringBuilder names = new StringBuilder(String.format(Locale.ROOT, "#%11s", ""));
    StringBuilder heads = new StringBuilder(String.format(Locale.ROOT, "#%11s", "bytes"));
    for (String name : contestants) {
      names.append(String.format(Locale.ROOT, " | %-55s", name));
      heads.append(String.format(Locale.ROOT, " | %10s %21s %7s %14s", "us", "", "x rival", ""));
    }
    line(text, "%s", names);
    line(text, "%s", heads);
    for (Row row : rows) {
      StringBuilder cells = new StringBuilder(String.format(Locale.ROOT, "%12d", row.bytes()));
      for (Cell cell : row.cells()) {
        cells.append(
            String.format(
                Locale.ROOT,
                " | %10.1f %21s %7.2f %14s",
                cell.medianUs(),
                String.format(
                    Locale.ROOT, "(%.1f to %.1f)", cell.lowerQuartileUs(), cell.upperQuartileUs()),
                cell.timesRival(),
                String.format(
                    Locale.ROOT,
                    "(%.2f to %.2f)",
                    cell.lowerQuartileTimesRival(),
                    cell.upperQuartileTimesRival())));
      }
      line(text, "%s", cells);
    }
    if (rows.stream()
        .anyMatch(row -> row.cells().stream().anyMatch(cell -> !cell.threads().isEmpty()))) {
      threads(text);
    }
    return text.toString();
  }

  private void threads(StringBuilder text) {
    line(text, "%n# threads: means of a rank for each all-reduce and the small one before it");
    line(
        text,
        "#%11s %-32s %-16s %10s %10s %9s %9s",
        "bytes",
        "",
        "thread",
        "ran us",
        "waited us",
        "voluntary",
        "preempted");
    for (Row row : rows) {
      for (int i = 0; i < row.cells().size(); i++) {
        for (ThreadAccount each : row.cells().get(i).threads()) {
          if (each.ranUs() < LEAST_SHOWN_US) {
            continue;
          }
          line(
              text,
              "%12d %-32s %-16s %10.1f %10.1f %9.2f %9.2f",
              row.bytes(),
              contestants.get(i),
              each.name(),
              each.ranUs(),
              each.waitedUs(),
              each.voluntarySwitches(),
              each.involuntarySwitches());
        }
      }
    }
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
