package io.heddle.tools.soak;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.job.PolicyName;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Command that executes many short runs. The faults of a run are derived from its seed. */
@Command(
    name = "soak",
    description =
        "Sends random messages between two hosts under faults: links cut and restored, one or all"
            + " at once; packets lost, duplicated, delayed, reordered and held back; addresses"
            + " removed; a plane's MTU reduced as by a switch; processes stopped and killed; wall"
            + " clocks stepped. Checks every byte, guards around the buffers, and returned"
            + " buffers.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = {
      "%nRun i has the seed S + i, which determines its faults: repeat a failed run with --runs 1"
          + " --seed and its seed.",
      "A run must continue to its end unless a peer is killed or every plane stays cut beyond the"
          + " grace time: then both ends must report a remote error in time. If ranks were only"
          + " stopped, no plane may have failed over."
    },
    exitCodeList = {"0:Every run passed: no wrong byte, no hang, no leak.", "1:A run failed."})
public final class SoakCommand implements Callable<Integer> {
  private static final long LONGEST_MINUTES = 60L * 24 * 30;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description = "Time for which runs are started (1 if --runs isn't given either).")
  private @Nullable Long minutes;

  @Option(names = "--runs", paramLabel = "N", description = "Maximum number of runs.")
  private @Nullable Long runs;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of the first run (taken from the clock, and printed).")
  private @Nullable Long seed;

  @Option(
      names = "--fabric",
      description =
          "Run on a fabric of routers with a route daemon on each host (root): links to spines are"
              + " cut, BGP sessions reset, daemons killed, weights changed.")
  private boolean fabric;

  @Option(
      names = "--one-sided",
      description =
          "Run puts, each with a strong or a weak signal or none, and gets, over NCCL's one-sided"
              + " table instead of messages. Checks that no signal precedes its data, and that each"
              + " is applied exactly once.")
  private boolean oneSided;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      description = "Spray policy of every run: ${COMPLETION-CANDIDATES} (the seed chooses).")
  private @Nullable PolicyName policy;

  @Option(names = "--verbose", description = "Print the plan of each run.")
  private boolean verbose;

  @CommandLine.Mixin private final WanSoakOption wide = new WanSoakOption();
  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @Option(
      names = "--plugin",
      paramLabel = "FILE",
      description = "Plugin to load (the build's own).")
  private @Nullable Path plugin;

  @Option(
      names = "--driver",
      paramLabel = "FILE",
      hidden = true,
      description = "Program of the ranks.")
  private @Nullable Path driver;

  @Override
  public Integer call() throws IOException, InterruptedException {
    requireAtLeastOne("--minutes", minutes);
    requireAtLeastOne("--runs", runs);
    if (minutes != null && minutes > LONGEST_MINUTES) {
      throw usage("--minutes " + minutes + " is more than " + LONGEST_MINUTES);
    }
    if (seed != null && seed < 0) {
      throw usage("--seed " + seed + " is negative; seeds are whole numbers from 0");
    }
    if (wide.wan) {
      long first = seed == null ? System.nanoTime() & 0xffff_ffffL : seed;
      int most = (int) (minutes == null ? 1 : minutes);
      PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
      return wide.run(out, json, first, most) ? 0 : ExitCode.FAILED;
    }
    if (!fabric) {
      PlaneFaults.requirePrograms("a soak cuts planes");
    }
    ChaosPair.Programs programs =
        new ChaosPair.Programs(
            Installation.require(
                plugin == null ? Installation.part(Installation.PLUGIN) : plugin, "the plugin"),
            Installation.require(
                driver == null ? Installation.part(usualDriver()) : driver,
                "the program of the ranks"),
            oneSided ? Map.of("HEDDLE_ONE_SIDED", "1") : Map.of());
    if (fabric) {
      return soak(programs, "a fabric of routers", this::onFabric) ? 0 : ExitCode.FAILED;
    }
    Labs.Choice choice = hosts.chooseNamespaces("a soak cuts planes");
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    Benches benches =
        (used, folder, cleanup) ->
            new ChaosBench(
                seed -> withOptions(ChaosPlan.of(seed)),
                setting -> new ChaosLinks(choice.kind(), setting),
                false,
                used,
                folder.path());
    return soak(programs, choice.kind().text(), benches) ? 0 : ExitCode.FAILED;
  }

  private Path usualDriver() {
    return oneSided ? Installation.ONE_SIDED_CHAOS : Installation.CHAOS;
  }

  private void requireAtLeastOne(String option, @Nullable Long value) {
    if (value != null && value < 1) {
      throw usage(option + " " + value + " is less than 1");
    }
  }

  private ParameterException usage(String sentence) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), sentence);
  }

  /** Factory of the test bench. It is called once the soak's folder exists. */
  private interface Benches {
    ChaosBench make(ChaosPair.Programs programs, RunFolder folder, Cleanup cleanup)
        throws IOException;
  }

  private ChaosBench onFabric(ChaosPair.Programs programs, RunFolder folder, Cleanup cleanup)
      throws IOException {
    ChaosFabric network = ChaosFabric.up(folder.path(), cleanup);
    return new ChaosBench(
        seed -> withOptions(network.plan(seed)), setting -> network, true, programs, folder.path());
  }

  /* Returns the plan with the policy that the command's options select. */
  private ChaosPlan withOptions(ChaosPlan plan) {
    return policy == null ? plan : plan.withPolicy(policy.toString());
  }

  /* Returns the options that a command needs to repeat a run, apart from its seed. */
  private String options() {
    return (fabric ? " --fabric" : "")
        + (oneSided ? " --one-sided" : "")
        + (policy == null ? "" : " --policy " + policy);
  }

  private boolean soak(ChaosPair.Programs programs, String where, Benches benches)
      throws IOException, InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    long first = seed == null ? System.nanoTime() & 0xffff_ffffL : seed;
    long most = runs == null ? Long.MAX_VALUE : runs;
    long endNs =
        System.nanoTime()
            + (minutes == null && runs != null
                ? TimeUnit.MINUTES.toNanos(LONGEST_MINUTES)
                : TimeUnit.MINUTES.toNanos(minutes == null ? 1 : minutes));
    ProgressLine progress = ProgressLine.onStandardError();
    SoakReport report = new SoakReport(first);
    print(out, "# heddle soak: seeds from " + first + ", hosts are " + where);
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      ChaosBench bench = cleanup.add(benches.make(programs, folder, cleanup));
      while (report.runs() < most && System.nanoTime() - endNs < 0) {
        ChaosPlan plan = bench.plan(first + report.runs());
        if (verbose) {
          print(out, "seed " + plan.seed() + ": " + plan.describe());
        }
        ChaosVerdict verdict = bench.run(plan, report.runs() + 1 == most);
        report.add(plan, verdict);
        if (!verdict.isGood()) {
          folder.keep();
          progress.clear();
          print(out, SoakReport.failure(plan, verdict, bench.pairFolder(), options()));
        }
        progress.update(() -> "heddle soak: " + report.summary());
      }
    }
    progress.clear();
    out.println(json ? Json.of(report.document()) : report.table());
    out.flush();
    return report.passed();
  }

  private void print(PrintWriter out, String text) {
    if (!json) {
      out.println(text);
      out.flush();
    }
  }
}
