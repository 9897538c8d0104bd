package io.heddle.tools;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Runs the JMH benchmarks in a Java of their own. */
@Command(
    name = "jmh",
    description =
        "What single steps cost, by JMH: the reorder window, the choice of planes, a message from"
            + " end to end; beside what one would write instead, with bytes allocated per"
            + " operation.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footer = "%nWhat follows -- goes to JMH as it is: heddle perf jmh -- -l lists the benchmarks.")
final class PerfJmhCommand implements Callable<Integer> {
  @Option(
      names = "--only",
      paramLabel = "NAME",
      defaultValue = "",
      description = "Benchmarks whose name has this in it (all).")
  private String only = "";

  @Option(names = "--save", description = "Also write the results to perf-tests/results.")
  private boolean save;

  @Option(names = "--benchmarks", paramLabel = "FILE", hidden = true, description = "The jar.")
  private @Nullable Path benchmarks;

  @Parameters(paramLabel = "JMH", description = "Options for JMH, behind --.")
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
    if (save) {
      Path folder = Installation.results();
      Files.createDirectories(folder);
      String name = "jmh-" + LocalDate.now(ZoneOffset.UTC);
      command.addAll(List.of("-rf", "json", "-rff", folder.resolve(name + ".json").toString()));
    }
    command.addAll(more);
    try (Cleanup cleanup = new Cleanup()) {
      Process process = new ProcessBuilder(command).inheritIO().start();
      cleanup.add(process::destroy);
      return process.waitFor();
    }
  }
}
