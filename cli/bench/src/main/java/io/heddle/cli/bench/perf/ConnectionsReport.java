package io.heddle.cli.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.HeddleException;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What {@code heddle perf connections} found.
 *
 * @param network how hosts were kept apart
 * @param processors of the machine
 * @param planes of every connection
 * @param load of the machine before, mean of a minute
 * @param runs one for each number of connections
 */
record ConnectionsReport(String network, int processors, int planes, double load, List<Run> runs) {
  /**
   * One of the two processes.
   *
   * @param connections each way, beside a first one
   * @param setUpSeconds until all were there
   * @param descriptors for a connection of one direction
   * @param idleKib by which resident memory grew for a connection of one direction, garbage
   *     included
   * @param trafficSeconds until all messages were there
   * @param residentMib of the whole process after that
   * @param descriptorsLeft when all were closed, those of the first one among them
   */
  record Run(
      int connections,
      double setUpSeconds,
      double descriptors,
      double idleKib,
      double trafficSeconds,
      double residentMib,
      int descriptorsLeft) {
    static Run of(int connections, Map<String, JsonNode> events) {
      JsonNode first = event(events, "first");
      JsonNode up = event(events, "up");
      JsonNode moved = event(events, "moved");
      double ends = 2.0 * connections;
      return new Run(
          connections,
          up.get("seconds").asDouble(),
          (number(up, "descriptors") - number(first, "descriptors")) / ends,
          (number(up, "resident_kib") - number(first, "resident_kib")) / ends,
          moved.get("seconds").asDouble(),
          number(moved, "resident_kib") / 1024.0,
          number(event(events, "closed"), "descriptors"));
    }

    private static JsonNode event(Map<String, JsonNode> events, String name) {
      JsonNode event = events.get(name);
      if (event == null) {
        throw new HeddleException("a rank didn't report \"" + name + "\"");
      }
      return event;
    }

    private static int number(JsonNode event, String name) {
      return event.get(name).asInt();
    }
  }

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# connections between two processes over %d planes; %s, %d processors, load %.1f",
        planes,
        network,
        processors,
        load);
    line(
        text,
        "# %10s %12s %14s %12s %12s %14s",
        "each way",
        "set up, s",
        "descriptors/1",
        "idle, KiB/1",
        "traffic, s",
        "process, MiB");
    for (Run each : runs) {
      line(
          text,
          "  %10d %12.2f %14.2f %12.0f %12.2f %14.0f",
          each.connections(),
          each.setUpSeconds(),
          each.descriptors(),
          each.idleKib(),
          each.trafficSeconds(),
          each.residentMib());
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
