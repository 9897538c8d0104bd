package io.heddle.tools.bench.perf;

import io.heddle.tools.job.AllReduceResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Report of {@code heddle perf allreduce}: all-reduce times of several contestants.
 *
 * @param network isolation of the hosts
 * @param ranks number of ranks
 * @param mtuBytes MTU of the links
 * @param processors number of processors of the machine
 * @param contestants names of the contestants in order; the last one is the rival with which the
 *     others are compared, with its helper threads if any
 * @param rounds number of rounds; contestants alternate
 */
record AllReduceReport(
    String network,
    int ranks,
    int mtuBytes,
    int processors,
    List<String> contestants,
    int rounds,
    List<Row> rows) {
  /**
   * Results of all contestants at one size.
   *
   * @param bytes size of each all-reduce
   */
  record Row(long bytes, List<Cell> cells) {}

  /**
   * Result of one contestant at one size.
   *
   * @param medianUs median over the rounds of the mean time of an iteration, µs
   * @param leastUs minimum over the rounds, µs
   * @param mostUs maximum over the rounds, µs
   * @param busbwGigabytesPerSecond bus bandwidth at the median time, as nccl-tests define it, in
   *     10^9 bytes per second
   * @param rivalRatio rival's median ÷ this contestant's; above 1 this contestant is faster
   */
  record Cell(
      double medianUs,
      double leastUs,
      double mostUs,
      double busbwGigabytesPerSecond,
      double rivalRatio) {}

  /**
   * Builds the rows of the table.
   *
   * @param times results of each contestant, by size, one per round
   */
  static List<Row> rows(List<Map<Long, List<AllReduceResult>>> times) {
    List<Row> rows = new ArrayList<>();
    for (long bytes : times.getFirst().keySet()) {
      double rival = times(times.getLast().getOrDefault(bytes, List.of())).median();
      List<Cell> cells = new ArrayList<>();
      for (Map<Long, List<AllReduceResult>> contestant : times) {
        cells.add(cell(contestant.getOrDefault(bytes, List.of()), rival));
      }
      rows.add(new Row(bytes, cells));
    }
    return rows;
  }

  private static Cell cell(List<AllReduceResult> rounds, double rivalUs) {
    Quantiles times = times(rounds);
    double median = times.median();
    double factor = rounds.getFirst().timeUs() * rounds.getFirst().busbwGigabytesPerSecond();
    return new Cell(median, times.least(), times.most(), factor / median, rivalUs / median);
  }

  private static Quantiles times(List<AllReduceResult> rounds) {
    return Quantiles.of(rounds.stream().mapToDouble(AllReduceResult::timeUs));
  }

  /** Returns the report as a text table of about 45 characters per contestant. */
  String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "# all-reduce, %d ranks, MTU %d, %s, %d processors; median of %d rounds (least to"
                + " most)%n#%11s",
            ranks,
            mtuBytes,
            network,
            processors,
            rounds,
            ""));
    contestants.forEach(name -> text.append(String.format(Locale.ROOT, " | %-46s", name)));
    text.append(String.format(Locale.ROOT, "%n#%11s", "bytes"));
    contestants.forEach(name ->
        text.append(
            String.format(Locale.ROOT, " | %9s %18s %8s %8s", "us", "", "GB/s", "x rival")));
    for (Row row : rows) {
      text.append(String.format(Locale.ROOT, "%n%12d", row.bytes()));
      for (Cell cell : row.cells()) {
        String spread = String.format(Locale.ROOT, "(%.1f to %.1f)", cell.leastUs(), cell.mostUs());
        text.append(
            String.format(
                Locale.ROOT,
                " | %9.1f %18s %8.3f %8.2f",
                cell.medianUs(),
                spread,
                cell.busbwGigabytesPerSecond(),
                cell.rivalRatio()));
      }
    }
    return text.append(System.lineSeparator()).toString();
  }

  static int processorCount() {
    return Runtime.getRuntime().availableProcessors();
  }

  /** Returns the name of the report's files, without file extension. */
  static String fileName(String date, int ranks) {
    return "allreduce-" + date + "-" + ranks + "-ranks";
  }
}
