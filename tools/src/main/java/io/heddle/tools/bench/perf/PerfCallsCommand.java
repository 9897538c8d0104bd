package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.tools.bench.contest.Bound;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Figure;
import io.heddle.tools.job.HostsOption;
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
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Command that compares the plugin's calls with the same steps in C. The plugin runs on a device of
 * the stand-in for libibverbs, which completes each post at once, so that only the calls cost time.
 */
@Command(
    name = "calls",
    description =
        "Measures isend, irecv and test in ns, beside the same steps written in C, on a stand-in"
            + " for libibverbs whose posts complete at once. Also reports percentiles, pauses and"
            + " bytes allocated.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nJava runs twice: with both compilers, the default on four or more processors, and with"
            + " the first one alone, the default on fewer. Contestants alternate.")
final class PerfCallsCommand implements Callable<Integer> {
  /** Number of planes over which a message of eight chunks is sprayed. */
  private static final int PLANES = 8;

  private static final int MOST_WARM_UP_ROUNDS = 10;
  private static final int REQUESTS_OF_A_SWEEP = 32;

  /** Number of calls from C into Java for each message: isend, irecv and test. */
  private static final int CALLS_PER_MESSAGE = 3;

  private static final long TURN_MS = 1_000;

  /**
   * Length in ms of the turn of the contestant in C during the soak, in which every call is timed.
   * A Java contestant's turn is longer, since the percentiles of Java's calls need more messages.
   */
  private static final long SHORT_TURN_MS = 200;

  @CommandLine.Mixin private final RoundsOption rounds = new RoundsOption(21);

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description =
          "Time for which the calls of each Java contestant are timed for percentiles, seconds"
              + " (${DEFAULT-VALUE}).")
  private int seconds = 30;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();
  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    OptionRange range = options.range();
    int count = rounds.required(range);
    range.require("--seconds", seconds, 1, 86_400);
    Path driver = Installation.requirePart(Installation.CALL_COST, "the driver");
    Path own = Installation.requirePart(Installation.PLUGIN, "the plugin");
    Path reference = Installation.requirePart(Installation.VERBS_PLUGIN, "the plugin in C");
    Path library = Installation.requirePart(Installation.STANDIN, "the stand-in for libibverbs");
    Labs.Choice choice = hosts.chooseNamespaces("planes of verbs devices need interfaces");
    Contest contest =
        new Contest(
                "perf calls",
                "cost of calls on a device that completes at once",
                "%2$s: %1$s%3$s",
                count)
            .set("planes", PLANES)
            .set("soak_seconds", seconds);
    contest.remark(PerfVerbsCommand.TIMES_C);
    return options.run(
        hosts,
        choice,
        "calls",
        contest,
        into -> {
          try (Cleanup cleanup = new Cleanup()) {
            Lab lab = cleanup.add(Labs.create(choice.kind(), new LabPlan(1, PLANES, 9000)));
            Map<String, String> environment = environment(library);
            List<CallCostContestant> all = new ArrayList<>();
            all.add(
                cleanup.add(
                    new CallCostContestant(lab, "C", driver, reference, environment, null)));
            for (JavaCompilers each : List.of(JavaCompilers.BOTH, JavaCompilers.FIRST)) {
              String name = each == JavaCompilers.BOTH ? "Java" : "Java, first compiler";
              all.add(
                  cleanup.add(
                      new CallCostContestant(lab, name, driver, own, environment, each.option())));
            }
            measure(into, Math.min(MOST_WARM_UP_ROUNDS, 2 * count), all);
          }
        });
  }

  private static Map<String, String> environment(Path library) {
    Map<String, String> environment = new HashMap<>();
    environment.put("LD_LIBRARY_PATH", Objects.toString(library.getParent()));
    environment.put("STANDIN_INSTANT", "1");
    environment.put("STANDIN_DEVICES", "1");
    environment.put(
        "STANDIN_GIDS",
        IntStream.range(0, PLANES)
            .mapToObj(plane -> LabPlan.address(0, plane))
            .collect(Collectors.joining(",")));
    environment.put("HEDDLE_PROVIDER", "libibverbs");
    environment.put("VERBSREF_PLANES", Integer.toString(PLANES));
    return environment;
  }

  private void measure(Contest contest, int warmUp, List<CallCostContestant> all)
      throws IOException, InterruptedException {
    contest.awaitWarm(all);
    contest.measure(List.of(""), warmUp, all);
    PerfVerbsCommand.compareWithC(contest);
    /* Unmeasured soak, in which Java compiles the code of the timed loop. */
    for (CallCostContestant each : all) {
      each.soak(TURN_MS);
      each.beginSoaks();
    }
    for (int second = 1; second <= seconds; second++) {
      contest.show("second %s of %s".formatted(second, seconds));
      for (CallCostContestant each : all) {
        each.soak(each.isJava() ? TURN_MS : SHORT_TURN_MS);
      }
    }
    for (CallCostContestant each : all) {
      CallCostContestant.Soak soak = each.report(contest);
      if (each.isJava()) {
        addFigures(contest, each.name(), soak);
      }
    }
  }

  /** Adds the figures of a contestant in Java that have bounds. */
  static void addFigures(Contest contest, String name, CallCostContestant.Soak soak) {
    /* On hosts with fewer than four processors Java uses only its first compiler. */
    double timesC = name.equals("Java") ? 1.7 : 2.5;
    double message =
        contest.quantiles("message", name, "").least()
            / contest.quantiles("message", "C", "").least();
    most(contest, name + ": isend + irecv + test, times C", "", message, timesC);
    double sweep = contest.quantiles("test not ready of 32", name, "").least();
    double alone = contest.quantiles("test not ready", name, "").least();
    double asleep = (REQUESTS_OF_A_SWEEP * sweep - alone) / (REQUESTS_OF_A_SWEEP - 1);
    most(
        contest,
        name + ": test that isn't ready, once a sweep has looked, times an indirect call",
        "",
        asleep / contest.quantiles("indirect call", name, "").least(),
        2);
    double one = contest.quantiles("isend 1 chunk", name, "").nearest(0.25);
    most(contest, name + ": isend of one chunk, ns", "", one, 250);
    double eight = contest.quantiles("isend 8 chunks", name, "").nearest(0.25);
    most(contest, name + ": isend of eight chunks on eight planes, ns", "", eight, 600);
    most(contest, name + ": 99.99 % of calls within, us", "", soak.longestP9999Us(), 20);
    most(
        contest,
        name + ": longest pause of the Java machine, ms",
        "",
        soak.longestPauseUs() / 1e3,
        2);
    if (soak.allocatedBytes() != null) {
      most(contest, name + ": bytes allocated in the soaks", "", soak.allocatedBytes(), 0);
    }
    /*
     * The cost of entering Java is that of a test call that isn't ready, which returns at once,
     * minus an indirect call in C.
     */
    double entering =
        contest.quantiles("test not ready", name, "").median()
            - contest.quantiles("indirect call", name, "").median();
    double difference =
        contest.quantiles("message", name, "").median()
            - contest.quantiles("message", "C", "").median();
    contest.add(
        Figure.of(
            name + ": entering Java and returning, part of a message's difference to C",
            "",
            CALLS_PER_MESSAGE * entering / difference));
  }

  private static void most(Contest contest, String name, String unit, double found, double most) {
    contest.add(Figure.of(name, unit, found).within(Bound.atMost(most)));
  }
}
