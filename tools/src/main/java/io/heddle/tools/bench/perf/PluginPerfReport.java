package io.heddle.tools.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Report of {@code heddle perf plugin}: bandwidth and latency of several contestants.
 *
 * @param network isolation of the hosts
 * @param mtuBytes MTU of the links
 * @param processors number of processors of the machine
 * @param compilers requested compilers of the plugin's JVM
 * @param pinned whether each data thread is pinned to a processor
 * @param outstanding number of messages in flight
 * @param flows number of connections in each direction in a bandwidth measurement
 * @param milliseconds duration of a measurement, ms
 * @param rounds number of rounds; contestants alternate in each measurement
 * @param contestants contestants in order; the last one is the rival with which the others are
 *     compared
 */
record PluginPerfReport(
    String network,
    int mtuBytes,
    int processors,
    JavaCompilers compilers,
    boolean pinned,
    int outstanding,
    int flows,
    int milliseconds,
    int rounds,
    List<Contestant> contestants,
    List<Section> sections) {
  /**
   * Contestant of the run.
   *
   * @param name plugin and planes; for a rival with helper threads, the numbers of threads and
   *     sockets
   * @param startMs time in ms from loading the plugin until it has counted its devices, when both
   *     ranks start at once
   * @param residentMebibytes growth of a rank's resident memory during this time, MiB
   * @param controlPercent processor time of the control threads, which move no data and exist for
   *     plane failures, as a share of the ranks' processor time in bandwidth measurements, percent;
   *     null if not measured
   * @param busiestThreadPercent share of a core that the busiest thread of both ranks used in
   *     bandwidth measurements, percent; null if not measured
   */
  record Contestant(
      String name,
      double startMs,
      double residentMebibytes,
      @Nullable Double controlPercent,
      @Nullable Double busiestThreadPercent) {}

  /**
   * Results of one kind of measurement.
   *
   * @param kind kind of measurement
   * @param unit unit of its figures
   */
  record Section(PluginPerfKind kind, String unit, List<Row> rows) {}

  /**
   * Results of all contestants at one size.
   *
   * @param bytes size of each message
   */
  record Row(long bytes, List<Cell> cells) {}

  /**
   * Result of one contestant at one size, in the section's unit.
   *
   * @param median median over the rounds
   * @param least minimum over the rounds
   * @param most maximum over the rounds
   * @param timesRival ratio to the rival, inverted for latencies; above 1 is better
   * @param rounds figure of each round; values of contestants at the same index are from the same
   *     round. NaN for a round without a figure, which is left out of the median.
   */
  record Cell(double median, double least, double most, double timesRival, List<Double> rounds) {}

  /**
   * Builds the sections.
   *
   * @param figures figures of each contestant, by step, which includes the round
   */
  static List<Section> sections(
      PluginPerfPlan plan, List<Map<PluginPerfPlan.Step, Double>> figures) {
    List<Section> sections = new ArrayList<>();
    for (PluginPerfKind kind : plan.kinds()) {
      List<Row> rows = new ArrayList<>();
      for (PluginPerfPlan.Step step : plan.steps()) {
        if (step.round() == 1 && step.kind() == kind) {
          rows.add(row(step, plan.rounds(), figures));
        }
      }
      sections.add(new Section(kind, kind.unit(), rows));
    }
    return sections;
  }

  private static Row row(
      PluginPerfPlan.Step step, int rounds, List<Map<PluginPerfPlan.Step, Double>> figures) {
    List<List<Double>> all = new ArrayList<>();
    for (Map<PluginPerfPlan.Step, Double> contestant : figures) {
      List<Double> values = new ArrayList<>();
      for (int round = 1; round <= rounds; round++) {
        values.add(
            contestant.getOrDefault(
                new PluginPerfPlan.Step(round, step.kind(), step.bytes()), Double.NaN));
      }
      all.add(values);
    }
    double rival = Quantiles.ofFinite(all.getLast()).median();
    List<Cell> cells = new ArrayList<>();
    for (List<Double> values : all) {
      Quantiles said = Quantiles.ofFinite(values);
      cells.add(
          new Cell(
              said.median(),
              said.least(),
              said.most(),
              step.kind().timesRival(said.median(), rival),
              List.copyOf(values)));
    }
    return new Row(step.bytes(), cells);
  }

  /** Returns the report as text tables. */
  String table() {
    StringBuilder text = new StringBuilder();
    append(
        text,
        "# net plugin, 2 ranks, MTU %d, %s, %d processors%s%s; %s%d messages outstanding, %d ms a"
            + " measurement, median of %d rounds (least to most)%n",
        mtuBytes,
        network,
        processors,
        compilers.title().isEmpty() ? "" : ", " + compilers.title(),
        pinned ? ", data threads pinned" : "",
        flows == 1 ? "" : flows + " flows, each with ",
        outstanding,
        milliseconds,
        rounds);
    for (Contestant each : contestants) {
      append(
          text,
          "# %s: start %.0f ms, %.0f MiB resident after it%s%n",
          each.name(),
          each.startMs(),
          each.residentMebibytes(),
          each.controlPercent() == null
              ? ""
              : String.format(
                  Locale.ROOT,
                  "; control threads had %.2f %% of the processor time, the busiest thread %.0f %%"
                      + " of a core",
                  each.controlPercent(),
                  each.busiestThreadPercent()));
    }
    for (Section section : sections) {
      append(text, "%n# %s, %s%n#%11s", section.kind().title(), section.unit(), "bytes");
      contestants.forEach(each -> append(text, " | %-34s", each.name()));
      for (Row row : section.rows()) {
        append(text, "%n%12d", row.bytes());
        for (Cell cell : row.cells()) {
          append(
              text,
              " | %8s %18s %6.2f",
              figure(cell.median()),
              "(" + figure(cell.least()) + " to " + figure(cell.most()) + ")",
              cell.timesRival());
        }
      }
      text.append(System.lineSeparator());
    }
    return text.append("# last figure of a column: ratio to the rival, above 1 is better")
        .append(System.lineSeparator())
        .toString();
  }

  private static String figure(double value) {
    return String.format(Locale.ROOT, value < 1 ? "%.4f" : "%.2f", value);
  }

  private static void append(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments));
  }

  /** Returns the name of the report's files, without file extension. */
  static String fileName(String date, int mtuBytes, int flows) {
    return "plugin-" + date + "-mtu-" + mtuBytes + (flows == 1 ? "" : "-flows-" + flows);
  }
}
