package io.heddle.cli.bench.perf;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.job.HostsOption;
import io.heddle.cli.job.RunFolder;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.cli.lab.Lab;
import io.heddle.cli.lab.LabPlan;
import io.heddle.cli.lab.Labs;
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

/** What many connections between two processes take. */
@Command(
    name = "connections",
    description =
        "What many connections between two processes take, as many each way: time to set them up,"
            + " descriptors, resident memory; with traffic on all of them, every byte checked.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = "%nThe plugin runs within its own limits; a process that runs into one ends the run.")
final class PerfConnectionsCommand implements Callable<Integer> {
  private static final int RANKS = 2;
  private static final int HANG_SECONDS = 60;
  private static final int MOST_CONNECTIONS = 2_048;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--connections",
      paramLabel = "N",
      split = ",",
      defaultValue = "64,512",
      description = "How many each way, one run for each number (${DEFAULT-VALUE}).")
  private int[] connections = {};

  @Option(
      names = "--planes",
      paramLabel = "N",
      defaultValue = "4",
      description = "Planes (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "10",
      description = "Messages on each connection (${DEFAULT-VALUE}).")
  private int messages;

  @Option(
      names = "--max-bytes",
      paramLabel = "B",
      defaultValue = "65536",
      description = "Largest message (${DEFAULT-VALUE}).")
  private int maxBytes;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    for (int each : connections) {
      range.require("--connections", each, 1, MOST_CONNECTIONS);
    }
    range.require("--planes", planes, 1, LabPlan.MAX_PLANES);
    range.require("--messages", messages, 1, 1_000_000);
    range.require("--max-bytes", maxBytes, 1, 64 << 20);
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.CONNECTIONS, "the ranks' program");
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    double load = HostLoad.ofLastMinute();
    List<ConnectionsReport.Run> runs = new ArrayList<>();
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab = cleanup.add(Labs.create(choice.kind(), new LabPlan(RANKS, planes, 9000)));
      for (int each : connections) {
        progress.update(() -> "heddle perf connections: %s each way".formatted(each));
        runs.add(run(lab, driver, plugin, each));
      }
    }
    progress.clear();
    ConnectionsReport report =
        new ConnectionsReport(
            choice.kind().text(), AllReduceReport.processorCount(), planes, load, runs);
    form.publish(spec, "connections-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  private ConnectionsReport.Run run(Lab lab, Path driver, Path plugin, int each)
      throws IOException, InterruptedException {
    RunFolder folder = new RunFolder();
    try (DriverRanks ranks =
        new DriverRanks(
            each + " connections each way",
            lab,
            RANKS,
            folder,
            rank -> command(driver, plugin, folder.path(), rank, each),
            Map.of("HEDDLE_STATS_DIR", folder.path().toString()),
            () -> {})) {
      ranks.awaitEnd();
      Map<String, JsonNode> events = new HashMap<>();
      /* Of the rank that calls first; both do the same. */
      for (String line : ranks.left(0)) {
        JsonNode event = event(line);
        if (event == null) {
          throw ranks.failure(0, "printed a line that is no report: " + line);
        }
        events.put(event.path("event").asText(), event);
      }
      return ConnectionsReport.Run.of(each, events);
    }
  }

  private List<String> command(Path driver, Path plugin, Path folder, int rank, int each) {
    return List.of(
        driver.toString(),
        "--plugin",
        plugin.toString(),
        "--rendezvous",
        folder.toString(),
        "--rank",
        Integer.toString(rank),
        "--connections",
        Integer.toString(each),
        "--messages",
        Integer.toString(messages),
        "--max-bytes",
        Integer.toString(maxBytes),
        "--timeout-seconds",
        Integer.toString(HANG_SECONDS));
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
