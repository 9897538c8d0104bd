package io.heddle.tools.bench.perf;

import io.heddle.cli.kit.Cleanup;
import io.heddle.cli.kit.Installation;
import io.heddle.cli.kit.ReportOption;
import io.heddle.platform.HeddleException;
import io.heddle.tools.job.RunFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Command that runs the JMH benchmarks in a separate JVM. */
@Command(
    name = "jmh",
    description =
        "Measures single steps by JMH, beside straightforward alternatives: the reorder window, the"
            + " choice of planes, a message from end to end. Includes bytes allocated per"
            + " operation.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = "%nArguments after -- are passed to JMH: heddle perf jmh -- -l lists the benchmarks.")
final class PerfJmhCommand implements Callable<Integer> {
  @Option(
      names = "--only",
      paramLabel = "NAME",
      defaultValue = "",
      description = "Run benchmarks whose name contains this text (all).")
  private String only = "";

  @Option(names = "--save", description = "Also write the results to perf-tests/results.")
  private boolean save;

  @Option(names = "--benchmarks", paramLabel = "FILE", hidden = true, description = "The jar.")
  private @Nullable Path benchmarks;

  @Parameters(paramLabel = "JMH", description = "Options for JMH, after --.")
  private List<String> more = List.of();

  @Override
  public Integer call() throws IOException, InterruptedException {
    Path jar =
        Installation.require(
            benchmarks == null ? Installation.part(Installation.BENCHMARKS) : benchmarks,
            "the benchmarks' jar");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-jar",
                jar.toString(),
                "-prof",
                "gc",
                "-foe",
                "true"));
    if (!only.isEmpty()) {
      command.add(".*" + java.util.regex.Pattern.quote(only) + ".*");
    }
    try (Cleanup cleanup = new Cleanup()) {
      Path results = cleanup.add(new RunFolder()).path().resolve("results.json");
      if (save) {
        command.addAll(List.of("-rf", "json", "-rff", results.toString()));
      }
      command.addAll(more);
      Process process = new ProcessBuilder(command).inheritIO().start();
      cleanup.add(process::destroy);
      int exitCode = process.waitFor();
      if (exitCode != 0 && !only.isEmpty()) {
        throw new HeddleException(
            "JMH failed (exit code %s): does a benchmark's name contain '%s'? heddle perf jmh -- -l"
                    .formatted(exitCode, only)
                + " lists them");
      }
      if (exitCode == 0 && save) {
        copyResults(results);
      }
      return exitCode;
    }
  }

  /*
   * Copies the results into perf-tests/results. JMH writes an empty file for a run without results,
   * which is an error.
   */
  private static void copyResults(Path results) throws IOException {
    if (!Files.exists(results) || Files.size(results) == 0) {
      throw new HeddleException("JMH measured nothing, so no results are saved");
    }
    Path folder = Files.createDirectories(Installation.results());
    Files.copy(
        results,
        folder.resolve("jmh-" + ReportOption.today() + ".json"),
        StandardCopyOption.REPLACE_EXISTING);
  }
}
