package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.job.RankProcess;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--planes",
      paramLabel = "N",
      defaultValue = "4",
      description = "Planes (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "9",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ReportOption report = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = new OptionRange(spec);
    range.require("--planes", planes, 2, LabPlan.MAX_PLANES);
    range.require("--rounds", rounds, 1, 1_000);
    Path plugin = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path driver = Installation.requirePart(Installation.PLUGIN_PERF, "the program of the ranks");
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    List<Integer> contestants = List.of(1, planes);
    List<StartReport.Contestant> found = new ArrayList<>();
    for (int each : contestants) {
      found.add(
          new StartReport.Contestant(
              each == 1 ? "1 plane" : each + " planes",
              new ArrayList<>(),
              new ArrayList<>(),
              new ArrayList<>()));
    }
    double loadBefore = HostLoad.ofLastMinute();
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      List<Lab> labs = new ArrayList<>();
      for (int each : contestants) {
        labs.add(cleanup.add(Labs.create(choice.kind(), new LabPlan(1, each, 9000))));
      }
      for (int round = 1; round <= rounds; round++) {
        int now = round;
        progress.update(() -> "heddle perf start: round %s of %s".formatted(now, rounds));
        for (int i = 0; i < labs.size(); i++) {
          start(labs.get(i), driver, plugin, found.get(i));
        }
      }
    }
    progress.clear();
    StartReport all =
        new StartReport(
            choice.kind().text(),
            AllReduceReport.processorCount(),
            rounds,
            List.of(loadBefore, HostLoad.ofLastMinute()),
            found);
    report.publish(spec, "start-" + ReportOption.today(), all.table(), all);
    return 0;
  }

  /*
   * Measures one start. The driver starts the plugin and then waits for a second rank, which is
   * never started.
   */
  private static void start(Lab lab, Path driver, Path plugin, StartReport.Contestant into)
      throws IOException, InterruptedException {
    try (RunFolder folder = new RunFolder()) {
      Map<String, String> environment = new HashMap<>(lab.environment(0));
      environment.put("HEDDLE_STATS_DIR", folder.path().toString());
      BlockingQueue<PluginPerfEvent> events = new LinkedBlockingQueue<>();
      List<String> command =
          List.of(
              driver.toString(),
              "--plugin",
              plugin.toString(),
              "--rendezvous",
              folder.path().toString(),
              "--rank",
              "0",
              "--max-bytes",
              "8",
              "--timeout-seconds",
              Long.toString(START_SECONDS));
      try (RankProcess process =
          RankProcess.start(
              0,
              lab.command(0, command),
              environment,
              folder.path().resolve("log"),
              line -> events.add(PluginPerfEvent.parse(line)))) {
        PluginPerfEvent event = events.poll(START_SECONDS, TimeUnit.SECONDS);
        if (!(event instanceof PluginPerfEvent.Started started)) {
          folder.keep();
          throw new HeddleException(
              "the plugin didn't start; its last log lines (all in %s):%n    %s"
                  .formatted(folder.path(), String.join("\n    ", process.lastLines())));
        }
        long spent = awaitIdle(process.pid());
        into.startMs().add(started.startMs());
        into.processorMs().add(spent / MS);
        into.idleMebibytes().add(resident(process.pid()));
      }
    }
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
