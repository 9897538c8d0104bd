package io.heddle.tools.bench.perf;

import io.heddle.tools.job.AnsweringProcess;
import io.heddle.tools.job.RunFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Contestant of {@code heddle perf verbs}: a process that runs one round of the verbs cases per
 * request.
 */
final class VerbsCostContestant implements AutoCloseable {
  private final String name;
  private final AnsweringProcess process;
  private final Map<String, List<Double>> nanoseconds = new LinkedHashMap<>();

  /**
   * Starts the process.
   *
   * @param library path of the stand-in for libibverbs
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

  /** Returns the times of each case in ns, one per counted round. */
  Map<String, List<Double>> nanoseconds() {
    return nanoseconds;
  }

  void round(boolean counts) throws InterruptedException {
    process.request(
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
