package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * Report of {@code heddle perf start}.
 *
 * @param network isolation of the hosts
 * @param processors number of processors of the machine
 * @param rounds number of rounds
 * @param load load averages of the last minute, before and after
 * @param contestants one result for each number of planes
 */
record StartReport(
    String network, int processors, int rounds, List<Double> load, List<Contestant> contestants) {
  /**
   * Result for one number of planes. Each list has one value per round.
   *
   * @param name number of planes
   * @param startMs time from loading the plugin until it has counted its devices, ms
   * @param processorMs processor time of the whole process until it was idle, including warm-up, ms
   * @param idleMebibytes resident memory of the whole process once it was idle, MiB
   */
  record Contestant(
      String name, List<Double> startMs, List<Double> processorMs, List<Double> idleMebibytes) {}

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# start of the plugin in a fresh process, Java included, one process at a time; %s, %d"
            + " processors",
        network,
        processors);
    line(
        text,
        "# median of %d rounds in turns (least to most); load %.1f to %.1f",
        rounds,
        load.getFirst(),
        load.getLast());
    line(
        text,
        "# %-20s %-28s %-28s %s",
        "",
        "start, ms",
        "processor time, ms",
        "whole process when idle, MiB");
    for (Contestant each : contestants) {
      line(
          text,
          "  %-20s %-28s %-28s %s",
          each.name(),
          spread(each.startMs()),
          spread(each.processorMs()),
          spread(each.idleMebibytes()));
    }
    return text.toString();
  }

  private static String spread(List<Double> values) {
    Quantiles all = Quantiles.of(values);
    return String.format(Locale.ROOT, "%.0f (%.0f to %.0f)", all.median(), all.least(), all.most());
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
