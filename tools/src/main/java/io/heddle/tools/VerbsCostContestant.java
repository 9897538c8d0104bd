package io.heddle.tools;

import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A process that measures the verbs cases once for each line that it is sent. */
final class VerbsCostContestant implements AutoCloseable {
  private static final long ANSWER_SECONDS = 60;

  private final String name;
  private final RunFolder folder;
  private final RankProcess process;
  private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
  private final Map<String, List<Double>> nanoseconds = new LinkedHashMap<>();

  /**
   * @param library the stand-in for libibverbs
   */
  VerbsCostContestant(String name, List<String> command, Path library) throws IOException {
    this.name = name;
    folder = new RunFolder();
    Map<String, String> environment = new HashMap<>();
    environment.put("LD_LIBRARY_PATH", String.valueOf(library.getParent()));
    environment.put("STANDIN_FABRIC", folder.path().resolve("fabric").toString());
    process =
        RankProcess.start(0, command, environment, folder.path().resolve("log"), answers::add);
  }

  String name() {
    return name;
  }

  /** By case, one figure a round that counted. */
  Map<String, List<Double>> nanoseconds() {
    return nanoseconds;
  }

  void round(boolean counts) throws InterruptedException {
    try {
      process.say("round");
    } catch (IOException ended) {
      throw failure("takes no more input");
    }
    for (String line = next(); !line.equals("end"); line = next()) {
      String[] words = line.split(" ");
      if (counts) {
        nanoseconds
            .computeIfAbsent(words[0], unused -> new ArrayList<>())
            .add(Double.parseDouble(words[1]));
      }
    }
  }

  private String next() throws InterruptedException {
    for (long tenths = 0; tenths < ANSWER_SECONDS * 10; tenths++) {
      String line = answers.poll(100, TimeUnit.MILLISECONDS);
      if (line != null) {
        return line;
      }
      if (!process.isAlive() && answers.isEmpty()) {
        throw failure("ended: " + RankProcess.describeExit(process.exitCode()));
      }
    }
    throw failure("said nothing for " + ANSWER_SECONDS + " s");
  }

  private HeddleException failure(String what) {
    folder.keep();
    return new HeddleException(
        "%s %s; its last log lines (all in %s):%n    %s"
            .formatted(name, what, folder.path(), String.join("\n    ", process.lastLines())));
  }

  @Override
  public void close() throws IOException {
    process.close();
    folder.close();
  }
}
