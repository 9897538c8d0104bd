package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.cli.lab.Lab;
import io.heddle.cli.lab.Skip;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.InWholeRun;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the route daemon does with neighbours, disks and clocks that misbehave. */
@EndsWithin(180)
@Isolated("it reads the clock")
final class BadNeighboursTest {
  private static final String NAME = "hdbn" + ProcessHandle.current().pid();
  private static final int TICKS_PER_SECOND = 100;
  private static final Path FAKETIME =
      Path.of(
          System.getProperty("os.arch").equals("aarch64")
              ? "/usr/lib/aarch64-linux-gnu"
              : "/usr/lib/x86_64-linux-gnu",
          "faketime/libfaketimeMT.so.1");
  private static final String GOOD = "fd00:ff::1";

  @TempDir private Path folder;

  private final List<Process> neighbours = new ArrayList<>();

  /* What libfaketime leaves behind in /dev/shm when its process is ended by a signal. */
  private final List<String> memoryOfClocks = new ArrayList<>();

  @BeforeEach
  void build() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    run("ip", "netns", "add", NAME);
    run("ip", "-n", NAME, "link", "set", "lo", "up");
    for (int i = 1; i <= 5; i++) {
      run("ip", "-n", NAME, "addr", "add", "fd00:ff::" + i + "/128", "dev", "lo", "nodad");
    }
    /* What is sent there vanishes. */
    run("ip", "-n", NAME, "link", "add", "d0", "type", "veth", "peer", "name", "d1");
    run("ip", "-n", NAME, "addr", "add", "fd00:dd::1/64", "dev", "d0", "nodad");
    run("ip", "-n", NAME, "link", "set", "d0", "up");
    run("ip", "-n", NAME, "link", "set", "d1", "up");
    String nobody = "02:00:00:00:00:99";
    run("ip", "-n", NAME, "neigh", "add", "fd00:dd::2", "lladdr", nobody, "dev", "d0");
    try (InputStream script = BadNeighboursTest.class.getResourceAsStream("neighbour.py")) {
      Files.copy(script, folder.resolve("neighbour.py"));
    }
  }

  @AfterEach
  void takeDown() throws Exception {
    for (Process neighbour : neighbours) {
      neighbour.destroyForcibly().waitFor();
    }
    if (Files.exists(Path.of("/run/netns", NAME))) {
      run("ip", "netns", "del", NAME);
    }
    for (String each : memoryOfClocks) {
      Files.deleteIfExists(Path.of("/dev/shm", each));
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), said);
  }

  private static List<String> inside(List<String> command) {
    List<String> whole = new ArrayList<>(List.of("ip", "netns", "exec", NAME));
    whole.addAll(command);
    return whole;
  }

  private void neighbour(String role, String address) throws IOException {
    List<String> command =
        List.of("python3", folder.resolve("neighbour.py").toString(), role, address, folder + "");
    neighbours.add(
        new ProcessBuilder(inside(command))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(role + ".log").toFile())
            .start());
  }

  private static String peer(String name, String address) {
    return "[peer %1$s]\naddress = %2$s\nport = 1790\nas = 65002\nplane = %1$s\n"
        .formatted(name, address);
  }

  private RouteDaemonProcess daemon(String more, String... before) throws IOException {
    List<String> wrapper = new ArrayList<>(List.of("ip", "netns", "exec", NAME));
    wrapper.addAll(List.of(before));
    return RouteDaemonProcess.start(
        wrapper, folder.resolve("d"), "as = 65001\nannounce = no\nlisten-port = 0\n" + more);
  }

  private static double cpuSeconds(RouteDaemonProcess daemon) throws IOException {
    String stat = Files.readString(Path.of("/proc", Long.toString(daemon.pid()), "stat"));
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
    return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) / (double) TICKS_PER_SECOND;
  }

  /* CPU seconds a second, until the daemon says that the session is older by more than its hold time of 3 s. */
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

  private static Map<String, JsonNode> byName(JsonNode daemon) {
    Map<String, JsonNode> found = new TreeMap<>();
    daemon.path("neighbours").forEach(each -> found.put(each.path("name").asText(), each));
    return found;
  }

  @Test
  void eachBadPeerIsNamedTheGoodOnesPlaneIsPublishedAndNothingSpins() throws Exception {
    neighbour("good", GOOD);
    neighbour("wrong-as", "fd00:ff::2");
    neighbour("silent", "fd00:ff::3");
    neighbour("garbage", "fd00:ff::4");
    String peers =
        peer("good", GOOD)
            + peer("wrong-as", "fd00:ff::2")
            + peer("silent", "fd00:ff::3")
            + peer("garbage", "fd00:ff::4")
            + peer("refusing", "fd00:ff::5")
            + peer("vanishing", "fd00:dd::2");
    try (RouteDaemonProcess daemon = daemon("publish-after-ms = 2000\n" + peers)) {
      daemon.awaitLog("weights are published");
      double before = cpuSeconds(daemon);
      long beganNs = System.nanoTime();
      Map<String, String> why =
          Map.of(
              "wrong-as",
              "the peer is in AS 70999, configured is AS 65002",
              "silent",
              "the peer sent no OPEN within 10000 ms",
              "garbage",
              "byte 0 of the marker is 0x48",
              "refusing",
              "can't connect: ECONNREFUSED",
              "vanishing",
              "can't connect: ETIMEDOUT");
      JsonNode all =
          daemon.await(
              "every reason",
              each -> {
                Map<String, JsonNode> peer = byName(each);
                return why.entrySet().stream()
                    .allMatch(one ->
                        peer.get(one.getKey()).path("last_end").asText().contains(one.getValue()));
              },
              "neighbours");
      double seconds = (System.nanoTime() - beganNs) / 1e9;
      double used = cpuSeconds(daemon) - before;
      for (String bad : why.keySet()) {
        JsonNode peer = byName(all).get(bad);
        long attempts = peer.path("failed_attempts").asLong();
        assertTrue(attempts <= 2 + seconds, bad + " was tried " + attempts + " times");
        assertTrue(daemon.log().contains("peer " + bad + ": no session: "), daemon.log());
      }
      JsonNode idle =
          daemon.await(
              "the wait of a peer that made an error",
              each -> byName(each).get("garbage").path("idle_until").isTextual(),
              "neighbours");
      Instant until = Instant.parse(byName(idle).get("garbage").path("idle_until").asText());
      assertTrue(until.isAfter(Instant.now().minusSeconds(60)), until.toString());
      assertTrue(byName(idle).get("good").path("idle_until").isNull());
      assertTrue(byName(idle).get("refusing").path("idle_until").isNull());
      assertTrue(daemon.text("neighbours").contains(" are turned away until "));
      JsonNode good = byName(all).get("good");
      assertEquals("established", good.path("state").asText());
      assertEquals(1, good.path("established").asLong());
      JsonNode reached = daemon.show("destination", "fd00:9:0:7::1");
      assertEquals(1.0, reached.path("planes").path(0).path("share").asDouble());
      String refusal = daemon.refusal("routes", "--peer", GOOD);
      assertTrue(refusal.contains("no peer is named " + GOOD + " but "), refusal);
      assertTrue(used < 0.25 * seconds + 1, used + " s of CPU in " + seconds + " s");
    }
  }

  @Test
  void aFullDiskIsNamedAndEverythingIsPublishedOnceThereIsRoom() throws Exception {
    neighbour("good", GOOD);
    Path small = Files.createDirectory(folder.resolve("small"));
    /* ip netns exec gives the daemon mounts of its own: this one goes with it. */
    String mount = "mount -t tmpfs -o size=192k none " + small + " && exec \"$@\"";
    try (RouteDaemonProcess daemon =
        daemon("publish = " + small + "/routes\n" + peer("good", GOOD), "sh", "-c", mount, "sh")) {
      daemon.awaitLog("weights are published");
      Files.writeString(folder.resolve("more"), "3000");
      daemon.awaitLog("routes aren't published any more, readers keep what they have");
      assertTrue(
          daemon.log().contains(small + "/routes.new needs ") && daemon.log().contains("make room"),
          daemon.log());
      JsonNode status =
          daemon.await(
              "all routes from the peer",
              each -> byName(each).get("good").path("routes").asInt() == 3000,
              "neighbours");
      assertTrue(status.path("incomplete").asBoolean(), status.toPrettyString());
      JsonNode kept = daemon.show("destination", "fd00:9:0:7::1");
      assertEquals(1.0, kept.path("planes").path(0).path("share").asDouble());
      long tries = daemon.log().lines().filter(each -> each.contains("any more")).count();
      run(
          "nsenter",
          "-t",
          Long.toString(daemon.pid()),
          "-m",
          "mount",
          "-o",
          "remount,size=4m",
          small.toString());
      daemon.awaitLog("routes are published again, 3000 prefixes");
      assertTrue(tries < 4, "told " + tries + " times");
      assertFalse(daemon.show("neighbours").path("incomplete").asBoolean());
    }
  }

  @Test
  void aDiskWithoutRoomForTheFirstFileIsRefusedWithItsName() throws Exception {
    Path small = Files.createDirectory(folder.resolve("small"));
    String mount = "mount -t tmpfs -o size=16k none " + small + " && exec \"$@\"";
    try (RouteDaemonProcess daemon =
        daemon("publish = " + small + "/routes\n" + peer("good", GOOD), "sh", "-c", mount, "sh")) {
      assertEquals(1, daemon.exitCode());
      assertTrue(
          daemon.log().contains(small + "/routes.new needs ")
              && daemon.log().contains("\"publish\" in the daemon's configuration"),
          daemon.log());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"+700d", "-700d"})
  @InWholeRun(butRows = 1)
  void aStepOfTheWallClockCostsNoSessionAndNoRoute(String step) throws Exception {
    if (!Files.exists(FAKETIME)) {
      Skip.because(FAKETIME + " isn't there: install libfaketime");
    }
    neighbour("good", GOOD);
    Path offset = Files.writeString(folder.resolve("offset"), "+0");
    String[] clock = {
      "env",
      "LD_PRELOAD=" + FAKETIME,
      "FAKETIME_TIMESTAMP_FILE=" + offset,
      "FAKETIME_NO_CACHE=1",
      "FAKETIME_DONT_FAKE_MONOTONIC=1"
    };
    String config = "hold-time-s = 3\n" + peer("good", GOOD);
    try (RouteDaemonProcess daemon = daemon(config, clock)) {
      memoryOfClocks.add("faketime_shm_" + daemon.pid());
      memoryOfClocks.add("sem.faketime_sem_" + daemon.pid());
      daemon.awaitLog("weights are published");
      /* The library itself costs time, at every look at a clock. */
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

  /* To a process that was stopped, or whose machine slept, every clock has jumped. */
  @Test
  void aDaemonWhoseClocksJumpIsWellAgainAtOnce() throws Exception {
    neighbour("good", GOOD);
    try (RouteDaemonProcess daemon = daemon("hold-time-s = 3\n" + peer("good", GOOD))) {
      daemon.awaitLog("weights are published");
      run("kill", "-STOP", Long.toString(daemon.pid()));
      TimeUnit.SECONDS.sleep(7);
      double before = cpuSeconds(daemon);
      run("kill", "-CONT", Long.toString(daemon.pid()));
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
