package io.heddle.cli.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * All-reduces among NCCL's threads, several contestants side by side.
 *
 * @param network how hosts were kept apart
 * @param processors of the machine
 * @param load of the machine before, mean of a minute
 * @param loadAtEnd of the machine at the end, mean of a minute; the measurement's own is in it
 * @param algorithm how ranks are joined
 * @param ranks processes
 * @param channels of each process, side by side
 * @param spins looks in vain after which a worker gives its core away; 0: never
 * @param rounds how often each contestant had a turn at each size
 * @param turns all-reduces in such a turn
 * @param contestants in order; the last is the rival that the others are compared with
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
  /* Threads that ran less are in the JSON alone. */
  private static final double LEAST_SHOWN_US = 0.5;

  /** How ranks are joined. */
  enum Algorithm {
    RING,
    TREE;

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * All contestants at one size.
   *
   * @param bytes of each all-reduce
   */
  record Row(long bytes, List<Cell> cells) {}

  /**
   * One contestant at one size.
   *
   * @param medianUs of the rounds
   * @param lowerQuartileUs which a quarter of the rounds fall short of
   * @param upperQuartileUs which a quarter of the rounds exceed
   * @param timesRival how many times as fast as the rival, median over the rounds; above 1 is
   *     faster
   * @param lowerQuartileTimesRival of the rounds
   * @param upperQuartileTimesRival of the rounds
   * @param rounds the median time of each round's turn, us, in order: contestants' figures of one
   *     round belong together
   * @param threads of a rank, that ran longest first: what each took for an all-reduce and the
   *     small one before it; empty unless that was asked
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

  /** Who ran in a contestant's turns at a size. */
  interface Accounts {
    List<ThreadAccount> of(int contestant, long bytes);
  }

  /**
   * @param figures for each contestant, by size, one figure a round
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

  /** An all-reduce is over when its last rank has the result. */
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
        "# medians of %d rounds of %d all-reduces in turns (quartiles); x rival: how many times as"
            + " fast, above 1 is faster",
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
    line(text, "%n# who ran: means of a rank for each all-reduce and the small one before it");
    line(
        text,
        "#%11s %-32s %-16s %10s %10s %8s %8s",
        "bytes",
        "",
        "thread",
        "ran us",
        "waited us",
        "sleeps",
        "losses");
    for (Row row : rows) {
      for (int i = 0; i < row.cells().size(); i++) {
        for (ThreadAccount each : row.cells().get(i).threads()) {
          if (each.ranUs() < LEAST_SHOWN_US) {
            continue;
          }
          line(
              text,
              "%12d %-32s %-16s %10.1f %10.1f %8.2f %8.2f",
              row.bytes(),
              contestants.get(i),
              each.name(),
              each.ranUs(),
              each.waitedUs(),
              each.sleeps(),
              each.losses());
        }
      }
    }
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
