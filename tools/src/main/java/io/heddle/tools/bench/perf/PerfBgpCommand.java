package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.OwnCommandLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.job.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
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
      description = "Routes of each of the four peers (${DEFAULT-VALUE}).")
  private int routes = 100000;

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(3);

  @Option(
      names = "--sender",
      paramLabel = "WHO",
      defaultValue = "both",
      description = "Sender: bird, prebuilt (UPDATEs), or both (${DEFAULT-VALUE}).")
  private String sender = "both";

  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    range.require("--routes", routes, 1, MOST_ROUTES);
    int count = rounds.required(range);
    if (!SENDERS.contains(sender)) {
      throw range.refusal("--sender " + sender + " is not one of " + String.join(", ", SENDERS));
    }
    Path feeder = Installation.require(Installation.root().resolve(FEEDER), "the feeding program");
    Contest contest =
        new Contest("perf bgp", "feed of routes into a daemon", "feed by %1$s, %2$s%3$s", count)
            .set("routes_per_peer", routes);
    contest.remark(
        "packed: many routes per UPDATE; unpacked: adjacent routes differ in their attributes, so"
            + " that each needs its own UPDATE; aggregate: one route for all hosts, and a few"
            + " unreachable hosts");
    return options.run("bgp-feed", contest, into -> feed(into, count, feeder));
  }

  private void feed(Contest contest, int count, Path feeder)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      Path json = cleanup.add(new RunFolder()).path().resolve("report.json");
      List<String> command =
          new ArrayList<>(
              List.of(
                  "python3",
                  feeder.toString(),
                  "--routes=" + routes,
                  "--rounds=" + count,
                  "--sender=" + sender,
                  "--json=" + json,
                  "--"));
      command.addAll(OwnCommandLine.asStarted());
      Process process =
          new ProcessBuilder(command)
              .inheritIO()
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      cleanup.add(process::destroy);
      int exitCode = process.waitFor();
      if (exitCode != 0) {
        throw new HeddleException("the feeding program failed (exit code " + exitCode + ")");
      }
      add(contest, Json.mapper().readTree(json.toFile()));
    }
  }

  /** Adds the feeds that the feeding program reports. */
  static void add(Contest contest, JsonNode report) {
    contest.set("peers", report.path("peers").asText());
    for (JsonNode run : report.path("runs")) {
      String feed = run.path("sender").asText() + " " + run.path("feed").asText();
      String receiver = run.path("receiver").asText();
      /* An aggregate has no time from the first route to the last. */
      if (run.path("seconds").asDouble() > 0) {
        contest.add(feed, receiver, "", "s", run.path("seconds").asDouble());
      }
      contest.add(feed, receiver, ", processor time", "s", run.path("cpu_seconds").asDouble());
      JsonNode memory = run.path("memory_mb");
      for (String each : List.of("Pss", "VmRSS", "VmHWM")) {
        contest.add(feed, receiver, ", " + each, "MiB", memory.path(each).asDouble());
      }
      double grown =
          memory.path("VmRSS").asDouble() - run.path("memory_before_mb").path("VmRSS").asDouble();
      contest.add(feed, receiver, ", VmRSS grown by", "MiB", grown);
      if (run.path("prefixes").isNumber()) {
        contest.add(feed, receiver, ", prefixes", "", run.path("prefixes").asDouble());
      }
      /* From an UPDATE of a single route until the routes file shows it, with the whole table. */
      run.path("change_us")
          .forEach(each -> contest.add(feed, receiver, ", change", "us", each.asDouble()));
    }
    contest.compare(Contest.Ratio.OF_ROUNDS, "", "bird", " ÷ BIRD");
    contest.series("").stream()
        .filter(each -> each.contestant().equals("heddle"))
        .mapToDouble(each -> each.figure().most())
        .max()
        .ifPresent(slowest -> contest.add(Figure.of("slowest feed", "s", slowest)));
  }
}
