package io.heddle.systemtests;

import static io.heddle.systemtests.NeighbourHost.GOOD;
import static io.heddle.systemtests.NeighbourHost.byName;
import static io.heddle.systemtests.NeighbourHost.cpuSeconds;
import static io.heddle.systemtests.NeighbourHost.peer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.Shell;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the route daemon while clocks jump, with BGP sessions of the shortest hold time. */
@EndsWithin(180)
@Isolated("it reads the clock")
@SystemTest
final class DaemonClockTest {
  private static final Path FAKETIME =
      Path.of(
          System.getProperty("os.arch").equals("aarch64")
              ? "/usr/lib/aarch64-linux-gnu"
              : "/usr/lib/x86_64-linux-gnu",
          "faketime/libfaketimeMT.so.1");

  @TempDir private Path folder;
  private NeighbourHost host;

  /* Files that libfaketime leaves in /dev/shm if a signal ends its process. */
  private final List<String> memoryOfClocks = new ArrayList<>();

  @BeforeEach
  void build() throws Exception {
    host = new NeighbourHost(folder);
  }

  @AfterEach
  void takeDown() throws Exception {
    if (host != null) {
      host.close();
    }
    for (String each : memoryOfClocks) {
      Files.deleteIfExists(Path.of("/dev/shm", each));
    }
  }

  /*
   * Returns the CPU time that the daemon takes per second. It is measured over more than the hold
   * time of 3 s.
   */
  private static double loadOverAHoldTime(RouteDaemonProcess daemon) throws Exception {
    long upMs = byName(daemon.show("neighbours")).get("good").path("up_for_ms").asLong();
    double before = cpuSeconds(daemon);
    long beganNs = System.nanoTime();
    daemon.await(
        "a session that is 4 s older",
        each -> byName(each).get("good").path("up_for_ms").asLong() > upMs + 4_000,
        "neighbours");
    return (cpuSeconds(daemon) - before) / ((System.nanoTime() - beganNs) / 1e9);
  }

  @ParameterizedTest
  @ValueSource(strings = {"+700d", "-700d"})
  @WholeRunOnly(alwaysRunRows = 1)
  void wallClockStepKeepsSessionsAndRoutes(String step) throws Exception {
    if (!Files.exists(FAKETIME)) {
      Skip.because(FAKETIME + " isn't there: install libfaketime");
    }
    host.neighbour("good", GOOD);
    Path offset = Files.writeString(folder.resolve("offset"), "+0");
    String[] clock = {
      "env",
      "LD_PRELOAD=" + FAKETIME,
      "FAKETIME_TIMESTAMP_FILE=" + offset,
      "FAKETIME_NO_CACHE=1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1"
    };
    String config = "hold-time-s = 3\n" + peer("good", GOOD);
    try (RouteDaemonProcess daemon = host.daemon(config, clock)) {
      memoryOfClocks.add("faketime_shm_" + daemon.pid());
      memoryOfClocks.add("sem.faketime_sem_" + daemon.pid());
      daemon.awaitLog("weights are published");
      /* libfaketime itself costs time at every read of a clock. */
      double usual = loadOverAHoldTime(daemon);
      Files.writeString(offset, step);
      List<String> date = new ArrayList<>(List.of(clock));
      date.addAll(List.of("date", "+%s"));
      Process asked = new ProcessBuilder(date).start();
      long shown = Long.parseLong(new String(asked.getInputStream().readAllBytes()).strip());
      long jump = TimeUnit.SECONDS.toDays(Math.abs(shown - System.currentTimeMillis() / 1000));
      assertTrue(jump >= 699, "the clock was not stepped: " + shown);
      double stepped = loadOverAHoldTime(daemon);
      JsonNode good = byName(daemon.show("neighbours")).get("good");
      assertEquals("established", good.path("state").asText(), daemon.log());
      assertEquals(1, good.path("established").asLong(), daemon.log());
      assertEquals(40, good.path("routes").asInt());
      long upMs = good.path("up_for_ms").asLong();
      assertTrue(upMs >= 8_000 && upMs < 120_000, "up for " + upMs + " ms");
      assertTrue(stepped < 2 * usual + 0.2, stepped + " s of CPU a second, before " + usual);
    }
  }

  /* For a process that was stopped, or whose machine slept, all clocks jump. */
  @Test
  void daemonRecoversAtOnceFromClockJump() throws Exception {
    host.neighbour("good", GOOD);
    try (RouteDaemonProcess daemon = host.daemon("hold-time-s = 3\n" + peer("good", GOOD))) {
      daemon.awaitLog("weights are published");
      Shell.run(List.of("kill", "-STOP", Long.toString(daemon.pid())));
      /* This sleep waits for no event: the daemon stays stopped for more than two hold times. */
      TimeUnit.SECONDS.sleep(7);
      double before = cpuSeconds(daemon);
      Shell.run(List.of("kill", "-CONT", Long.toString(daemon.pid())));
      JsonNode again =
          daemon.await(
              "a session and its routes",
              each -> {
                JsonNode good = byName(each).get("good");
                return good != null
                    && good.path("state").asText().equals("established")
                    && good.path("routes").asInt() == 40
                    && good.path("up_for_ms").asLong() > 500;
              },
              "neighbours");
      assertTrue(byName(again).get("good").path("failed_attempts").asLong() <= 2, again.toString());
      assertTrue(cpuSeconds(daemon) - before < 3, "it spins");
      JsonNode reached = daemon.show("destination", "fd00:9:0:7::1");
      assertEquals(1.0, reached.path("planes").path(0).path("share").asDouble());
    }
  }
}
