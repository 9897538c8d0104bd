package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that measures the cost of connections, by the number of connections, planes and ranks,
 * and compares it with TCP.
 */
@Command(
    name = "scale",
    description =
        "Measures the cost of connections for a process, beside the TCP plugin: by number of"
            + " connections, by planes, and by number of fully connected ranks. Reports set-up"
            + " time, time of a small message, processor time while idle, memory, descriptors and"
            + " threads. Every byte is checked.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nOne thread of each rank serves all its connections, as in NCCL. The plugin's own limits"
            + " apply; a process that exceeds one ends the run.")
final class PerfScaleCommand implements Callable<Integer> {
  private static final int RANKS = 2;
  private static final int PLANES = 4;
  private static final int CONNECTIONS = 8;
  private static final int LEAST_MESSAGES = 10;
  private static final int HANG_SECONDS = 60;
  private static final int MOST_CONNECTIONS = 2_048;
  private static final int MOST_RANKS = 16;

  @Option(
      names = "--connections",
      paramLabel = "N",
      split = ",",
      defaultValue = "1,8,64,512",
      description =
          "Numbers of connections in each direction between two ranks over four planes, in addition"
              + " to a first one (${DEFAULT-VALUE}).")
  private int[] connections = {};

  @Option(
      names = "--planes",
      paramLabel = "N",
      split = ",",
      defaultValue = "1,4,8,16",
      description =
          "Numbers of planes, for two ranks with eight connections in each direction"
              + " (${DEFAULT-VALUE}).")
  private int[] planes = {};

  @Option(
      names = "--ranks",
      paramLabel = "N",
      split = ",",
      defaultValue = "2,4,8,16",
      description =
          "Numbers of ranks on this machine, with a connection in each direction between all of"
              + " them over four planes, in addition to a first one (${DEFAULT-VALUE}).")
  private int[] ranks = {};

  @Option(
      names = "--messages",
      paramLabel = "N",
      description =
          "Messages of a rank over all its connections together; at least ten on each"
              + " (${DEFAULT-VALUE}).")
  private int messages = 20000;

  @Option(
      names = "--max-bytes",
      paramLabel = "B",
      description = "Largest message (${DEFAULT-VALUE}).")
  private int maxBytes = 8;

  @Option(
      names = "--idle-seconds",
      paramLabel = "S",
      description = "Idle period before the measurement of idle cost, seconds (${DEFAULT-VALUE}).")
  private int idleSeconds = 2;

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(3);
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  /**
   * Measured point.
   *
   * @param label value of the varied quantity, and its name
   * @param connections number of connections of a rank with each other rank, in each direction,
   *     without the first one
   */
  private record Setting(String label, int ranks, int planes, int connections) {
    /*
     * Returns the number of connections of a rank in each direction, over all other ranks. The
     * first connection with each rank is included; {@code connections} doesn't count it.
     */
    int ofRank() {
      return (connections + 1) * (ranks - 1);
    }

    @Override
    public String toString() {
      return label;
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    requireEach(range, "--connections", connections, 1, MOST_CONNECTIONS);
    requireEach(range, "--planes", planes, 1, LabPlan.MAX_PLANES);
    requireEach(range, "--ranks", ranks, 2, MOST_RANKS);
    range.require("--messages", messages, 1, 100_000_000);
    range.require("--max-bytes", maxBytes, 1, 64 << 20);
    range.require("--idle-seconds", idleSeconds, 1, HANG_SECONDS / 2);
    int count = rounds.required(range);
    Path driver = Installation.requirePart(Installation.CONNECTIONS, "the program of the ranks");
    Path own = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path rival = Installation.requirePart(Installation.TCP_PLUGIN, "the TCP plugin");
    Labs.Choice choice = hosts.choose();
    Contest contest =
        new Contest("perf scale", "cost of connections for a process", "%1$s, %2$s%3$s", count)
            .set("max_bytes", maxBytes);
    contest.remark(
        "connections: %s ranks, %s planes; planes: %s ranks, %s connections; ranks: 1 connection to"
                .formatted(RANKS, PLANES, RANKS, CONNECTIONS)
            + " each, %s planes".formatted(PLANES));
    return options.run(
        hosts,
        choice,
        "scale",
        contest,
        into -> {
          for (Setting setting : settings()) {
            try (Lab lab =
                Labs.create(choice.kind(), new LabPlan(setting.ranks(), setting.planes(), 9000))) {
              into.measure(
                  List.of(setting),
                  0,
                  List.of(
                      connecting("Heddle", own, driver, lab, into::showAgain),
                      connecting("TCP", rival, driver, lab, into::showAgain)));
            }
          }
        });
  }

  private Contestant<Setting> connecting(
      String name, Path plugin, Path driver, Lab lab, Runnable onIdle) {
    return Contestant.of(
        name,
        (setting, round) -> {
          int each = Math.max(LEAST_MESSAGES, messages / setting.ofRank());
          int count = setting.ranks();
          List<String> driverOptions =
              List.of(
                  "--ranks=" + count,
                  "--connections=" + setting.connections(),
                  "--messages=" + each,
                  "--max-bytes=" + maxBytes,
                  "--idle-seconds=" + idleSeconds,
                  "--timeout-seconds=" + HANG_SECONDS);
          String title = name + " with " + setting;
          try (DriverRanks own =
              new DriverRanks(title, lab, count, driver, plugin, driverOptions, Map.of(), onIdle)) {
            own.awaitEnd();
            Map<String, JsonNode> events = new HashMap<>();
            /* Only the first rank's report counts, since all ranks do the same work. */
            for (String line : own.unreadLines(0)) {
              JsonNode event = DriverRanks.event(line);
              if (event == null) {
                throw own.failure(0, "printed an unexpected line: " + line);
              }
              events.put(event.path("event").asText(), event);
            }
            addCosts(events, each, setting.label(), round);
          }
        });
  }

  private List<Setting> settings() {
    List<Setting> settings = new ArrayList<>();
    for (int each : connections) {
      settings.add(new Setting(each + " connections", RANKS, PLANES, each));
    }
    for (int each : planes) {
      settings.add(new Setting(each + " planes", RANKS, each, CONNECTIONS));
    }
    for (int each : ranks) {
      settings.add(new Setting(each + " ranks", each, PLANES, 1));
    }
    return settings;
  }

  private static void requireEach(
      OptionRange range, String option, int[] values, int least, int most) {
    for (int each : values) {
      range.require(option, each, least, most);
    }
  }

  /**
   * Adds the costs of a process. Memory of a connection is the growth before any traffic; garbage
   * of the set-up is included.
   *
   * @param events reports of the first rank, by their name
   * @param messages number of messages on each connection in each direction
   */
  static void addCosts(
      Map<String, JsonNode> events, int messages, String step, Contestant.Round round) {
    double sent =
        messages * (number(events, "first", "connections") + number(events, "up", "connections"));
    double ends = 2 * number(events, "up", "connections");
    double idle = number(events, "idle", "processor_seconds") / number(events, "idle", "seconds");
    round.add(step, ": set up", "s", number(events, "up", "seconds"));
    round.add(step, ": a message", "us", 1e6 * number(events, "moved", "seconds") / sent);
    round.add(step, ": a processor while idle", "%", 100 * idle);
    round.add(
        step,
        ": memory more than without",
        "MiB",
        grown(events, "begun", "idle", "resident_kib") / 1024);
    round.add(
        step, ": memory a connection", "KiB", grown(events, "first", "up", "resident_kib") / ends);
    round.add(
        step, ": descriptors a connection", "", grown(events, "first", "up", "descriptors") / ends);
    round.add(step, ": threads", "", grown(events, "begun", "idle", "threads"));
  }

  private static double grown(
      Map<String, JsonNode> events, String before, String after, String what) {
    return number(events, after, what) - number(events, before, what);
  }

  private static double number(Map<String, JsonNode> events, String event, String name) {
    JsonNode found = events.get(event);
    if (found == null) {
      throw new HeddleException("a rank did not report \"" + event + "\"");
    }
    return found.get(name).asDouble();
  }
}
