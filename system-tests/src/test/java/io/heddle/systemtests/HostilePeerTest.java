package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that random packets and bytes at the plugin's ports have no effect, and that a killed peer
 * is reported as an error in time.
 */
@EndsWithin(180)
@SystemTest
final class HostilePeerTest {
  private static final int ROCE_PORT = 4791;
  private static final int LISTENING = 0x0a;

  /**
   * Time within which the loss of a peer must be reported: a queue pair's retries (7 of at most
   * 0.54 s each by default), with a margin for a busy machine.
   */
  private static final long PEER_LOSS_SECONDS = 30;

  @TempDir private Path folder;
  private final long seed = System.nanoTime() & Integer.MAX_VALUE;

  private HostProcess rank(Lab lab, int rank, String maxBytes, String iterations, String... more)
      throws IOException {
    List<String> command =
        new ArrayList<>(
            HostProcess.allReduce(
                folder,
                rank,
                2,
                "--max-bytes",
                maxBytes,
                "--iterations",
                iterations,
                "--timeout-seconds",
                "60"));
    command.addAll(List.of(more));
    return HostProcess.start(lab, rank, folder.resolve("rank" + rank + ".log"), Map.of(), command);
  }

  private static Lab lab() {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    Skip.unless(Lab.Kind.NAMESPACES);
    return Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 2, 9000));
  }

  private HostProcess hostile(Lab lab, String protocol, int port, int count) throws IOException {
    System.out.println("seed " + seed);
    return HostProcess.start(
        lab,
        1,
        folder.resolve("hostile-" + protocol + port + ".log"),
        Map.of(),
        HostProcess.java(
            HostileSender.class,
            protocol,
            LabPlan.address(0, 0),
            Integer.toString(port),
            Long.toString(seed),
            Integer.toString(count)));
  }

  private static void assertPassed(HostProcess process, String why)
      throws IOException, InterruptedException {
    assertEquals(0, process.exitCode(120), why + "\n" + process.output());
    assertTrue(process.output().contains("\"event\":\"end\""), process.output());
  }

  @Test
  void noiseAtTheRocePortDuringTrafficChangesNothing() throws IOException, InterruptedException {
    Path enough = folder.resolve("enough");
    try (Lab lab = lab();
        HostProcess first = rank(lab, 0, "1048576", "30", "--until", enough.toString());
        HostProcess second = rank(lab, 1, "1048576", "30", "--until", enough.toString())) {
      first.awaitOutput("\"event\":\"size\"", 60);
      try (HostProcess noise = hostile(lab, "udp", ROCE_PORT, 5_000)) {
        assertEquals(0, noise.exitCode(60), noise.output());
      }
      Files.createFile(enough);
      assertPassed(first, "seed " + seed);
      assertPassed(second, "seed " + seed);
    }
  }

  @Test
  void garbageAtControlPortIsRejectedAndPeerConnects() throws IOException, InterruptedException {
    try (Lab lab = lab();
        HostProcess first = rank(lab, 0, "65536", "3")) {
      int port = awaitListeningPort(first);
      try (HostProcess garbage = hostile(lab, "tcp", port, 200)) {
        assertEquals(0, garbage.exitCode(60), garbage.output());
      }
      assertTrue(first.isAlive(), first.output());
      try (HostProcess second = rank(lab, 1, "65536", "3")) {
        assertPassed(first, "seed " + seed);
        assertPassed(second, "seed " + seed);
      }
    }
  }

  @Test
  void killedPeerIsAnErrorWithinStatedTime() throws IOException, InterruptedException {
    try (Lab lab = lab();
        HostProcess first = rank(lab, 0, "4194304", "1000000");
        HostProcess second = rank(lab, 1, "4194304", "1000000")) {
      first.awaitOutput("\"event\":\"start\"", 60);
      second.awaitOutput("\"event\":\"start\"", 60);
      awaitTraffic(lab);
      assertTrue(first.isAlive() && second.isAlive(), first.output() + second.output());
      second.kill();
      int code = first.exitCode(PEER_LOSS_SECONDS);
      assertNotEquals(0, code, first.output());
      assertTrue(code < 128, "an error, not a crash: " + code + "\n" + first.output());
    }
  }

  /*
   * Waits until the kernel has counted 64 MiB, the size of sixteen messages. Then the ranks are in
   * the middle of the job.
   */
  private static void awaitTraffic(Lab lab) throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    while (lab.sentBytesByPlane().stream().mapToLong(Long::longValue).sum() < 64 << 20) {
      assertTrue(!deadline.isOver(), "64 MiB didn't cross the planes in a minute");
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  /*
   * Waits until the process's network namespace has a listening socket, and returns its port. In a
   * row of /proc/net/tcp6, the local address comes first and the state is the fourth column.
   */
  private static int awaitListeningPort(HostProcess process)
      throws IOException, InterruptedException {
    Deadline deadline = Deadline.ofSeconds(60);
    while (!deadline.isOver() && process.isAlive()) {
      Optional<Integer> port =
          Files.readAllLines(Path.of("/proc/" + process.pid() + "/net/tcp6")).stream()
              .skip(1)
              .map(line -> line.strip().split("\\s+"))
              .filter(columns -> Integer.parseInt(columns[3], 16) == LISTENING)
              .map(columns ->
                  Integer.parseInt(columns[1].substring(columns[1].indexOf(':') + 1), 16))
              .findFirst();
      if (port.isPresent()) {
        return port.get();
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
    throw new AssertionError("it listens at no port of IPv6; it said:\n" + process.output());
  }
}
