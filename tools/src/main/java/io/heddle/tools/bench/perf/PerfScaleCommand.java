package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
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

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

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
      defaultValue = "20000",
      description =
          "Messages of a rank over all its connections together; at least ten on each"
              + " (${DEFAULT-VALUE}).")
  private int messages;

  @Option(
      names = "--max-bytes",
      paramLabel = "B",
      defaultValue = "8",
      description = "Largest message (${DEFAULT-VALUE}).")
  private int maxBytes;

  @Option(
      names = "--idle-seconds",
      paramLabel = "S",
      defaultValue = "2",
      description = "Idle period before the measurement of idle cost, seconds (${DEFAULT-VALUE}).")
  private int idleSeconds;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  private record Contestant(String name, Path plugin) {}

  /**
   * Setting of one measured point.
   *
   * @param value value of the varied quantity
   * @param connections number of connections of a rank with each other rank, in each direction,
   *     without the first one
   */
  private record Setting(int value, int ranks, int planes, int connections) {
    /*
     * Returns the number of connections of a rank in each direction, over all other ranks. The
     * first connection with each rank is included; {@code connections} doesn't count it.
     */
    int ofRank() {
      return (connections + 1) * (ranks - 1);
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    requireEach(range, "--connections", connections, 1, MOST_CONNECTIONS);
    requireEach(range, "--planes", planes, 1, LabPlan.MAX_PLANES);
    requireEach(range, "--ranks", ranks, 2, MOST_RANKS);
    range.require("--messages", messages, 1, 100_000_000);
    range.require("--max-bytes", maxBytes, 1, 64 << 20);
    range.require("--idle-seconds", idleSeconds, 1, HANG_SECONDS / 2);
    range.require("--rounds", rounds, 1, 1_000);
    Path driver = Installation.requirePart(Installation.CONNECTIONS, "the program of the ranks");
    List<Contestant> contestants =
        List.of(
            new Contestant("Heddle", Installation.requirePart(Installation.PLUGIN, "the plugin")),
            new Contestant(
                "TCP", Installation.requirePart(Installation.TCP_PLUGIN, "the TCP plugin")));
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    double load = HostLoad.ofLastMinute();
    List<ScaleReport.Axis> axes = measure(choice.kind(), driver, contestants);
    ScaleReport report =
        new ScaleReport(
            choice.kind().text(),
            AllReduceReport.processorCount(),
            load,
            HostLoad.ofLastMinute(),
            rounds,
            maxBytes,
            contestants.stream().map(Contestant::name).toList(),
            axes);
    form.publish(spec, "scale-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  private static void requireEach(
      OptionRange range, String option, int[] values, int least, int most) {
    for (int each : values) {
      range.require(option, each, least, most);
    }
  }

  private List<ScaleReport.Axis> measure(Lab.Kind kind, Path driver, List<Contestant> contestants)
      throws IOException, InterruptedException {
    List<ScaleReport.Axis> axes = new ArrayList<>();
    List<ScaleReport.Point> points = new ArrayList<>();
    for (int each : connections) {
      points.add(point(kind, driver, contestants, new Setting(each, RANKS, PLANES, each)));
    }
    axes.add(new ScaleReport.Axis("connections", RANKS + " ranks, " + PLANES + " planes", points));
    points = new ArrayList<>();
    for (int each : planes) {
      points.add(point(kind, driver, contestants, new Setting(each, RANKS, each, CONNECTIONS)));
    }
    axes.add(
        new ScaleReport.Axis("planes", RANKS + " ranks, " + CONNECTIONS + " connections", points));
    points = new ArrayList<>();
    for (int each : ranks) {
      points.add(point(kind, driver, contestants, new Setting(each, each, PLANES, 1)));
    }
    axes.add(new ScaleReport.Axis("ranks", "1 connection to each, " + PLANES + " planes", points));
    return axes;
  }

  private ScaleReport.Point point(
      Lab.Kind kind, Path driver, List<Contestant> contestants, Setting setting)
      throws IOException, InterruptedException {
    int each = Math.max(LEAST_MESSAGES, messages / setting.ofRank());
    List<ScaleReport.Rounds> gathered =
        contestants.stream().map(contestant -> new ScaleReport.Rounds()).toList();
    ProgressLine progress = ProgressLine.onStandardError();
    try (Lab lab = Labs.create(kind, new LabPlan(setting.ranks(), setting.planes(), 9000))) {
      for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < contestants.size(); i++) {
          Contestant contestant = contestants.get(i);
          String state =
              "heddle perf scale: %s ranks, %s planes, %s connections, round %s of %s: %s"
                  .formatted(
                      setting.ranks(),
                      setting.planes(),
                      setting.connections(),
                      round,
                      rounds,
                      contestant.name());
          gathered
              .get(i)
              .add(run(lab, driver, contestant, setting, each, () -> progress.update(() -> state)));
        }
      }
    }
    progress.clear();
    return new ScaleReport.Point(
        setting.value(), gathered.stream().map(one -> one.cost(each)).toList());
  }

  private Map<String, JsonNode> run(
      Lab lab, Path driver, Contestant contestant, Setting setting, int each, Runnable onIdle)
      throws IOException, InterruptedException {
    RunFolder folder = new RunFolder();
    try (DriverRanks ranksOfRun =
        new DriverRanks(
            "%s with %s ranks and %s connections in each direction"
                .formatted(contestant.name(), setting.ranks(), setting.connections()),
            lab,
            setting.ranks(),
            folder,
            rank -> command(driver, contestant.plugin(), folder.path(), rank, setting, each),
            Map.of("HEDDLE_STATS_DIR", folder.path().toString()),
            onIdle)) {
      ranksOfRun.awaitEnd();
      Map<String, JsonNode> events = new HashMap<>();
      /* Only the first rank's report counts, since all ranks do the same work. */
      for (String line : ranksOfRun.unreadLines(0)) {
        JsonNode event = event(line);
        if (event == null) {
          throw ranksOfRun.failure(0, "printed an unexpected line: " + line);
        }
        events.put(event.path("event").asText(), event);
      }
      return events;
    }
  }

  private List<String> command(
      Path driver, Path plugin, Path folder, int rank, Setting setting, int each) {
    return List.of(
        driver.toString(),
        "--plugin=" + plugin,
        "--rendezvous=" + folder,
        "--rank=" + rank,
        "--ranks=" + setting.ranks(),
        "--connections=" + setting.connections(),
        "--messages=" + each,
        "--max-bytes=" + maxBytes,
        "--idle-seconds=" + idleSeconds,
        "--timeout-seconds=" + HANG_SECONDS);
  }

  private static @Nullable JsonNode event(String line) {
    try {
      JsonNode event = Json.mapper().readTree(line);
      return event.has("event") ? event : null;
    } catch (JsonProcessingException notJson) {
      return null;
    }
  }
}
