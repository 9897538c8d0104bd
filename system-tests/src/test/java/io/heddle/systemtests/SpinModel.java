package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Model of a protocol, which SPIN searches exhaustively. */
final class SpinModel {
  private static final Pattern ERRORS = Pattern.compile("errors: ([0-9]+)");
  private static final Pattern STATES = Pattern.compile("([0-9.e+]+) states, stored");
  /*
   * Models and sizes that were found to be correct, so that each is searched once, not once for
   * each injected fault.
   */
  private static final Set<String> SOUND = ConcurrentHashMap.newKeySet();
  private static final int LEAST_STATES = 100_000;
  private static final long LIMIT_SECONDS = 300;
  private static final int MEMORY_MIB = 3_000;

  /**
   * Result of a search.
   *
   * @param first first violation, as SPIN prints it; empty if there is none
   */
  private record Verdict(int errors, String first, double states) {}

  /** Kind of search. */
  private enum Search {
    /** Search for violated assertions and for states without a successor. */
    STATES("-DSAFETY"),
    /** Search for runs that never end. */
    CYCLES("-DNP", "-l");

    private final String compiled;
    private final List<String> options;

    Search(String compiled, String... options) {
      this.compiled = compiled;
      this.options = List.of(options);
    }
  }

  private final Path folder;
  private final Path model;

  /**
   * Creates a model of the module transport-core.
   *
   * @param folder folder for SPIN's files
   * @param model name of a file of transport-core/src/model
   */
  SpinModel(Path folder, String model) {
    this(folder, "transport-core", model);
  }

  /**
   * Creates a model.
   *
   * @param folder folder for SPIN's files
   * @param module module that contains the model
   * @param model name of a file of the module's src/model
   */
  SpinModel(Path folder, String module, String model) {
    this.folder = folder;
    this.model = Path.of("..", module, "src", "model").resolve(model).toAbsolutePath().normalize();
    for (String program : List.of("spin", "cc")) {
      if (!isInstalled(program)) {
        Skip.because("the models of protocols need " + program + " (Debian: spin, gcc)");
      }
    }
  }

  private static boolean isInstalled(String program) {
    String path = System.getenv().getOrDefault("PATH", "/usr/bin:/bin");
    return Stream.of(path.split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder).resolve(program)));
  }

  /**
   * Asserts that no order of events violates an assertion or ends in an unintended state.
   *
   * @param definitions macro definitions of the model, such as {@code PLANES=3}
   */
  void assertSound(String definitions) throws IOException, InterruptedException {
    Verdict verdict = search(Search.STATES, definitions);
    System.out.println(model.getFileName() + " " + definitions + ": " + verdict);
    assertEquals(0, verdict.errors(), verdict.first());
    assertTrue(verdict.states() > LEAST_STATES, "a model in which nothing happens proves nothing");
  }

  /**
   * Asserts that no run is endless. Together with {@link #assertSound}, this shows that every run
   * ends in an intended state.
   */
  void assertEveryRunEnds(String definitions) throws IOException, InterruptedException {
    Verdict verdict = search(Search.CYCLES, definitions);
    assertEquals(0, verdict.errors(), verdict.first());
  }

  /**
   * Asserts that the model is correct at this size, and that SPIN finds the fault if the protocol
   * is broken.
   *
   * @param broken macro definitions without a value, which break the protocol
   * @param violated text of the assertion that the broken protocol violates
   */
  void assertFinds(String broken, String violated, String definitions)
      throws IOException, InterruptedException {
    if (SOUND.add(model + " " + definitions)) {
      Verdict sound = search(Search.STATES, definitions);
      assertEquals(0, sound.errors(), sound.first());
    }
    Verdict verdict = search(Search.STATES, definitions + " " + broken);
    assertEquals(1, verdict.errors(), broken);
    assertTrue(
        verdict.first().contains("assertion violated") && verdict.first().contains(violated),
        verdict.first());
  }

  private Verdict search(Search search, String definitions)
      throws IOException, InterruptedException {
    List<String> spin = new ArrayList<>(List.of("spin"));
    Stream.of(definitions.split(" ")).forEach(definition -> spin.add("-D" + definition));
    spin.addAll(List.of("-a", model.toString()));
    run("spin", spin);
    /* With more optimisation, compiling takes longer than most searches. */
    run(
        "cc",
        List.of(
            "cc",
            "-O1",
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
    /* If the search is incomplete, it is no proof that there is no violation. */
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
