package io.heddle.routes;

import io.heddle.platform.HeddleException;
import io.heddle.platform.NanoClock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Publisher in its own process, for tests that kill it. In each change it sets all cells of all
 * {@link #HOSTS} hosts to the same figure.
 */
final class PublisherProcess {
  static final int HOSTS = 1_000;
  static final int PLANES = 4;
  static final int DIED = 9;
  static final long HIGH = 0xfd00_00aa_0000_0000L;

  /* Pause between two changes, so that readers make progress on a busy machine. */
  private static final long PAUSE_NS = 50_000;

  private PublisherProcess() {}

  /**
   * Starts the process.
   *
   * @param lastFigure figure of the change in whose middle the process ends itself; 0 for no end
   * @param before command that starts the process in a prepared environment; empty for none
   */
  static Process start(Path path, int lastFigure, String... before) throws IOException {
    List<String> command = new ArrayList<>(Arrays.asList(before));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xmx64m",
            "-cp",
            System.getProperty("java.class.path"),
            PublisherProcess.class.getName(),
            path.toString(),
            Integer.toString(lastFigure)));
    return new ProcessBuilder(command).redirectErrorStream(true).start();
  }

  public static void main(String[] arguments) {
    int lastFigure = Integer.parseInt(arguments[1]);
    try (RoutePublisher publisher =
        RoutePublisher.create(
            Path.of(arguments[0]), "a victim", WeightRules.DEFAULT, 100, NanoClock.SYSTEM)) {
      for (int plane = 0; plane < PLANES; plane++) {
        publisher.setPlane(new PublishedPlane("plane:" + plane, null, 0, ""));
      }
      for (int figure = 1; ; figure++) {
        publisher.begin();
        for (int host = 0; host < HOSTS; host++) {
          if (figure == lastFigure && host == HOSTS / 2) {
            Runtime.getRuntime().halt(DIED);
          }
          for (int plane = 0; plane < PLANES; plane++) {
            int cell = RouteCell.of(WeightReason.PATH_BANDWIDTH, 1 + figure % 1_000_000);
            publisher.set(HIGH, host, 128, plane, cell);
          }
        }
        publisher.commit();
        publisher.heartbeat();
        publisher.goLive();
        LockSupport.parkNanos(PAUSE_NS);
        if (figure == 1) {
          System.out.println("live");
        }
      }
    } catch (HeddleException failure) {
      System.out.println(failure.getMessage());
      System.exit(1);
    }
  }
}
