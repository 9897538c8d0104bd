package io.heddle.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Conversion of the JSON of commands that measure calls, starts, scale and failover to figures. */
final class CostFigures {
  /**
   * Longest time in ms for which {@code heddle perf failover} waits for full speed. Rounds that
   * never reach full speed count with this time.
   */
  private static final double LONGEST_WAIT_MS = 3_000;

  static final String FLOODED = "bandwidth with ÷ without";

  /** Number of calls from C into Java for each message: isend, irecv and test. */
  private static final int CALLS_PER_MESSAGE = 3;

  static final String JAVA_ENTRY =
      "entering Java and returning, part of a message's difference to C";

  private CostFigures() {}

  /** Converts the JSON of {@code heddle perf flood}. */
  static List<Figure> flood(JsonNode report) {
    return List.of(
        Figure.of("bandwidth without", "Gbit/s", numbers(report.path("calm_gbps"))),
        Figure.of("bandwidth with", "Gbit/s", numbers(report.path("flooded_gbps"))),
        Figure.of(FLOODED, "", numbers(report.path("times_calm"))),
        Figure.of(
            "bandwidth a processor, with ÷ without",
            "",
            numbers(report.path("times_calm_per_ns"))));
  }

  /**
   * Converts the JSON of {@code heddle perf calls}: each case of each contestant, the cost of
   * entering Java, and the value of each verdict.
   */
  static List<Figure> calls(JsonNode report) {
    List<Figure> figures = new ArrayList<>(cases(report, "median_ns"));
    addJavaEntryCost(figures);
    for (JsonNode verdict : report.path("verdicts")) {
      String target = verdict.path("target").asText();
      String name = target.substring(0, target.lastIndexOf(", at most"));
      figures.add(
          Figure.of(
              verdict.path("contestant").asText() + ": " + name,
              "",
              verdict.path("found").asDouble()));
    }
    return figures;
  }

  /*
   * Adds a figure for the cost of entering Java and returning, as a fraction of the extra time that
   * a message takes in Java compared with C. The cost of entering Java is measured by a test call
   * that isn't ready, which returns at once, minus an indirect call in C.
   */
  private static void addJavaEntryCost(List<Figure> figures) {
    Map<String, Double> medians = new HashMap<>();
    figures.forEach(each -> medians.put(each.name(), each.median()));
    for (String contestant : List.of("Java: ", "Java, first compiler: ")) {
      double entering =
          medians.getOrDefault(contestant + "test not ready", Double.NaN)
              - medians.getOrDefault(contestant + "indirect call", Double.NaN);
      double difference =
          medians.getOrDefault(contestant + "message", Double.NaN)
              - medians.getOrDefault("C: message", Double.NaN);
      figures.add(
          Figure.of(contestant + JAVA_ENTRY, "", CALLS_PER_MESSAGE * entering / difference));
    }
  }

  /** Converts the JSON of {@code heddle perf verbs}. */
  static List<Figure> verbs(JsonNode report) {
    return cases(report, "upper_quartile_ns");
  }

  /*
   * Returns each case of each contestant in ns and ÷ C.
   *
   * @param most name of the JSON field that is the figure's maximum. It may be an upper quartile if
   *     the real maximum is an outlier.
   */
  private static List<Figure> cases(JsonNode report, String most) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode contestant : report.path("contestants")) {
      String prefix = contestant.path("name").asText() + ": ";
      for (JsonNode each : contestant.path("cases")) {
        String of = prefix + each.path("name").asText().replace('_', ' ');
        figures.add(
            new Figure(
                of,
                "ns",
                each.path("median_ns").asDouble(),
                each.path("least_ns").asDouble(),
                each.path(most).asDouble()));
        figures.add(Figure.of(of + " ÷ C", "", each.path("least_times_c").asDouble()));
      }
    }
    return figures;
  }

  /** Converts the JSON of {@code heddle perf start}. */
  static List<Figure> start(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode contestant : report.path("contestants")) {
      String of = ", " + contestant.path("name").asText();
      figures.add(Figure.of("init" + of, "ms", numbers(contestant.path("start_ms"))));
      figures.add(Figure.of("processor time" + of, "ms", numbers(contestant.path("processor_ms"))));
      figures.add(
          Figure.of("resident when idle" + of, "MiB", numbers(contestant.path("idle_mebibytes"))));
    }
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle perf scale}: each cost of each contestant at each measured
   * number of connections, planes and ranks.
   */
  static List<Figure> scale(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    JsonNode names = report.path("contestants");
    for (JsonNode axis : report.path("axes")) {
      for (JsonNode point : axis.path("points")) {
        String at = point.path("value").asText() + " " + axis.path("name").asText() + ", ";
        for (int i = 0; i < names.size(); i++) {
          JsonNode cost = point.path("costs").path(i);
          String of = at + names.path(i).asText();
          for (ScaleCost each : ScaleCost.values()) {
            figures.add(
                Figure.of(of + each.ending(), each.unit(), numbers(cost.path(each.field()))));
          }
        }
      }
    }
    return figures;
  }

  /** Cost of a contestant in the JSON of {@code heddle perf scale}. */
  enum ScaleCost {
    SET_UP("set_up_seconds", ": set up", "s"),
    MESSAGE("message_micros", ": a message", "us"),
    IDLE("idle_percent", ": a processor while idle", "%"),
    MEMORY("memory_mib", ": memory more than without", "MiB"),
    CONNECTION("connection_kib", ": memory a connection", "KiB"),
    DESCRIPTORS("descriptors", ": descriptors a connection", ""),
    THREADS("threads", ": threads", "");

    private final String field;
    private final String ending;
    private final String unit;

    ScaleCost(String field, String ending, String unit) {
      this.field = field;
      this.ending = ending;
      this.unit = unit;
    }

    String field() {
      return field;
    }

    String ending() {
      return ending;
    }

    String unit() {
      return unit;
    }
  }

  /** Converts the JSON of {@code heddle perf failover}. */
  static List<Figure> failover(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode row : report.path("rows")) {
      String of = row.path("plane").asText();
      List<Double> full = new ArrayList<>();
      List<Double> gaps = new ArrayList<>();
      List<Double> times = new ArrayList<>();
      for (JsonNode round : row.path("rounds")) {
        full.add(round.path("full_speed_ms").asDouble(LONGEST_WAIT_MS));
        gaps.add(round.path("gap_ms").asDouble());
        times.add(round.path("gap_ms").asDouble() / round.path("usual_gap_ms").asDouble());
      }
      figures.add(Figure.of(of + ", full speed after", "ms", full));
      figures.add(Figure.of(of + ", longest gap", "ms", gaps));
      figures.add(Figure.of(of + ", longest gap ÷ usual", "", times));
    }
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle perf one-sided}: for each test the figure of puts, and the
   * ratio of puts to messages.
   */
  static List<Figure> oneSided(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode row : report.path("rows")) {
      String of = row.path("test").asText() + " of puts";
      figures.add(Figure.of(of, row.path("unit").asText(), numbers(row.path("puts"))));
      figures.add(Figure.of(of + " ÷ messages", "", numbers(row.path("ratios"))));
    }
    return figures;
  }

  private static List<Double> numbers(JsonNode array) {
    List<Double> numbers = new ArrayList<>();
    array.forEach(each -> numbers.add(each.asDouble()));
    return numbers;
  }
}
