package io.heddle.tools.demo;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.ExitCode;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.Json;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.AllReducePlan;
import io.heddle.tools.job.AllReduceResult;
import io.heddle.tools.job.AllReduceRun;
import io.heddle.tools.job.HostsOption;
import io.heddle.tools.job.PolicyName;
import io.heddle.tools.job.RunFolder;
import io.heddle.tools.job.SentByPlane;
import io.heddle.tools.job.SizesOption;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.PlaneFaults;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Command that runs an all-reduce on planes that the command sets up. */
@Command(
    name = "demo",
    description =
        "Runs a ring all-reduce over several planes on this machine, through the plugin, and checks"
            + " every byte.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    exitCodeList = {
      "0:All data was correct, and all ranks ended cleanly.",
      "1:Data was wrong, or a rank failed."
    })
public final class DemoCommand implements Callable<Integer> {
  private static final int LARGEST_WEIGHT = 1_000_000;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--ranks",
      paramLabel = "N",
      defaultValue = "2",
      description = "Number of ranks, each on a separate host (${DEFAULT-VALUE}).")
  private int ranks;

  @Option(
      names = "--planes",
      paramLabel = "N",
      defaultValue = "4",
      description = "Planes of every host (${DEFAULT-VALUE}).")
  private int planes;

  @Option(
      names = "--weights",
      split = ",",
      paramLabel = "W",
      description = "Weights, one whole number per plane, such as 4,2,1,1 (all equal).")
  private int @Nullable [] weights;

  @Option(
      names = "--policy",
      paramLabel = "POLICY",
      defaultValue = "spray",
      description = "Spray policy: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
  private PolicyName policy = PolicyName.SPRAY;

  @CommandLine.Mixin private final SizesOption sizes = new SizesOption();

  @Option(
      names = "--mtu",
      paramLabel = "BYTES",
      defaultValue = "9000",
      description = "MTU of the links, bytes (${DEFAULT-VALUE}).")
  private int mtu;

  @Option(
      names = "--timeout",
      defaultValue = "60",
      paramLabel = "SECONDS",
      description =
          "Time without a report after which the run counts as hung, seconds (${DEFAULT-VALUE}).")
  private int timeoutSeconds;

  @Option(
      names = "--until",
      paramLabel = "FILE",
      description =
          "Repeat the largest size until this file appears: a job for trials of heddle drain,"
              + " heddle stat or cuts.")
  private @Nullable Path until;

  @Option(
      names = "--kill-plane",
      paramLabel = "K@T[:RESTORE]",
      converter = KillPlaneOption.Converter.class,
      description =
          "Cut plane K of rank 0 T seconds after the first bytes, and restore it after RESTORE"
              + " seconds, while all-reduces of --max-bytes run. Shows throughput over time.")
  private @Nullable KillPlaneOption kill;

  @Option(
      names = "--plot",
      defaultValue = "heddle-kill-plane.svg",
      paramLabel = "FILE",
      description = "File for --kill-plane's plot of throughput over time (${DEFAULT-VALUE}).")
  private Path plot = Path.of("");

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final FabricOption fabric = new FabricOption();
  @CommandLine.Mixin private final WanOption wide = new WanOption();

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
    if (until != null) {
      checkUntilOption(until);
    }
    if (wide.wan) {
      return wide.run(Objects.requireNonNull(spec).commandLine().getOut(), json);
    }
    if (wide.whole) {
      throw usage("--whole requires --wan");
    }
    if (fabric.fabric) {
      sizes.setDefaults(
          Objects.requireNonNull(spec).commandLine().getParseResult(),
          FabricOption.MAX_BYTES,
          FabricOption.ITERATIONS);
    }
    LabPlan lab = checkedPlan();
    if (kill != null) {
      PlaneFaults.requirePrograms("--kill-plane cuts a plane");
    }
    Path pluginFile =
        Installation.require(
            plugin == null ? Installation.part(Installation.PLUGIN) : plugin, "the plugin");
    Path driverFile =
        Installation.require(
            driver == null ? Installation.part(Installation.ALL_REDUCE) : driver,
            "the program of the ranks");
    if (fabric.fabric) {
      return runOnFabric(pluginFile, driverFile);
    }
    Labs.Choice choice =
        kill == null ? hosts.choose() : hosts.chooseNamespaces("--kill-plane cuts a plane");
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    return run(choice, lab, pluginFile, driverFile);
  }

  private int runOnFabric(Path pluginFile, Path driverFile)
      throws IOException, InterruptedException {
    CommandLine line = Objects.requireNonNull(spec).commandLine();
    return FabricDemo.run(
            fabric.plan(line, ranks, mtu),
            fabric.changedRate,
            new FabricDemo.Programs(pluginFile, driverFile),
            sizes.within(timeoutSeconds),
            line.getOut(),
            json)
        ? 0
        : ExitCode.FAILED;
  }

  private LabPlan checkedPlan() {
    OptionRange range = new OptionRange(spec);
    range.require("--ranks", ranks, 2, LabPlan.MAX_RANKS);
    range.require("--planes", planes, 1, LabPlan.MAX_PLANES);
    range.require("--mtu", mtu, LabPlan.MIN_MTU_BYTES, LabPlan.MAX_MTU_BYTES);
    range.require("--timeout", timeoutSeconds, 1, 86_400);
    sizes.require(range);
    int[] given = weights();
    if (given.length != planes) {
      throw usage(
          "--weights names "
              + given.length
              + " weights for "
              + planes
              + " planes; give one per plane");
    }
    for (int weight : given) {
      range.require("--weights", weight, 0, LARGEST_WEIGHT);
    }
    if (Arrays.stream(given).allMatch(weight -> weight == 0)) {
      throw usage("--weights gives every plane the weight 0; at least one must be above 0");
    }
    if (kill != null) {
      range.require("--kill-plane's plane", kill.plane(), 1, planes);
      if (fabric.fabric) {
        throw usage("--kill-plane can't be combined with --fabric; use heddle lab cut there");
      }
    }
    return new LabPlan(ranks, planes, mtu);
  }

  private void checkUntilOption(Path file) {
    if (kill != null || fabric.fabric || wide.wan) {
      throw usage(
          "--until can't be combined with --kill-plane, --fabric or --wan, which end by"
              + " themselves");
    }
    if (Files.exists(file)) {
      throw usage("--until: " + file + " already exists, so the run would end at once; remove it");
    }
    Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent());
    if (!Files.isDirectory(folder)) {
      throw usage("--until: there is no folder " + folder + " for the file to appear in");
    }
  }

  private int[] weights() {
    if (weights != null) {
      return weights;
    }
    int[] equal = new int[planes];
    Arrays.fill(equal, 1);
    return equal;
  }

  private ParameterException usage(String sentence) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), sentence);
  }

  private int run(Labs.Choice choice, LabPlan labPlan, Path pluginFile, Path driverFile)
      throws IOException, InterruptedException {
    PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
    ProgressLine progress = ProgressLine.onStandardError();
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      Lab lab = cleanup.add(Labs.create(choice.kind(), labPlan));
      AllReducePlan plan =
          new AllReducePlan(
              driverFile,
              pluginFile,
              folder.path(),
              sizes.within(timeoutSeconds),
              1,
              environment(folder.path()),
              until == null
                  ? null
                  : new AllReducePlan.Watched(
                      until.toAbsolutePath(), AllReducePlan.Records.NOTHING));
      if (kill != null) {
        print(out, title(choice));
        boolean passed = false;
        try {
          passed = new KillPlaneDemo(lab, plan, kill, out, json, plot).run(cleanup);
        } finally {
          if (!passed) {
            folder.keep();
          }
        }
        return passed ? 0 : ExitCode.FAILED;
      }
      AllReduceRun run = cleanup.add(new AllReduceRun(lab, plan));
      print(out, title(choice));
      List<Long> before = lab.sentBytesByPlane();
      List<AllReduceResult> results = new ArrayList<>();
      String failure = null;
      try {
        run.run(
            result -> {
              progress.clear();
              if (results.isEmpty()) {
                print(out, AllReduceResult.HEAD.stripTrailing());
              }
              results.add(result);
              print(out, result.line());
            },
            () ->
                progress.update(() ->
                    "heddle demo: "
                        + results.size()
                        + " of "
                        + plan.sizes().count()
                        + " sizes done"));
      } catch (HeddleException failed) {
        failure = failed.getMessage();
        folder.keep();
      }
      progress.clear();
      List<Long> wire = PlaneShare.difference(before, lab.sentBytesByPlane());
      List<Long> counted = SentByPlane.read(folder.path(), planes);
      List<PlaneShare> shares = PlaneShare.of(weights(), counted, wire);
      return report(out, choice, run, results, shares, failure);
    }
  }

  private Map<String, String> environment(Path folder) {
    Map<String, String> environment = new LinkedHashMap<>();
    StringBuilder list = new StringBuilder();
    for (int weight : weights()) {
      list.append(list.isEmpty() ? "" : ",").append(weight);
    }
    environment.put("HEDDLE_WEIGHTS", list.toString());
    environment.put("HEDDLE_POLICY", policyName());
    environment.put("HEDDLE_STATS_DIR", folder.toString());
    return environment;
  }

  private String policyName() {
    return policy.toString();
  }

  private void print(PrintWriter out, String text) {
    if (!json) {
      out.println(text);
      out.flush();
    }
  }

  private String title(Labs.Choice choice) {
    return "# heddle demo: "
        + ranks
        + " ranks, "
        + planes
        + " planes, policy "
        + policyName()
        + ", weights "
        + Arrays.toString(weights())
        + "\n# hosts are "
        + choice.kind().text()
        + ": "
        + choice.reason();
  }

  private int report(
      PrintWriter out,
      Labs.Choice choice,
      AllReduceRun run,
      List<AllReduceResult> results,
      List<PlaneShare> shares,
      @Nullable String failure) {
    long wrong = run.wrong();
    for (AllReduceResult result : results) {
      wrong = Math.max(wrong, result.wrong());
    }
    boolean passed = failure == null && wrong == 0;
    if (json) {
      out.println(
          Json.of(
              new DemoReport(
                  choice.kind().text(),
                  choice.reason(),
                  ranks,
                  planes,
                  Arrays.stream(weights()).boxed().toList(),
                  policyName(),
                  run.net(),
                  results,
                  shares,
                  wrong,
                  passed,
                  failure)));
    } else {
      if (!results.isEmpty()) {
        out.println("#");
        out.println(PlaneShare.head());
        shares.forEach(share -> out.println(share.line()));
      }
      out.println(verdict(results.size(), wrong, failure));
    }
    out.flush();
    return passed ? 0 : ExitCode.FAILED;
  }

  private String verdict(int sizes, long wrong, @Nullable String failure) {
    if (failure != null) {
      return "FAILED: " + failure;
    }
    return wrong == 0
        ? "PASSED: "
            + sizes
            + (sizes == 1 ? " size over " : " sizes over ")
            + ranks
            + " ranks and "
            + planes
            + " planes, every byte right"
        : "FAILED: " + wrong + " wrong elements";
  }
}
