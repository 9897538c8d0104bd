package io.heddle.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Json;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Figure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/** Reader of a command's JSON as figures. A figure without a value in the JSON is left out. */
enum FigureReader {
  /** Results of a contest, which contain the figures. */
  CONTEST(FigureReader::contest),
  /** {@code heddle demo --fabric}. */
  FABRIC(FigureReader::fabric),
  /** {@code heddle paths check}: the worst values of all hashes, and the accuracy of the fit. */
  PATHS(FigureReader::paths),
  /** {@code heddle lab check}: the worst values of all modes, and of the modes that spray. */
  LAB_CHECK(FigureReader::labCheck),
  /**
   * {@code heddle demo --wan}: the share of steps that passed, and the demo's figures with their
   * bounds.
   */
  WAN(FigureReader::wan),
  /** {@code heddle simulate --check}: the largest deviation in units of its tolerance. */
  SIMULATE_CHECK(FigureReader::simulateCheck),
  /** {@code heddle simulate}: each policy's mean goodput of a GPU ÷ capacity of its ports. */
  SIMULATE(FigureReader::simulate),
  /**
   * {@code heddle simulate --control-plane}: table sizes, and the number of schemes whose count of
   * routes differs from the formula.
   */
  CONTROL_PLANE(FigureReader::controlPlane),
  /**
   * {@code heddle bridge latency}: the latency that each forwarder adds, and ratios of latency and
   * capacity between forwarders.
   */
  BRIDGE_LATENCY(FigureReader::bridgeLatency),
  /** JMH: each benchmark's mean time and allocation. */
  JMH(FigureReader::jmh);

  private static final String BRIDGE = "bridge";
  private static final String FORWARDER = "C forwarder";
  private final Function<JsonNode, List<Figure>> reading;

  FigureReader(Function<JsonNode, List<Figure>> reading) {
    this.reading = reading;
  }

  /** Returns the reader with a name of the table of measurements. */
  static FigureReader named(String name) {
    return valueOf(name.replace('-', '_').toUpperCase(Locale.ROOT));
  }

  List<Figure> read(JsonNode report) {
    return reading.apply(report);
  }

  private static List<Figure> contest(JsonNode report) {
    return StreamSupport.stream(report.path("figures").spliterator(), false)
        .map(each -> Json.mapper().convertValue(each, Figure.class))
        .toList();
  }

  private static DoubleStream values(JsonNode rows, ToDoubleFunction<JsonNode> value) {
    return StreamSupport.stream(rows.spliterator(), false).mapToDouble(value);
  }

  private static void addLeast(List<Figure> to, String name, DoubleStream values) {
    values.min().ifPresent(value -> to.add(Figure.of(name, "", value)));
  }

  private static void addMost(List<Figure> to, String name, DoubleStream values) {
    values.max().ifPresent(value -> to.add(Figure.of(name, "", value)));
  }

  private static double quotient(JsonNode row, String one, String other) {
    return row.path(one).asDouble() / row.path(other).asDouble();
  }

  private static List<JsonNode> rows(JsonNode rows, Function<JsonNode, Boolean> of) {
    return StreamSupport.stream(rows.spliterator(), false).filter(of::apply).toList();
  }

  private static List<Figure> fabric(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    double ratio = report.path("hash_over_spray").asDouble();
    figures.add(Figure.of("time under hash ÷ under spray", "", ratio));
    for (JsonNode job : report.path("jobs")) {
      String name = "shares under " + job.path("policy").asText() + " off by";
      figures.add(Figure.of(name, "points", job.path("deviation_points").asDouble()));
    }
    JsonNode change = report.path("change");
    /* The first window after the change isn't steady yet. */
    List<JsonNode> steady =
        rows(change.path("windows"), each -> each.path("from_seconds").asDouble() != 0);
    double furthest =
        steady.stream().mapToDouble(e -> e.path("deviation_points").asDouble()).max().orElse(0);
    figures.add(Figure.of("shares of a second under spray off by", "points", furthest));
    if (change.path("followed_after_ms").isNumber()) {
      double after = change.path("followed_after_ms").asDouble();
      figures.add(Figure.of("new weights followed after", "ms", after));
    }
    return figures;
  }

  private static List<Figure> paths(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    JsonNode rows = report.path("rows");
    ToDoubleFunction<JsonNode> accuracy = row -> row.path("accuracy").asDouble(0);
    addLeast(
        figures,
        "ports measured as counted",
        values(rows, row -> quotient(row, "correct", "ports")));
    addLeast(
        figures,
        "ports predicted as counted",
        values(rows, row -> quotient(row, "predicted", "ports")));
    addMost(
        figures,
        "picked ports, uneven by",
        values(rows, row -> row.path("picked_unevenness").asInt()));
    addLeast(
        figures,
        "fit of linear hashes",
        rows(rows, row -> row.path("linear").asBoolean()).stream().mapToDouble(accuracy));
    addMost(
        figures,
        "fit of other hashes",
        rows(rows, row -> !row.path("linear").asBoolean()).stream().mapToDouble(accuracy));
    return figures;
  }

  private static List<Figure> labCheck(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    JsonNode rows = report.path("rows");
    List<JsonNode> sprayed = rows(rows, row -> !row.path("mode").asText().equals("hash"));
    addLeast(
        figures,
        "protocol flows on one link",
        values(rows, row -> quotient(row, "protocol_on_one_link", "flows")));
    addLeast(
        figures,
        "pairs of links in two tiers",
        values(rows, row -> row.path("link_pairs").asDouble()));
    addLeast(
        figures,
        "sprayed flows on all links",
        sprayed.stream().mapToDouble(row -> quotient(row, "data_on_all_links", "flows")));
    addMost(
        figures,
        "sprayed links uneven by",
        sprayed.stream().mapToDouble(row -> row.path("uneven").asDouble()));
    return figures;
  }

  private static List<Figure> wan(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    values(report.path("steps"), step -> step.path("passed").asBoolean() ? 1 : 0)
        .average()
        .ifPresent(share -> figures.add(Figure.of("steps that hold", "", share)));
    for (JsonNode each : report.path("figures")) {
      Figure figure =
          Figure.of(
              each.path("name").asText(),
              each.path("unit").asText(),
              each.path("value").asDouble());
      double limit = each.path("bound").asDouble();
      Bound bound = each.path("is_least").asBoolean() ? Bound.atLeast(limit) : Bound.atMost(limit);
      figures.add(figure.within(bound));
    }
    return figures;
  }

  private static List<Figure> simulateCheck(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    addMost(
        figures,
        "worst figure off by, in parts of its tolerance",
        values(
            report.path("rows"),
            row ->
                Math.abs(row.path("found").asDouble() - row.path("expected").asDouble())
                    / row.path("tolerance").asDouble()));
    if (!figures.isEmpty()) {
      figures.add(Figure.of("figures", "", report.path("rows").size()));
    }
    return figures;
  }

  private static List<Figure> simulate(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode run : report.path("policies")) {
      String name = run.path("policy").asText() + " ÷ ideal";
      figures.add(Figure.of(name, "", run.path("of_ideal").asDouble()));
    }
    figures.add(Figure.of("GPUs", "", report.path("gpus").asDouble()));
    return figures;
  }

  private static List<Figure> controlPlane(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode scheme : report.path("schemes")) {
      String name = scheme.path("scheme").asText() + ", routes of a card";
      figures.add(Figure.of(name, "", scheme.path("in_table").asDouble()));
    }
    if (!figures.isEmpty()) {
      int unequal =
          rows(report.path("schemes"), scheme -> !scheme.path("is_equal").asBoolean()).size();
      figures.add(Figure.of("schemes that aren't as the arithmetic", "", unequal));
    }
    return figures;
  }

  private static List<Figure> bridgeLatency(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    Map<String, Map<String, Double>> added = new LinkedHashMap<>();
    Map<String, Double> capacity = new LinkedHashMap<>();
    for (JsonNode row : report.path("rows")) {
      String load = row.path("load").asText();
      String joining = row.path("joining").asText();
      double median = row.path("added_median_us").asDouble();
      if (median != 0) {
        String of = load + ", " + joining;
        figures.add(Figure.of(of + ", added median", "us", median));
        figures.add(Figure.of(of + ", added 99.9 %", "us", row.path("added_p999_us").asDouble()));
      }
      capacity.put(joining, row.path("capacity_packets_per_second").asDouble());
      added.computeIfAbsent(load, key -> new LinkedHashMap<>()).put(joining, median);
    }
    added.forEach((load, by) -> {
      String spinning = load + ", spinning bridge added ÷ sleeping";
      addRatio(figures, load + ", bridge added ÷ " + FORWARDER, by.get(BRIDGE), by.get(FORWARDER));
      addRatio(figures, spinning, by.get("bridge, spinning"), by.get(BRIDGE));
    });
    for (String rival : List.of(FORWARDER, "kernel routing")) {
      String name = "at most, bridge ÷ " + rival;
      addRatio(figures, name, capacity.get(BRIDGE), capacity.get(rival));
    }
    return figures;
  }

  private static void addRatio(
      List<Figure> figures, String name, @Nullable Double one, @Nullable Double other) {
    if (one != null && other != null && other > 0) {
      figures.add(Figure.of(name, "", one / other));
    }
  }

  private static List<Figure> jmh(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode benchmark : report) {
      StringBuilder name = new StringBuilder(benchmark.path("benchmark").asText());
      name.delete(0, name.lastIndexOf(".", name.lastIndexOf(".") - 1) + 1);
      benchmark.path("params").forEach(value -> name.append(' ').append(value.asText()));
      JsonNode metric = benchmark.path("primaryMetric");
      List<Double> samples = new ArrayList<>();
      metric
          .path("rawData")
          .forEach(fork -> fork.forEach(sample -> samples.add(sample.asDouble())));
      String unit = metric.path("scoreUnit").asText().replace("/op", "");
      figures.add(Figure.of(name.toString(), unit, samples));
      JsonNode allocated = benchmark.path("secondaryMetrics").path("gc.alloc.rate.norm");
      figures.add(Figure.of(name + ", allocated", "B", allocated.path("score").asDouble()));
    }
    return figures;
  }
}
