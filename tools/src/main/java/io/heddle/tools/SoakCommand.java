package io.heddle.tools;

import io.heddle.platform.HeddleException;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.Labs;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Many short runs on networks that are spoilt by the seed. */
@Command(
    name = "soak",
    description =
        "Sends random messages between two hosts while links are cut and restored, packets lost,"
            + " repeated, delayed, swapped and held back, addresses removed and processes stopped;"
            + " checks every byte, guards around the buffers, and buffers that were handed back.",
    mixinStandardHelpOptions = true,
    versionProvider = HeddleCommand.Version.class,
    sortOptions = false,
    footer = {
      "%nRun i has the seed S + i, and all that it does follows from that: a run that failed is"
          + " repeated with --runs 1 --seed and its seed.",
      "One plane at least is never cut, so every run must go on to its end: exit code 0 only if no"
          + " byte was wrong, nothing hung, nothing was left open, and no connection erred."
    })
final class SoakCommand implements Callable<Integer> {
  private static final long LONGEST_MINUTES = 60L * 24 * 30;

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description = "Begins runs for so long (1, where --runs isn't given either).")
  private @Nullable Long minutes;

  @Option(names = "--runs", paramLabel = "N", description = "How many runs at most.")
  private @Nullable Long runs;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of the first run (taken from the clock, and printed).")
  private @Nullable Long seed;

  @Option(names = "--verbose", description = "Print what each run does.")
  private boolean verbose;

  @CommandLine.Mixin private final HostsOption hosts = new HostsOption();

  @Option(names = "--json", description = "Print one JSON document instead of the table.")
  private boolean json;

  @Option(names = "--plugin", description = "Plugin to load (the one that the build made).")
  private @Nullable Path plugin;

  @Option(names = "--driver", hidden = true, description = "The rank's program.")
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
    ChaosRun.Programs programs =
        new ChaosRun.Programs(
            Installation.require(
                plugin == null ? Installation.part(Installation.PLUGIN) : plugin, "the plugin"),
            Installation.require(
                driver == null ? Installation.part(Installation.CHAOS) : driver,
                "the rank's program"));
    Labs.Choice choice = hosts.choose();
    if (choice.kind() == Lab.Kind.LOOPBACK) {
      throw new HeddleException(
          "a soak cuts planes, which needs network namespaces; " + choice.why());
    }
    if (hosts.mustEnter(choice)) {
      return HostsOption.runInside(choice, Objects.requireNonNull(spec).commandLine());
    }
    return soak(choice, programs) ? 0 : HeddleCommand.EXIT_FAILED;
  }

  private void requireAtLeastOne(String option, @Nullable Long value) {
    if (value != null && value < 1) {
      throw usage(option + " " + value + " is less than 1");
    }
  }

  private ParameterException usage(String sentence) {
    return new ParameterException(Objects.requireNonNull(spec).commandLine(), sentence);
  }

  private boolean soak(Labs.Choice choice, ChaosRun.Programs programs)
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
    say(out, "# heddle soak: seeds from " + first + ", hosts are " + choice.kind().text());
    try (Cleanup cleanup = new Cleanup()) {
      RunFolder folder = cleanup.add(new RunFolder());
      while (report.runs() < most && System.nanoTime() - endNs < 0) {
        ChaosPlan plan = ChaosPlan.of(first + report.runs());
        if (verbose) {
          say(out, "seed " + plan.seed() + ": " + plan.describe());
        }
        Path own = folder.path().resolve("seed-" + plan.seed());
        ChaosVerdict verdict = one(plan, choice.kind(), programs, own);
        report.add(plan, verdict);
        if (verdict.isGood()) {
          RunFolder.remove(own);
        } else {
          folder.keep();
          progress.clear();
          say(out, SoakReport.failure(plan, verdict, folder.path()));
        }
        progress.update(() -> "heddle soak: " + report.summary());
      }
    }
    progress.clear();
    out.println(json ? Json.of(report.document()) : report.table());
    out.flush();
    return report.passed();
  }

  private static ChaosVerdict one(
      ChaosPlan plan, Lab.Kind kind, ChaosRun.Programs programs, Path folder)
      throws IOException, InterruptedException {
    try (Cleanup cleanup = new Cleanup()) {
      return cleanup.add(new ChaosRun(plan, kind, programs, folder)).run();
    }
  }

  private void say(PrintWriter out, String text) {
    if (!json) {
      out.println(text);
      out.flush();
    }
  }
}
