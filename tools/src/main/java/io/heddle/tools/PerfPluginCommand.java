package io.heddle.tools;

import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
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
import picocli.CommandLine.ParameterException;

/** The plugin's bandwidth and latency over one plane and over several, beside a TCP plugin. */
@Command(
    name = "plugin",
    description =
        "Bandwidth and latency of the plugin by message size, over one plane and over all, beside a"
            + " TCP plugin on the same links.",
    mixinStandardHelpOptions = true,
    versionProvider = HeddleCommand.Version.class,
    sortOptions = false,
    footer =
        "%nEach contestant runs in two processes of its own; they take turns, measurement by"
            + " measurement. Wrong data ends the run.")
final class PerfPluginCommand implements Callable<Integer> {
  private static final int RANKS = 2;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--planes", defaultValue = "4", description = "Planes (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--kinds",
      split = ",",
      defaultValue = "BANDWIDTH,DUPLEX,LATENCY",
      description = "Of ${COMPLETION-CANDIDATES}, in either case; all without it.")
  private List<PluginPerfKind> kinds = List.of();

  @Option(
      names = "--min-bytes",
      defaultValue = "8",
      converter = ByteSize.class,
      description = "Smallest message (${DEFAULT-VALUE}).")
  private long minBytes;

  @Option(
      names = "--max-bytes",
      defaultValue = "16M",
      converter = ByteSize.class,
      description = "Largest message (${DEFAULT-VALUE}).")
  private long maxBytes;

  @Option(
      names = "--latency-max-bytes",
      defaultValue = "64K",
      converter = ByteSize.class,
      description = "Largest message of a round trip (${DEFAULT-VALUE}).")
  private long latencyMaxBytes;

  @Option(
      names = "--factor",
      defaultValue = "2",
      description = "Each size is this many times the one before (${DEFAULT-VALUE}).")
  private int factor;

  @Option(
      names = "--outstanding",
      defaultValue = "8",
      description = "Messages under way when bandwidth is measured (${DEFAULT-VALUE}).")
  private int outstanding;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "How often each measurement is made (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--milliseconds",
      defaultValue = "100",
      description = "How long a measurement lasts (${DEFAULT-VALUE}).")
  private int milliseconds;

  @Option(
      names = "--mtu",
      defaultValue = "9000",
      description = "MTU of the links, bytes (${DEFAULT-VALUE}).")
  private int mtu;

  @Option(names = "--no-pin", description = "Let the threads that move data run on any processor.")
  private boolean unpinned;

  @Option(
      names = "--tcp-congestion",
      defaultValue = "cubic",
      description = "Congestion control of the TCP plugin (${DEFAULT-VALUE}).")
  private String congestion = "cubic";

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @Option(names = "--json", description = "Print one JSON document instead of the tables.")
  private boolean json;

  @Option(names = "--save", description = "Also write tables and JSON to perf-tests/results.")
  private boolean save;

  @Option(names = "--plugin", description = "Plugin to measure (the one that the build made).")
  private @Nullable Path plugin;

  @Option(names = "--rival", description = "Plugin to compare with (the TCP plugin of the build).")
  private @Nullable Path rival;

  @Option(names = "--driver", hidden = true, description = "The ranks' program.")
  private @Nullable Path driver;

  /** Somebody who runs; {@code onePlane} of the lab's planes or all. */
  private record Entry(String role, Path plugin, boolean onePlane) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    requireRange("--planes", planes, 1, LabPlan.MAX_PLANES);
    requireRange("--rounds", rounds, 1, 1_000);
    requireRange("--milliseconds", milliseconds, 1, 60_000);
    requireRange("--outstanding", outstanding, 1, 32);
    requireRange("--factor", factor, 2, 1_024);
    requireRange("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    requireRange("--min-bytes", minBytes, 1, 1L << 30);
    requireRange("--max-bytes", maxBytes, minBytes, 1L << 30);
    requireRange("--latency-max-bytes", latencyMaxBytes, 1, 1L << 30);
    Path own = file(plugin, Installation.PLUGIN, "the plugin");
    List<Entry> entries = new ArrayList<>(List.of(new Entry("1 plane", own, true)));
    if (planes > 1) {
      entries.add(new Entry(planes + " planes", own, false));
    }
    entries.add(
        new Entry("the rival", file(rival, Installation.TCP_PLUGIN, "the TCP plugin"), true));
    PluginPerfPlan plan =
        new PluginPerfPlan(
            file(driver, Installation.PLUGIN_PERF, "the ranks' program"),
            kinds.stream().distinct().sorted().toList(),
            minBytes,
            maxBytes,
            latencyMaxBytes,
            factor,
            outstanding,
            rounds,
            milliseconds,
            !unpinned);
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    publish(measure(choice, entries, plan));
    return 0;
  }

  private static Path file(@Nullable Path given, Path built, String what) {
    return Installation.require(given == null ? Installation.part(built) : given, what);
  }

  private void requireRange(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new ParameterException(
          Objects.requireNonNull(spec).commandLine(),
          option + " " + value + " is not in " + least + " to " + most);
    }
  }

  private PluginPerfReport measure(Labs.Choice choice, List<Entry> entries, PluginPerfPlan plan)
      throws IOException, InterruptedException {
    List<Map<PluginPerfPlan.Step, Double>> figures = new ArrayList<>();
    List<PluginPerfContestant> contestants = new ArrayList<>();
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab = cleanup.add(Labs.create(choice.kind(), new LabPlan(RANKS, planes, mtu)));
      /* On loopback the lab itself says which planes there are, so one plane needs a lab of its own. */
      Lab narrow =
          choice.kind() == Lab.Kind.LOOPBACK
              ? Labs.create(choice.kind(), new LabPlan(RANKS, 1, mtu))
              : lab;
      for (Entry entry : entries) {
        progress.update(() -> "heddle perf plugin: warming up " + entry.role());
        PluginPerfContestant contestant =
            cleanup.add(
                new PluginPerfContestant(
                    entry.onePlane() ? narrow : lab,
                    entry.role(),
                    entry.plugin(),
                    plan,
                    environment(entry, lab)));
        contestant.awaitWarm();
        contestants.add(contestant);
        figures.add(new HashMap<>());
      }
      for (PluginPerfPlan.Step step : plan.steps()) {
        progress.update(() ->
            "heddle perf plugin: round %d of %d, %s, %d bytes"
                .formatted(step.round(), rounds, step.kind().title(), step.bytes()));
        for (int i = 0; i < contestants.size(); i++) {
          figures.get(i).put(step, contestants.get(i).measure(step));
        }
      }
      for (PluginPerfContestant contestant : contestants) {
        contestant.awaitEnd();
      }
    }
    progress.clear();
    return new PluginPerfReport(
        choice.kind().text(),
        mtu,
        AllReduceReport.processorCount(),
        plan.pinned(),
        outstanding,
        milliseconds,
        rounds,
        contestants.stream().map(PluginPerfContestant::entry).toList(),
        PluginPerfReport.sections(plan, figures));
  }

  private Map<String, String> environment(Entry entry, Lab lab) {
    Map<String, String> environment = new HashMap<>(Map.of("TCPREF_CONGESTION", congestion));
    if (entry.onePlane() && lab.kind() != Lab.Kind.LOOPBACK) {
      environment.put("HEDDLE_PLANES", LabPlan.interfaceName(0) + "=1");
    }
    return environment;
  }

  private void publish(PluginPerfReport report) throws IOException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(report) + System.lineSeparator() : report.table());
    out.flush();
    if (save) {
      Path folder = Installation.results();
      Files.createDirectories(folder);
      String name = PluginPerfReport.fileName(LocalDate.now(ZoneOffset.UTC).toString(), mtu);
      Files.writeString(folder.resolve(name + ".txt"), report.table());
      Files.writeString(folder.resolve(name + ".json"), Json.of(report) + "\n");
    }
  }
}
