package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.HeddleException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/**
 * Report of {@code heddle perf scale}.
 *
 * @param network isolation of the hosts
 * @param processors number of processors of the machine
 * @param load load average of the last minute before the measurement
 * @param loadAtEnd load average of the last minute at the end, which includes the measurement's own
 *     load
 * @param rounds number of rounds
 * @param maxBytes size of the largest message
 * @param contestants names of the contestants in order; the last one is the rival
 * @param axes results for each varied quantity
 */
record ScaleReport(
    String network,
    int processors,
    double load,
    double loadAtEnd,
    int rounds,
    int maxBytes,
    List<String> contestants,
    List<Axis> axes) {
  /**
   * Results for one varied quantity.
   *
   * @param name name of the varied quantity
   * @param fixed values of the fixed quantities
   */
  record Axis(String name, String fixed, List<Point> points) {}

  /**
   * Results of all contestants at one value of the varied quantity.
   *
   * @param value value of the varied quantity
   * @param costs cost of each contestant, in order
   */
  record Point(int value, List<Cost> costs) {}

  /**
   * Cost of one contestant in the process of the first rank. Each list has one value per round.
   *
   * @param setUpSeconds seconds until all connections were established
   * @param messageMicros time of one message in each direction, µs
   * @param idlePercent processor time while idle, percent of one processor
   * @param memoryMib growth of the process's resident memory, from before it loaded the plugin
   *     until it was idle, MiB
   * @param connectionKib growth of the process's resident memory per connection of one direction,
   *     before any traffic, KiB. Garbage of the set-up is included.
   * @param descriptors number of file descriptors per connection of one direction
   * @param threads number of threads that the process has added since before it loaded the plugin
   */
  record Cost(
      List<Double> setUpSeconds,
      List<Double> messageMicros,
      List<Double> idlePercent,
      List<Double> memoryMib,
      List<Double> connectionKib,
      List<Double> descriptors,
      List<Double> threads) {
    /**
     * Computes the cost from the first rank's reports.
     *
     * @param rounds reports of each round, by the name of the event
     * @param messages number of messages on each connection in each direction
     */
    static Cost of(List<Map<String, JsonNode>> rounds, int messages) {
      return new Cost(
          each(rounds, round -> number(round, "up", "seconds")),
          each(rounds, round -> 1e6 * number(round, "moved", "seconds") / sent(round, messages)),
          each(
              rounds,
              round ->
                  100
                      * number(round, "idle", "processor_seconds")
                      / number(round, "idle", "seconds")),
          each(rounds, round -> grown(round, "begun", "idle", "resident_kib") / 1024),
          each(rounds, round -> grown(round, "first", "up", "resident_kib") / ends(round)),
          each(rounds, round -> grown(round, "first", "up", "descriptors") / ends(round)),
          each(rounds, round -> grown(round, "begun", "idle", "threads")));
    }

    private static double sent(Map<String, JsonNode> round, int messages) {
      return messages
          * (number(round, "first", "connections") + number(round, "up", "connections"));
    }

    private static double ends(Map<String, JsonNode> round) {
      return 2 * number(round, "up", "connections");
    }

    private static double grown(
        Map<String, JsonNode> round, String before, String after, String what) {
      return number(round, after, what) - number(round, before, what);
    }

    private static List<Double> each(
        List<Map<String, JsonNode>> rounds, Function<Map<String, JsonNode>, Double> figure) {
      return rounds.stream().map(figure).toList();
    }

    private static double number(Map<String, JsonNode> round, String event, String name) {
      JsonNode found = round.get(event);
      if (found == null) {
        throw new HeddleException("a rank did not report \"" + event + "\"");
      }
      return found.get(name).asDouble();
    }
  }

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# cost of connections for a process; messages up to %d B; %s, %d processors, load %.1f"
            + " before and %.1f at the end",
        maxBytes,
        network,
        processors,
        load,
        loadAtEnd);
    line(text, "# medians of %d round%s in turns", rounds, rounds == 1 ? "" : "s");
    for (Axis axis : axes) {
      line(text, "#");
      line(
          text,
          "# %-11s %-8s %10s %11s %8s %12s %14s %13s %8s   with %s",
          axis.name(),
          "",
          "set up, s",
          "message, us",
          "idle, %",
          "process, MiB",
          "connection KiB",
          "descriptors",
          "threads",
          axis.fixed());
      for (Point point : axis.points()) {
        for (int i = 0; i < contestants.size(); i++) {
          Cost cost = point.costs().get(i);
          line(
              text,
              "%13d %-8s %10.3f %11.2f %8.2f %12.1f %14.1f %13.2f %8.0f",
              point.value(),
              contestants.get(i),
              median(cost.setUpSeconds()),
              median(cost.messageMicros()),
              median(cost.idlePercent()),
              median(cost.memoryMib()),
              median(cost.connectionKib()),
              median(cost.descriptors()),
              median(cost.threads()));
        }
      }
    }
    return text.toString();
  }

  private static double median(List<Double> rounds) {
    return Quantiles.of(rounds).median();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }

  /** Rounds of one contestant, from which its cost is computed. */
  static final class Rounds {
    private final List<Map<String, JsonNode>> events = new ArrayList<>();

    void add(Map<String, JsonNode> round) {
      events.add(round);
    }

    Cost cost(int messages) {
      return Cost.of(events, messages);
    }
  }
}
