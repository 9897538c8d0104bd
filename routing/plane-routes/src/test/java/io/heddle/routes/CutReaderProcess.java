package io.heddle.routes;

import io.heddle.platform.NanoClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reader in its own process, whose files are cut short while it reads. It continues with the next
 * file as long as it reads "next" from standard input.
 */
final class CutReaderProcess {
  private static final long WAIT_NS = 100_000;

  /*
   * Number of readings between two waits for a change. It is large, so that most cuts happen while
   * the process reads.
   */
  private static final int READINGS_A_WAIT = 64;

  private CutReaderProcess() {}

  /** Starts the process; {@code quick} means with the first JIT compiler (C1) only. */
  static Process start(Path path, boolean quick) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    if (quick) {
      command.add("-XX:TieredStopAtLevel=1");
    }
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-Xrs", // as in a job
            "-XX:+UseSerialGC",
            "-Xmx64m",
            "-cp",
            System.getProperty("java.class.path"),
            CutReaderProcess.class.getName(),
            path.toString()));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  public static void main(String[] arguments) throws IOException {
    RouteAnswer answer = new RouteAnswer();
    BufferedReader orders = new BufferedReader(new InputStreamReader(System.in));
    while ("next".equals(orders.readLine())) {
      try (RouteReader reader = open(Path.of(arguments[0]))) {
        System.out.println("open");
        System.out.println(readUntilCut(reader, answer));
      }
    }
  }

  private static RouteReader open(Path path) {
    while (true) {
      try {
        RouteReader reader = RouteReader.open(path, NanoClock.SYSTEM);
        if (reader != null) {
          return reader;
        }
      } catch (io.heddle.platform.HeddleException cutBefore) {
        Thread.onSpinWait();
      }
    }
  }

  private static String readUntilCut(RouteReader reader, RouteAnswer answer) {
    try {
      for (int readings = 1; ; readings++) {
        int wrong = reader.reading(() -> countWrong(reader, answer));
        if (wrong > 0) {
          return wrong + " wrong answers";
        }
        reader.liveness();
        reader.planes();
        if (readings % READINGS_A_WAIT == 0) {
          reader.awaitChange(reader.sequence(), WAIT_NS);
        }
      }
    } catch (RoutesTruncatedException truncated) {
      return truncated.getCause() == null ? "seen" : "fault";
    }
  }

  private static int countWrong(RouteReader reader, RouteAnswer answer) {
    int wrong = 0;
    for (int host = 0; host < PublisherProcess.HOSTS; host++) {
      boolean whole = reader.resolve(PublisherProcess.HIGH, host, answer);
      wrong += whole && answer.planes() == 1 && answer.bandwidthMbps(0) == host + 1 ? 0 : 1;
    }
    return wrong;
  }
}
