package io.heddle.systemtests;

import io.heddle.cli.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Runs SPIN over a model of what happens when planes fail, exhaustively. */
final class FailoverModel {
  private static final Path MODELS = Path.of("../transport-core/src/model");
  private static final Pattern ERRORS = Pattern.compile("errors: ([0-9]+)");
  private static final Pattern STATES = Pattern.compile("([0-9.e+]+) states, stored");
  private static final long LIMIT_SECONDS = 300;
  private static final int MEMORY_MIB = 3_000;

  /**
   * What a search found.
   *
   * @param first the first violation, as SPIN puts it; empty for none
   */
  record Verdict(int errors, String first, double states) {}

  /** What is looked for. */
  enum Search {
    /** Violated assertions and states without successor. */
    STATES("-O2", "-DSAFETY"),
    /** The first of these, which is soon found: the compiler would take longer than the search. */
    FIRST_ERROR("-O0", "-DSAFETY"),
    /** Runs that never end. */
    CYCLES("-O2", "-DNP", "-l");

    private final String effort;
    private final String compiled;
    private final List<String> options;

    Search(String effort, String compiled, String... options) {
      this.effort = effort;
      this.compiled = compiled;
      this.options = List.of(options);
    }
  }

  private final Path folder;
  private final Path model;

  FailoverModel(Path folder) {
    this(folder, "failover.pml");
  }

  /**
   * @param model a file of transport-core/src/model
   */
  FailoverModel(Path folder, String model) {
    this.folder = folder;
    this.model = MODELS.resolve(model).toAbsolutePath().normalize();
    for (String program : List.of("spin", "cc")) {
      if (!isInstalled(program)) {
        Skip.because("the models of failover need " + program + " (Debian: spin, gcc)");
      }
    }
  }

  private static boolean isInstalled(String program) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
    return Stream.of(path.split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder).resolve(program)));
  }

  /**
   * @param definitions of the model, such as {@code PLANES=3}; one without a value breaks the
   *     protocol
   */
  Verdict search(Search search, String definitions) throws IOException, InterruptedException {
    List<String> spin = new ArrayList<>(List.of("spin"));
    Stream.of(definitions.split(" ")).forEach(definition -> spin.add("-D" + definition));
    spin.addAll(List.of("-a", model.toString()));
    run("spin", spin);
    run(
        "cc",
        List.of(
            "cc",
            search.effort,
            "-w",
            search.compiled,
            "-DNOREDUCE",
            "-DMEMLIM=" + MEMORY_MIB,
            "-o",
            "pan",
            "pan.c"));
    List<String> pan = new ArrayList<>(List.of("./pan", "-m1000000"));
    pan.addAll(search.options);
    return verdict(run("pan", pan));
  }

  private static Verdict verdict(String said) {
    Matcher errors = ERRORS.matcher(said);
    Matcher states = STATES.matcher(said);
    if (!errors.find() || !states.find() || said.contains("max search depth too small")) {
      throw new AssertionError("no verdict from SPIN:\n" + said);
    }
    int count = Integer.parseInt(errors.group(1));
    /* A search that was cut off without finding anything proves nothing. */
    if (count == 0 && said.contains("Search not completed")) {
      throw new AssertionError("SPIN didn't search everything:\n" + said);
    }
    String first =
        said.lines().filter(line -> line.startsWith("pan:1:")).findFirst().orElse("").strip();
    return new Verdict(count, first, Double.parseDouble(states.group(1)));
  }

  private String run(String name, List<String> command) throws IOException, InterruptedException {
    try (HostProcess process =
        HostProcess.start(inFolder(command), folder.resolve(name + ".log"), Map.of())) {
      int code = process.exitCode(LIMIT_SECONDS);
      String output = process.output();
      if (code != 0 && !name.equals("pan")) {
        throw new AssertionError(String.join(" ", command) + ": exit code " + code + "\n" + output);
      }
      return output;
    }
  }

  private List<String> inFolder(List<String> command) {
    List<String> whole =
        new ArrayList<>(List.of("sh", "-c", "cd \"$0\" && exec \"$@\"", folder.toString()));
    whole.addAll(command);
    return whole;
  }
}
