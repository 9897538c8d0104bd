package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.tools.job.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that feeds the route daemon and BIRD with large tables. */
@Command(
    name = "bgp",
    description =
        "Feeds the route daemon, and BIRD for comparison, with 4 x 100,000 host routes. Measures"
            + " the time until all weights are published, processor time, memory, and the time of a"
            + " single change. Needs root, BIRD and Python.",
    mixinStandardHelpOptions = true,
    sortOptions = false)
final class PerfBgpCommand implements Callable<Integer> {
  private static final Path FEEDER = Path.of("perf-tests", "src", "bgp_feed.py");
  private static final List<String> SENDERS = List.of("bird", "prebuilt", "both");
  private static final int MOST_ROUTES = 1_000_000;

  @Option(
      names = "--routes",
      paramLabel = "N",
      defaultValue = "100000",
      description = "Routes of each of the four peers (${DEFAULT-VALUE}).")
  private int routes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--sender",
      paramLabel = "WHO",
      defaultValue = "both",
      description = "Sender: bird, prebuilt (UPDATEs), or both (${DEFAULT-VALUE}).")
  private String sender = "both";

  @CommandLine.Mixin private final ReportOption report = new ReportOption();

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    range.require("--routes", routes, 1, MOST_ROUTES);
    range.require("--rounds", rounds, 1, 1_000);
    if (!SENDERS.contains(sender)) {
      throw range.refusal("--sender " + sender + " is not one of " + String.join(", ", SENDERS));
    }
    Path root = Installation.root();
    Path feeder = Installation.require(root.resolve(FEEDER), "the feeding program");
    List<String> command = new ArrayList<>(List.of("python3", feeder.toString()));
    command.addAll(List.of("--routes", Integer.toString(routes)));
    command.addAll(List.of("--rounds", Integer.toString(rounds)));
    command.addAll(List.of("--sender", sender));
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      Path json = folder.path().resolve("report.json");
      Path table = folder.path().resolve("table");
      command.addAll(List.of("--json", json.toString(), "--"));
      command.addAll(OwnCommandLine.asStarted());
      Process process =
          new ProcessBuilder(command).inheritIO().redirectOutput(table.toFile()).start();
      cleanup.add(process::destroy);
      int exitCode = process.waitFor();
      if (exitCode == 0) {
        report.publish(
            spec,
            "bgp-feed-" + ReportOption.today(),
            Files.readString(table),
            Json.mapper().readValue(json.toFile(), BgpFeedReport.class));
      }
      return exitCode;
    }
  }
}
