package io.heddle.cli.bench.perf;

import io.heddle.cli.job.AnsweringProcess;
import io.heddle.cli.job.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A process that measures the verbs cases once for each line that it is sent. */
final class VerbsCostContestant implements AutoCloseable {
  private final String name;
  private final AnsweringProcess process;
  private final Map<String, List<Double>> nanoseconds = new LinkedHashMap<>();

  /**
   * @param library the stand-in for libibverbs
   */
  VerbsCostContestant(String name, List<String> command, Path library) throws IOException {
    this.name = name;
    RunFolder folder = new RunFolder();
    Map<String, String> environment =
        Map.of(
            "LD_LIBRARY_PATH",
            String.valueOf(library.getParent()),
            "STANDIN_FABRIC",
            folder.path().resolve("fabric").toString());
    process = new AnsweringProcess(name, command, environment, folder);
  }

  String name() {
    return name;
  }

  /** By case, one figure a round that counted. */
  Map<String, List<Double>> nanoseconds() {
    return nanoseconds;
  }

  void round(boolean counts) throws InterruptedException {
    process.order(
        "round",
        line -> {
          String[] words = line.split(" ");
          if (counts) {
            nanoseconds
                .computeIfAbsent(words[0], unused -> new ArrayList<>())
                .add(Double.parseDouble(words[1]));
          }
        });
  }

  @Override
  public void close() throws IOException {
    process.close();
  }
}
