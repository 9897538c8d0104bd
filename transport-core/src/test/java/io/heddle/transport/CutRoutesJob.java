package io.heddle.transport;

import io.heddle.stats.StatsFile;
import io.heddle.stats.StatsReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Job in its own process, whose two ends send to each other until its standard input ends. Prints
 * their log and the number of messages.
 */
final class CutRoutesJob {
  static final int HOLD_MS = 1_500;
  private static final int MESSAGE_BYTES = 256 << 10;

  private CutRoutesJob() {}

  /** Starts the job with its own folder and a routes file. */
  static Process start(Path folder, Path routes) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED",
            "-Xrs",
            "-D" + Ends.FORK + "=" + Integer.getInteger(Ends.FORK, 1),
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            CutRoutesJob.class.getName(),
            folder.toString(),
            routes.toString())
        .redirectErrorStream(true)
        .start();
  }

  public static void main(String[] arguments) throws Exception {
    AtomicBoolean stop = new AtomicBoolean();
    Thread input = Thread.ofPlatform().daemon().start(() -> awaitEnd(stop));
    List<Integer> planes = List.of(1, 2);
    Map<String, String> settings =
        Map.of("HEDDLE_ROUTES", arguments[1], "HEDDLE_ROUTES_HOLD_MS", Integer.toString(HOLD_MS));
    try (Ends ends = new Ends(null, Path.of(arguments[0]), planes, planes, settings);
        Ends.Link link = ends.connect()) {
      int printed = 0;
      int messages = 0;
      while (!stop.get()) {
        ends.traffic(link, 4, MESSAGE_BYTES);
        messages += 4;
        for (; printed < ends.log.size(); printed++) {
          System.out.println(ends.log.get(printed));
        }
        System.out.println("messages " + messages + " " + ends.left.describe());
        System.out.println("weights by " + weightsBy(ends));
      }
    }
    input.join();
    System.out.println("ended well");
  }

  private static String weightsBy(Ends ends) {
    return StatsReader.read(ends.left.statsFile()).stream()
        .filter(row -> row.direction() == StatsFile.Direction.SEND)
        .filter(row -> !row.peer().startsWith("closed"))
        .map(row -> row.weightSource())
        .distinct()
        .toList()
        .toString();
  }

  private static void awaitEnd(AtomicBoolean stop) {
    try {
      while (System.in.read() >= 0) {
        Thread.onSpinWait();
      }
    } catch (IOException closed) {
      System.out.println("standard input: " + closed);
    }
    stop.set(true);
  }
}
