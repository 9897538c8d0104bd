package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.OptionRange;
import io.heddle.cli.kit.ProgressLine;
import io.heddle.cli.kit.ReportOption;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Command that compares the cost of the verbs API from Java with its cost from C. */
@Command(
    name = "verbs",
    description =
        "Measures posting and polling from Java through the libibverbs provider, beside the same"
            + " calls from C, on a stand-in for libibverbs.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer =
        "%nJava runs twice: with both compilers, the default on four or more processors, and with"
            + " the first one alone, the default on fewer. Contestants alternate.")
final class PerfVerbsCommand implements Callable<Integer> {
  /** Number of rounds before the measured ones, in which Java compiles. */
  private static final int WARM_UP_ROUNDS = 12;

  /** JVM options of the plugin that affect the cost of calls. */
  static final List<String> MACHINE =
      List.of(
          "-XX:+UseSerialGC",
          "-Xmn12m",
          "-Xmx256m",
          "--enable-native-access=ALL-UNNAMED",
          "-XX:+UseSystemMemoryBarrier");

  /** JVM options that the plugin adds on fewer than four processors. */
  static final List<String> FIRST_COMPILER =
      List.of(
          "-XX:TieredStopAtLevel=1",
          "-XX:CompileCommand=quiet",
          "-XX:CompileCommand=inline,jdk.internal.foreign.abi.SharedUtils::checkNative",
          "-XX:CompileCommand=inline,jdk.internal.foreign.AbstractMemorySegmentImpl::equals",
          "-XX:CompileCommand=inline,jdk.internal.misc.Unsafe::convEndian",
          "-XX:C1MaxInlineLevel=20");

  @CommandLine.Spec private CommandLine.Model.@Nullable CommandSpec spec;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "31",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds;

  @CommandLine.Mixin private final ReportOption form = new ReportOption();

  @Override
  public Integer call() throws IOException, InterruptedException {
    new OptionRange(spec).require("--rounds", rounds, 1, 10_000);
    Path library = Installation.requirePart(Installation.STANDIN, "the stand-in for libibverbs");
    Path reference = Installation.requirePart(Installation.VERBS_COST, "the program in C");
    ProgressLine progress = ProgressLine.onStandardError();
    VerbsCostReport report;
    try (Cleanup cleanup = new Cleanup()) {
      VerbsCostContestant c =
          cleanup.add(new VerbsCostContestant("C", List.of(reference.toString()), library));
      List<VerbsCostContestant> java =
          List.of(
              cleanup.add(new VerbsCostContestant("Java", java(List.of()), library)),
              cleanup.add(
                  new VerbsCostContestant("Java, first compiler", java(FIRST_COMPILER), library)));
      for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
        int now = Math.max(round + 1, 0);
        progress.update(() -> "heddle perf verbs: round %s of %s".formatted(now, rounds));
        c.round(round >= 0);
        for (VerbsCostContestant each : java) {
          each.round(round >= 0);
        }
      }
      report = VerbsCostReport.of(AllReduceReport.processorCount(), rounds, c, java);
    }
    progress.clear();
    form.publish(spec, "verbs-cost-" + ReportOption.today(), report.table(), report);
    return 0;
  }

  private static List<String> java(List<String> compilers) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(MACHINE);
    command.addAll(compilers);
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(VerbsCost.class.getName());
    return command;
  }
}
