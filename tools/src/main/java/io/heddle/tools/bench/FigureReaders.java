package io.heddle.tools.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Conversion of the JSON of commands that measure bandwidth, latency, policies and routes to
 * figures.
 */
final class FigureReaders {
  static final String OVER_TCP = " ÷ TCP";
  static final String OVER_SOCKETS = " ÷ 16 sockets";
  static final String TIME_OVER_TCP = ", our time ÷ TCP's";
  static final String OVER_IDEAL = " ÷ ideal";

  /** Name of the default policy, which is compared with the others. */
  private static final String OURS = "spray";

  static final String MESSAGE_P99 = ", message p99";
  static final String OVER_ONE = " ÷ 1 plane";
  static final String BEST_QUARTER = ", best quarters";
  static final String CONTROL_THREADS = "control threads' processor time, ";

  /**
   * Name of the figure of the busiest thread's share of a core. Of two contestants, Heddle with one
   * plane and the rival, the smaller share counts.
   */
  static final String BUSIEST_THREAD = "busiest thread of 1 plane and of its rival, the less busy";

  /**
   * End of the names of figures of the share of time that threads wait for a core. They cover a
   * rank's threads that move data or drive collectives.
   */
  static final String WAITING = ", threads' wait for a core";

  private static final double PERCENT = 100;
  private static final long KIB = 1024;

  private FigureReaders() {}

  /** Returns a size in the notation of the commands' options, such as {@code 64K}. */
  static String size(long bytes) {
    if (bytes >= KIB * KIB && bytes % (KIB * KIB) == 0) {
      return bytes / (KIB * KIB) + "M";
    }
    return bytes >= KIB && bytes % KIB == 0 ? bytes / KIB + "K" : bytes + "B";
  }

  /* Returns the part of a contestant's name after the comma: "4 planes" of "Heddle, 4 planes". */
  private static String role(String contestant) {
    return contestant.substring(contestant.indexOf(',') + 1).strip();
  }

  /**
   * Converts the JSON of {@code heddle perf plugin}. The figures are: each round's value ÷ the
   * rival's in the same round, and ÷ the value with one plane in the same round; the values; and
   * the control threads' processor time.
   */
  static List<Figure> plugin(JsonNode report) {
    return plugin(report, OVER_TCP);
  }

  /**
   * Converts the same JSON as {@link #plugin(JsonNode)}, of a run whose rival has helper threads.
   */
  static List<Figure> sockets(JsonNode report) {
    return plugin(report, OVER_SOCKETS);
  }

  private static List<Figure> plugin(JsonNode report, String overRival) {
    List<Figure> figures = new ArrayList<>();
    JsonNode contestants = report.path("contestants");
    int rival = contestants.size() - 1;
    for (JsonNode section : report.path("sections")) {
      String kind = section.path("kind").asText().toLowerCase(Locale.ROOT);
      for (JsonNode row : section.path("rows")) {
        String of = kind + " " + size(row.path("bytes").asLong()) + ", ";
        JsonNode cells = row.path("cells");
        for (int i = 0; i < rival; i++) {
          String role = role(contestants.path(i).path("name").asText());
          boolean lessIsGood = kind.equals("latency");
          figures.add(Figure.of(of + role + overRival, "", ratios(cells.get(i), cells.get(rival))));
          figures.add(
              Figure.of(
                  of + role + overRival + BEST_QUARTER,
                  "",
                  bestQuartile(cells.get(i), lessIsGood)
                      / bestQuartile(cells.get(rival), lessIsGood)));
          if (i > 0) {
            figures.add(Figure.of(of + role + OVER_ONE, "", ratios(cells.get(i), cells.get(0))));
            figures.add(
                Figure.of(
                    of + role + OVER_ONE + BEST_QUARTER,
                    "",
                    bestQuartile(cells.get(i), lessIsGood)
                        / bestQuartile(cells.get(0), lessIsGood)));
          }
        }
        for (int i = 0; i <= rival; i++) {
          JsonNode cell = cells.get(i);
          figures.add(
              new Figure(
                  of + role(contestants.path(i).path("name").asText()),
                  section.path("unit").asText(),
                  cell.path("median").asDouble(),
                  cell.path("least").asDouble(),
                  cell.path("most").asDouble()));
        }
      }
    }
    for (int i = 0; i < rival; i++) {
      JsonNode share = contestants.path(i).path("control_percent");
      if (share.isNumber()) {
        String of = role(contestants.path(i).path("name").asText());
        figures.add(Figure.of(CONTROL_THREADS + of, "%", share.asDouble()));
      }
    }
    double least = Math.min(busiest(contestants.path(0)), busiest(contestants.path(rival)));
    figures.add(Figure.of(BUSIEST_THREAD, "%", least));
    return figures;
  }

  private static double busiest(JsonNode contestant) {
    return contestant.path("busiest_thread_percent").asDouble(Double.NaN);
  }

  /*
   * Returns the quartile at the better end of the rounds, since other load on the machine makes
   * rounds worse and never better.
   */
  private static double bestQuartile(JsonNode cell, boolean lessIsGood) {
    List<Double> rounds = new ArrayList<>(numbers(cell.path("rounds")));
    rounds.sort(lessIsGood ? Comparator.naturalOrder() : Comparator.reverseOrder());
    return rounds.isEmpty() ? Double.NaN : rounds.get((rounds.size() - 1) / 4);
  }

  private static List<Double> ratios(JsonNode cell, JsonNode other) {
    List<Double> ratios = new ArrayList<>();
    JsonNode ours = cell.path("rounds");
    JsonNode theirs = other.path("rounds");
    for (int round = 0; round < ours.size(); round++) {
      if (ours.get(round).isNumber() && theirs.path(round).isNumber()) {
        ratios.add(ours.get(round).asDouble() / theirs.path(round).asDouble());
      }
    }
    return ratios;
  }

  /** Converts the JSON of {@code heddle perf allreduce}. */
  static List<Figure> allReduce(JsonNode report) {
    return timesOfLast("all-reduce ", ", TCP's time ÷ ours", report);
  }

  /**
   * Converts the JSON of {@code heddle perf among-threads}: each round's time ÷ the rival's in the
   * same round, each contestant's best quartile ÷ the rival's best quartile, and the threads' wait
   * for a core.
   */
  static List<Figure> amongThreads(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    JsonNode names = report.path("contestants");
    int rival = names.size() - 1;
    for (JsonNode row : report.path("rows")) {
      JsonNode cells = row.path("cells");
      for (int i = 0; i < rival; i++) {
        String of = size(row.path("bytes").asLong()) + ", " + role(names.path(i).asText());
        figures.add(Figure.of(of + TIME_OVER_TCP, "", ratios(cells.path(i), cells.path(rival))));
        figures.add(
            Figure.of(
                of + TIME_OVER_TCP + BEST_QUARTER,
                "",
                bestQuartile(cells.path(i), true) / bestQuartile(cells.path(rival), true)));
        figures.add(Figure.of(of + WAITING, "%", waiting(cells.path(i).path("threads"))));
      }
    }
    return figures;
  }

  private static double waiting(JsonNode threads) {
    double ran = 0;
    double waited = 0;
    for (JsonNode each : threads) {
      ran += each.path("ran_us").asDouble();
      waited += each.path("waited_us").asDouble();
    }
    return PERCENT * waited / (ran + waited);
  }

  /** Converts the JSON of {@code heddle perf standin}. */
  static List<Figure> standin(JsonNode report) {
    return timesOfLast("", ", one device's time ÷ its", report);
  }

  /* Returns the last contestant's time ÷ the time of each other contestant. */
  private static List<Figure> timesOfLast(String before, String after, JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    JsonNode names = report.path("contestants");
    for (JsonNode row : report.path("rows")) {
      for (int i = 0; i + 1 < names.size(); i++) {
        JsonNode cell = row.path("cells").path(i);
        double median = cell.path("median_us").asDouble();
        double ratio = cell.path("rival_ratio").asDouble();
        figures.add(
            new Figure(
                before
                    + size(row.path("bytes").asLong())
                    + ", "
                    + role(names.path(i).asText())
                    + after,
                "",
                ratio,
                ratio * median / cell.path("most_us").asDouble(),
                ratio * median / cell.path("least_us").asDouble()));
      }
    }
    return figures;
  }

  /** Converts the JSON of {@code heddle demo --fabric}. */
  static List<Figure> fabric(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    figures.add(
        Figure.of("time under hash ÷ under spray", "", report.path("hash_over_spray").asDouble()));
    for (JsonNode job : report.path("jobs")) {
      figures.add(
          Figure.of(
              "shares under " + job.path("policy").asText() + " off by",
              "points",
              job.path("deviation_points").asDouble()));
    }
    double furthest = 0;
    for (JsonNode window : report.path("change").path("windows")) {
      boolean isSteady = window.path("from_seconds").asDouble() != 0;
      double off = window.path("deviation_points").asDouble();
      furthest = isSteady ? Math.max(furthest, off) : furthest;
    }
    figures.add(Figure.of("shares of a second under spray off by", "points", furthest));
    JsonNode followed = report.path("change").path("followed_after_ms");
    if (followed.isNumber()) {
      figures.add(Figure.of("new weights followed after", "ms", followed.asDouble()));
    }
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle perf policies}: each policy's figure, and policy spray ÷ the
   * best other policy.
   */
  static List<Figure> policies(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode situation : report.path("situations")) {
      String of = situation.path("name").asText() + ", ";
      Map<String, Figure> ofIdeal = new LinkedHashMap<>();
      for (JsonNode cell : situation.path("policies")) {
        String policy = cell.path("policy").asText();
        ofIdeal.put(
            policy, Figure.of(of + policy + OVER_IDEAL, "", numbers(cell.path("of_ideal"))));
        figures.add(
            Figure.of(of + policy + MESSAGE_P99, "ms", numbers(cell.path("message_p99_ms"))));
      }
      figures.addAll(ofIdeal.values());
      Figure ours = ofIdeal.remove(OURS);
      double rival = ofIdeal.values().stream().mapToDouble(Figure::median).max().orElse(Double.NaN);
      if (ours != null) {
        figures.add(Figure.of(of + OURS + " ÷ best other", "", ours.median() / rival));
      }
    }
    return figures;
  }

  private static List<Double> numbers(JsonNode array) {
    List<Double> numbers = new ArrayList<>();
    for (JsonNode each : array) {
      if (each.isNumber()) {
        numbers.add(each.asDouble());
      }
    }
    return numbers;
  }

  /** Converts JMH's JSON: each benchmark's mean time and allocation. */
  static List<Figure> jmh(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode benchmark : report) {
      StringBuilder name = new StringBuilder(benchmark.path("benchmark").asText());
      name.delete(0, name.lastIndexOf(".", name.lastIndexOf(".") - 1) + 1);
      benchmark.path("params").forEach(value -> name.append(' ').append(value.asText()));
      List<Double> samples = new ArrayList<>();
      benchmark
          .path("primaryMetric")
          .path("rawData")
          .forEach(fork -> fork.forEach(sample -> samples.add(sample.asDouble())));
      String unit = benchmark.path("primaryMetric").path("scoreUnit").asText().replace("/op", "");
      figures.add(Figure.of(name.toString(), unit, samples));
      figures.add(
          Figure.of(
              name + ", allocated",
              "B",
              benchmark
                  .path("secondaryMetrics")
                  .path("gc.alloc.rate.norm")
                  .path("score")
                  .asDouble()));
    }
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle perf packet}: each contestant's goodput ÷ the goodput of
   * policy spray without loss, and each contestant's goodput with loss ÷ its own without loss.
   */
  static List<Figure> packet(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    for (JsonNode row : report.path("rows")) {
      boolean lossy = row.path("loss").asDouble() > 0;
      String of = row.path("contestant").asText() + (lossy ? ", loss" : "");
      figures.add(Figure.of(of + " ÷ spray", "", numbers(row.path("times_spray"))));
      if (lossy) {
        figures.add(Figure.of(of + " ÷ lossless", "", numbers(row.path("times_lossless"))));
      }
    }
    return figures;
  }

  /**
   * Converts the JSON of {@code heddle paths check}: the worst values of all hashes, and the fit's
   * accuracy for linear and for other hashes.
   */
  static List<Figure> paths(JsonNode report) {
    double measured = 1;
    double predicted = 1;
    double linear = 1;
    double others = 0;
    int uneven = 0;
    int fits = 0;
    int rows = report.path("rows").size();
    for (JsonNode row : report.path("rows")) {
      double ports = row.path("ports").asDouble();
      double accuracy = row.path("accuracy").asDouble(0);
      measured = Math.min(measured, row.path("correct").asDouble() / ports);
      predicted = Math.min(predicted, row.path("predicted").asDouble() / ports);
      if (row.path("linear").asBoolean()) {
        fits++;
        linear = Math.min(linear, accuracy);
      } else {
        others = Math.max(others, accuracy);
      }
      uneven = Math.max(uneven, row.path("picked_unevenness").asInt());
    }
    List<Figure> figures = new ArrayList<>();
    if (rows > 0) {
      figures.add(Figure.of("ports measured as counted", "", measured));
      figures.add(Figure.of("ports predicted as counted", "", predicted));
      figures.add(Figure.of("picked ports, uneven by", "flows", uneven));
    }
    if (fits > 0) {
      figures.add(Figure.of("fit of linear hashes", "", linear));
    }
    if (fits < rows) {
      figures.add(Figure.of("fit of other hashes", "", others));
    }
    return figures;
  }

  /** Converts the JSON of {@code heddle perf bgp}. Feeds without a time are skipped. */
  static List<Figure> routes(JsonNode report) {
    List<Figure> figures = new ArrayList<>();
    List<Double> most = new ArrayList<>();
    for (JsonNode run : report.path("runs")) {
      String of = run.path("sender").asText() + " " + run.path("feed").asText();
      if (run.path("receiver").asText().equals("heddle") && run.path("seconds").asDouble() > 0) {
        double own = run.path("seconds").asDouble();
        figures.add(Figure.of("feed by " + of, "s", own));
        most.add(own);
        for (JsonNode other : report.path("runs")) {
          if (other.path("receiver").asText().equals("bird")
              && (other.path("sender").asText() + " " + other.path("feed").asText()).equals(of)) {
            figures.add(
                Figure.of("feed by " + of + " ÷ BIRD", "", own / other.path("seconds").asDouble()));
          }
        }
      }
    }
    figures.add(
        Figure.of(
            "slowest feed",
            "s",
            most.stream().mapToDouble(Double::doubleValue).max().orElse(Double.NaN)));
    return figures;
  }
}
