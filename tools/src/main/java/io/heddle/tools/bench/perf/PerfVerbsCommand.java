package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.tools.bench.contest.Contest;
import io.heddle.tools.bench.contest.Contestant;
import io.heddle.tools.job.AnsweringProcess;
import io.heddle.tools.job.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
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

  static final String TIMES_C = "÷ C: of the fastest rounds, which nothing disturbed";

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

  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Number of rounds (${DEFAULT-VALUE}).")
  private int rounds = 31;

  @CommandLine.Mixin private final ContestOption options = new ContestOption();

  /** Process that runs one round of the cases per request. */
  private record Calling(String name, AnsweringProcess process) implements Contestant<String> {
    static Calling start(String name, List<String> command, Path library) throws IOException {
      RunFolder folder = new RunFolder();
      return new Calling(
          name,
          new AnsweringProcess(
              name,
              command,
              Map.of(
                  "LD_LIBRARY_PATH",
                  String.valueOf(library.getParent()),
                  "STANDIN_FABRIC",
                  folder.path().resolve("fabric").toString()),
              folder));
    }

    @Override
    public void measure(String step, Round round) throws InterruptedException {
      process.request(
          "round",
          line -> {
            String[] words = line.split(" ");
            round.add(words[0].replace('_', ' '), "", "ns", Double.parseDouble(words[1]));
          });
    }

    @Override
    public void close() throws IOException {
      process.close();
    }
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    options.range().require("--rounds", rounds, 1, 10_000);
    Path library = Installation.requirePart(Installation.STANDIN, "the stand-in for libibverbs");
    Path reference = Installation.requirePart(Installation.VERBS_COST, "the program in C");
    Contest contest =
        new Contest(
            "perf verbs", "ns per call on the stand-in for libibverbs", "%2$s: %1$s%3$s", rounds);
    contest.remark("empty poll: nothing is there; full poll: per completion, 16 a call");
    contest.remark(
        "single post, list post: per request of 8 B, 1 or 16 a call; post and poll: both for one");
    contest.remark(TIMES_C);
    return options.run(
        "verbs-cost",
        contest,
        into -> {
          try (Cleanup cleanup = new Cleanup()) {
            into.measure(
                List.of(""),
                WARM_UP_ROUNDS,
                List.of(
                    cleanup.add(Calling.start("C", List.of(reference.toString()), library)),
                    cleanup.add(Calling.start("Java", java(List.of()), library)),
                    cleanup.add(
                        Calling.start("Java, first compiler", java(FIRST_COMPILER), library))));
          }
          compareWithC(into);
        });
  }

  static void compareWithC(Contest contest) {
    contest.compare(Contest.Ratio.OF_FASTEST, "", "C", " ÷ C");
    contest.compare(Contest.Ratio.OF_ROUNDS, "", "C", " ÷ C of the same round");
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
