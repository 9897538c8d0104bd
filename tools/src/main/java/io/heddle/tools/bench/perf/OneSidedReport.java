package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * Report of {@code heddle perf one-sided}.
 *
 * @param network isolation of the hosts
 * @param processors number of processors, which all ranks share
 * @param planes number of planes of each host
 * @param rounds number of rounds; puts and messages alternate
 * @param load load averages of the last minute, before and after
 * @param rows one result for each test
 */
record OneSidedReport(
    String network, int processors, int planes, int rounds, List<Double> load, List<Row> rows) {
  /**
   * Result of one test. Each list has one value per round; values at the same index are from the
   * same round.
   *
   * @param test name of the test
   * @param bytes size of each put and of each message
   * @param ranks number of ranks
   * @param unit unit of the values
   * @param puts values of puts with signals
   * @param messages values of sends and receives over the net interface
   * @param ratios puts ÷ messages
   */
  record Row(
      String test,
      long bytes,
      int ranks,
      String unit,
      List<Double> puts,
      List<Double> messages,
      List<Double> ratios) {}

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# puts with signals beside messages of the net interface: %s, %d planes, %d processors;"
            + " median of %d rounds (least to most), in turns; load %.1f to %.1f",
        network,
        planes,
        processors,
        rounds,
        load.getFirst(),
        load.getLast());
    line(
        text,
        "# %-12s %8s %6s %-10s %12s %12s %18s",
        "test",
        "bytes",
        "ranks",
        "unit",
        "puts",
        "messages",
        "puts ÷ messages");
    for (Row row : rows) {
      Quantiles ratio = Quantiles.of(row.ratios());
      line(
          text,
          "  %-12s %8d %6d %-10s %12.1f %12.1f %6.2f (%.2f to %.2f)",
          row.test(),
          row.bytes(),
          row.ranks(),
          row.unit(),
          Quantiles.of(row.puts()).median(),
          Quantiles.of(row.messages()).median(),
          ratio.median(),
          ratio.least(),
          ratio.most());
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
