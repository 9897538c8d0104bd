package io.heddle.tools;

import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/**
 * The plugin over one plane and over several, beside a TCP plugin, on the same links and in turns.
 */
@Command(
    name = "allreduce",
    description =
        "All-reduce times of the plugin over one plane and over all, beside a TCP plugin on the"
            + " same links.",
    mixinStandardHelpOptions = true,
    versionProvider = HeddleCommand.Version.class,
    sortOptions = false,
    footer = "%nThe contestants take turns, round by round; wrong data ends the run.")
final class PerfAllReduceCommand implements Callable<Integer> {
  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(names = "--ranks", defaultValue = "2", description = "Processes (${DEFAULT-VALUE}).")
  private int ranks;

  @Option(names = "--planes", defaultValue = "4", description = "Planes (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "How often each contestant runs (${DEFAULT-VALUE}).")
  private int rounds;

  @Option(
      names = "--iterations",
      defaultValue = "20",
      description = "All-reduces per size (${DEFAULT-VALUE}).")
  private int iterations;

  @Option(
      names = "--min-bytes",
      defaultValue = "8",
      converter = ByteSize.class,
      description = "Smallest size, a multiple of 4 (${DEFAULT-VALUE}).")
  private long minBytes;

  @Option(
      names = "--max-bytes",
      defaultValue = "64M",
      converter = ByteSize.class,
      description = "Largest size; sizes double (${DEFAULT-VALUE}).")
  private long maxBytes;

  @Option(
      names = "--mtu",
      defaultValue = "9000",
      description = "MTU of the links, bytes (${DEFAULT-VALUE}).")
  private int mtu;

  @Option(
      names = "--tcp-congestion",
      defaultValue = "cubic",
      description = "Congestion control of the TCP plugin (${DEFAULT-VALUE}).")
  private String congestion = "cubic";

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @Option(names = "--save", description = "Also write table and JSON to perf-tests/results.")
  private boolean save;

  @Option(names = "--plugin", description = "Plugin to measure (the one that the build made).")
  private @Nullable Path plugin;

  @Option(names = "--rival", description = "Plugin to compare with (the TCP plugin of the build).")
  private @Nullable Path rival;

  @Option(names = "--driver", hidden = true, description = "The rank's program.")
  private @Nullable Path driver;

  /**
   * Somebody who runs; in the table the name that the plugin gives itself stands before {@code
   * role}.
   */
  private record Contestant(String role, Path plugin, boolean onePlane) {}

  /** One run of a contestant. */
  private record Outcome(String name, List<AllReduceResult> results) {}

  @Override
  public Integer call() throws IOException, InterruptedException {
    requireRange("--ranks", ranks, 2, LabPlan.MAX_RANKS);
    requireRange("--planes", planes, 1, LabPlan.MAX_PLANES);
    requireRange("--rounds", rounds, 1, 1_000);
    requireRange("--iterations", iterations, 1, 1_000_000);
    requireRange("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    requireRange("--min-bytes", minBytes, 4, 1L << 31);
    requireRange("--max-bytes", maxBytes, minBytes, 1L << 31);
    Path own = file(plugin, Installation.PLUGIN, "the plugin");
    List<Contestant> contestants = new ArrayList<>(List.of(new Contestant("1 plane", own, true)));
    if (planes > 1) {
      contestants.add(new Contestant(planes + " planes", own, false));
    }
    contestants.add(
        new Contestant("the rival", file(rival, Installation.TCP_PLUGIN, "the TCP plugin"), true));
    Path program = file(driver, Installation.ALL_REDUCE, "the rank's program");
    Labs.Choice choice = hosts.choose();
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    return measure(choice, contestants, program);
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

  private int measure(Labs.Choice choice, List<Contestant> contestants, Path program)
      throws IOException, InterruptedException {
    List<Map<Long, List<AllReduceResult>>> times = new ArrayList<>();
    contestants.forEach(each -> times.add(new TreeMap<>()));
    String[] names = new String[contestants.size()];
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      Lab lab = cleanup.add(Labs.create(choice.kind(), new LabPlan(ranks, planes, mtu)));
      /* On loopback the lab itself says which planes there are, so one plane needs a lab of its own. */
      Lab narrow =
          choice.kind() == Lab.Kind.LOOPBACK
              ? Labs.create(choice.kind(), new LabPlan(ranks, 1, mtu))
              : lab;
      for (int round = 1; round <= rounds; round++) {
        for (int i = 0; i < contestants.size(); i++) {
          Contestant each = contestants.get(i);
          String state =
              "heddle perf allreduce: round " + round + " of " + rounds + ", " + each.role();
          Outcome outcome =
              runOnce(
                  each.onePlane() ? narrow : lab,
                  each,
                  program,
                  () -> progress.update(() -> state));
          names[i] = outcome.name() + ", " + each.role();
          for (AllReduceResult result : outcome.results()) {
            times.get(i).computeIfAbsent(result.bytes(), bytes -> new ArrayList<>()).add(result);
          }
        }
      }
    }
    progress.clear();
    publish(
        new AllReduceReport(
            choice.kind().text(),
            ranks,
            mtu,
            AllReduceReport.processorCount(),
            List.of(names),
            rounds,
            AllReduceReport.rows(times)));
    return 0;
  }

  private Outcome runOnce(Lab lab, Contestant contestant, Path program, Runnable onIdle)
      throws IOException, InterruptedException {
    Map<String, String> environment =
        contestant.onePlane() && lab.kind() != Lab.Kind.LOOPBACK
            ? Map.of(
                "HEDDLE_PLANES", LabPlan.interfaceName(0) + "=1", "TCPREF_CONGESTION", congestion)
            : Map.of("TCPREF_CONGESTION", congestion);
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      AllReducePlan plan =
          new AllReducePlan(
              program,
              contestant.plugin(),
              folder.path(),
              minBytes,
              maxBytes,
              iterations,
              60,
              environment);
      AllReduceRun run = cleanup.add(new AllReduceRun(lab, plan));
      try {
        List<AllReduceResult> results = run.run(result -> {}, onIdle);
        if (run.wrong() != 0 || results.stream().anyMatch(result -> result.wrong() != 0)) {
          throw new HeddleException(
              contestant.role() + " delivered wrong data: its times mean nothing");
        }
        return new Outcome(String.valueOf(run.net()), results);
      } catch (HeddleException failed) {
        folder.keep();
        throw new HeddleException(contestant.role() + ": " + failed.getMessage(), failed);
      }
    }
  }

  private void publish(AllReduceReport report) throws IOException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    out.print(json ? Json.of(report) + System.lineSeparator() : report.table());
    out.flush();
    if (save) {
      Path folder = Installation.results();
      Files.createDirectories(folder);
      String name =
          AllReduceReport.fileName(LocalDate.now(java.time.ZoneOffset.UTC).toString(), ranks);
      Files.writeString(folder.resolve(name + ".txt"), report.table());
      Files.writeString(folder.resolve(name + ".json"), Json.of(report) + "\n");
    }
  }
}
