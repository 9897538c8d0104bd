package io.heddle.cli.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bandwidth and latency of several contestants side by side.
 *
 * @param network how hosts were kept apart
 * @param mtuBytes of the links
 * @param processors of the machine
 * @param compilers what was asked for of Java's compilers
 * @param pinned whether the threads that move data keep to one processor each
 * @param outstanding messages under way
 * @param flows connections each way in a bandwidth measurement
 * @param milliseconds how long a measurement lasted
 * @param rounds how often each measurement was made; the contestants took turns at each
 * @param contestants in order; the last is the rival that the others are compared with
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
   * Who ran.
   *
   * @param name plugin and planes; of the rival with helper threads, how many of how many sockets
   * @param startMs from loading the plugin to the count of its devices, both ranks at once
   * @param residentMebibytes by which a rank's resident memory grew by that
   * @param controlPercent of the ranks' processor time in bandwidth measurements, of the threads
   *     that don't move data: they are there for the failure of a plane; null where nobody looked
   */
  record Contestant(
      String name, double startMs, double residentMebibytes, @Nullable Double controlPercent) {}

  /**
   * One kind of measurement.
   *
   * @param kind what is measured
   * @param unit of all its figures
   */
  record Section(PluginPerfKind kind, String unit, List<Row> rows) {}

  /**
   * All contestants at one size.
   *
   * @param bytes of each message
   */
  record Row(long bytes, List<Cell> cells) {}

  /**
   * One contestant at one size, in the section's unit.
   *
   * @param median of the rounds
   * @param least of the rounds
   * @param most of the rounds
   * @param timesRival how many times as good as the rival; above 1 is better
   * @param rounds what each round gave, in order: contestants' figures of one round belong
   *     together; not a number where a round says nothing, which the others then speak for
   */
  record Cell(double median, double least, double most, double timesRival, List<Double> rounds) {}

  /**
   * @param figures for each contestant, by kind and size, one figure a round
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

  /** The tables as people read them. */
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
        flows == 1 ? "" : flows + " flows with each ",
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
                  "; control threads had %.2f %% of the processor time",
                  each.controlPercent()));
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
    return text.append("# the last figure of a column: times as good as the rival")
        .append(System.lineSeparator())
        .toString();
  }

  private static String figure(double value) {
    return String.format(Locale.ROOT, value < 1 ? "%.4f" : "%.2f", value);
  }

  private static void append(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments));
  }

  /** Name of the files that keep it, without the ending. */
  static String fileName(String date, int mtuBytes, int flows) {
    return "plugin-" + date + "-mtu-" + mtuBytes + (flows == 1 ? "" : "-flows-" + flows);
  }
}
