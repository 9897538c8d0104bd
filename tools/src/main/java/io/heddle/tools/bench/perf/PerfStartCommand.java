package io.heddle.tools.bench.perf;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.kit.Cleanup;
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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that measures the time of the plugin's start and the memory of the process afterwards.
 */
@Command(
    name = "start",
    description =
        "Measures the start of the plugin in a fresh process, including Java, over one plane and"
            + " over several: time, processor time, and memory of the process afterwards.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = "%nOne process runs at a time; contestants alternate.")
final class PerfStartCommand implements Callable<Integer> {
  private static final long START_SECONDS = 60;

  /**
   * Interval in ms between two readings of processor time. A process is idle if it ran for less
   * than a tenth of the interval.
   */
  private static final long POLL_MS = 200;

  private static final int MOST_POLLS = 25;
  private static final double MS = 1e6;
  private static final double KIB_PER_MIB = 1024;

  @Option(names = "--planes", paramLabel = "N", description = "Planes (${DEFAULT-VALUE}).")
  private int planes = 4;

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(9);
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    range.require("--planes", planes, 2, LabPlan.MAX_PLANES);
    int count = rounds.required(range);
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.PLUGIN_PERF, "the program of the ranks");
    Labs.Choice choice = hosts.choose();
    Contest contest =
        new Contest(
            "perf start",
            "start of the plugin in a fresh process, Java included, one process at a time",
            "%3$s, %2$s",
            count);
    return options.run(
        hosts,
        choice,
        "start",
        contest,
        into -> {
          try (Cleanup cleanup = new Cleanup()) {
            Lab one = cleanup.add(Labs.create(choice.kind(), new LabPlan(1, 1, 9000)));
            Lab several = cleanup.add(Labs.create(choice.kind(), new LabPlan(1, planes, 9000)));
            into.measure(
                List.of(""),
                0,
                List.of(
                    starting(1, one, driver, plugin), starting(planes, several, driver, plugin)));
          }
        });
  }

  /* The driver starts the plugin and then waits for a second rank, which is never started. */
  private static Contestant<String> starting(int planes, Lab lab, Path driver, Path plugin) {
    String name = planes == 1 ? "1 plane" : planes + " planes";
    List<String> options = List.of("--max-bytes=8", "--timeout-seconds=" + START_SECONDS);
    return Contestant.of(
        name,
        (step, round) -> {
          try (DriverRanks ranks =
              new DriverRanks(name, lab, 1, driver, plugin, options, Map.of(), () -> {})) {
            JsonNode started = ranks.event(0, START_SECONDS, "start");
            long pid = ranks.pids().getFirst();
            round.add("", "init", "ms", started.path("start_ms").asDouble());
            round.add("", "processor time", "ms", awaitIdle(pid) / MS);
            round.add("", "resident when idle", "MiB", resident(pid));
          }
        });
  }

  /* Waits until the process's warm-up is over. Returns the processor time used so far, ns. */
  private static long awaitIdle(long pid) throws IOException, InterruptedException {
    long before = ThreadTimes.of(pid, List.of()).all();
    for (int poll = 0; poll < MOST_POLLS; poll++) {
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
      long now = ThreadTimes.of(pid, List.of()).all();
      if (now - before < POLL_MS * MS / 10) {
        return now;
      }
      before = now;
    }
    return before;
  }

  private static double resident(long pid) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc", Long.toString(pid), "status"))) {
      if (line.startsWith("VmRSS:")) {
        return Double.parseDouble(line.replaceAll("[^0-9]", "")) / KIB_PER_MIB;
      }
    }
    throw new HeddleException("/proc/" + pid + "/status has no resident set size");
  }
}
