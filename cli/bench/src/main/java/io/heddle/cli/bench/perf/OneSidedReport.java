package io.heddle.cli.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * What {@code heddle perf one-sided} found.
 *
 * @param network how hosts were kept apart
 * @param processors that all ranks shared
 * @param planes of each host
 * @param rounds how often each was measured, both ways in turns
 * @param load of the machine before and after, mean of a minute
 * @param rows one for each test
 */
record OneSidedReport(
    String network, int processors, int planes, int rounds, List<Double> load, List<Row> rows) {
  /**
   * One test; a number a round, and what stands at one place was measured one after the other.
   *
   * @param test its name
   * @param bytes of each put, and of each message
   * @param ranks processes
   * @param unit of both ways' numbers
   * @param puts by puts with signals
   * @param messages by sends and receives of the net interface
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
