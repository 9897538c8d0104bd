package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Test of a fabric's life cycle by {@code heddle lab}, each step in a separate process. */
@Execution(ExecutionMode.CONCURRENT)
@EndsWithin(400)
@SystemTest
final class LabCommandsTest {
  private static final int DATAGRAMS = 200;
  private static final int DATAGRAM_BYTES = 1_000;
  private static final long BURST = (long) DATAGRAMS * DATAGRAM_BYTES;
  private static final long LIMIT_SECONDS = 90;

  private final String name =
      "lc" + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);

  @TempDir private Path folder;

  @AfterEach
  void takeDown() {
    Fabric.downIfUp(name);
  }

  private HeddleRun.Result runLab(String... arguments) throws IOException, InterruptedException {
    List<String> line = new ArrayList<>(List.of("lab"));
    line.addAll(List.of(arguments));
    line.addAll(List.of("--name", name));
    return HeddleRun.run(line.toArray(String[]::new));
  }

  private void assertPrints(String expected, String... arguments) throws Exception {
    HeddleRun.Result said = runLab(arguments);
    assertEquals(0, said.exitCode(), said.text());
    assertTrue(said.text().contains(expected), said.text());
  }

  private JsonNode status() throws Exception {
    return new ObjectMapper().readTree(runLab("status", "--json").text());
  }

  @Test
  void maintainsSprayingSwitchesUntilLabIsTakenDown() throws Exception {
    Skip.unlessFabric(false);
    assertPrints(
        "switching: spray, ",
        "up",
        "--spines",
        "2",
        "--rates",
        "0.5",
        "--switching",
        "spray",
        "--spray-on",
        "l1:h1");
    JsonNode switching = status().path("switching");
    assertTrue(switching.path("watched").asBoolean(), switching.toString());
    assertEquals(List.of("s1", "s2", "s1", "s2"), switching.path("links").findValuesAsText("link"));
    ProcessHandle keeper =
        ProcessHandle.allProcesses()
            .filter(each -> commandLine(each).endsWith("/" + name + "/switching.json\0"))
            .findFirst()
            .orElseThrow();
    assertPrints("cut the carrier of l1:s2", "cut", "2");
    Deadline deadline = Deadline.ofSeconds(40);
    while (status().path("switching").path("links").path(1).path("alive").asBoolean()) {
      assertTrue(!deadline.isOver(), "no flow avoids the link");
    }
    assertPrints("is removed", "down");
    Deadline forItsEnd = Deadline.ofSeconds(10);
    while (keeper.isAlive()) {
      assertTrue(!forItsEnd.isOver(), "it ends with its lab");
    }
  }

  /* Returns a process's complete command line. ProcessHandle.Info has at most one page of it. */
  private static String commandLine(ProcessHandle process) {
    try {
      return Files.readString(Path.of("/proc", Long.toString(process.pid()), "cmdline"));
    } catch (IOException ended) {
      return "";
    }
  }

  @Test
  void everyLinkOfTwoPerSpineIsItsOwnPlane() throws Exception {
    Skip.unlessFabric(false);
    assertPrints(
        "up after", "up", "--spines", "2", "--links", "2", "--rates", "0.5,0.25", "--hold", "6");
    HeddleRun.Result whole = runLab("status");
    assertEquals(0, whole.exitCode(), whole.text());
    assertTrue(whole.text().endsWith("healthy\n"), whole.text());
    JsonNode before = status();
    assertEquals(
        List.of("spine s1a", "spine s1b", "spine s2a", "spine s2b"),
        before.path("planes").findValuesAsText("via"));
    assertEquals(0.25, before.path("planes").path(3).path("rate_gbps").asDouble());
    for (int plane = 1; plane <= 4; plane++) {
      send(before, plane);
    }
    JsonNode after = status();
    for (int plane = 1; plane <= 4; plane++) {
      long grown = received(after, plane) - received(before, plane);
      assertTrue(grown >= BURST && grown < BURST * 3 / 2, "plane " + plane + " took " + grown);
    }

    assertPrints("cut the carrier of l1:", "cut", "2", "--at", "l1");
    awaitHealth(false);
    JsonNode broken = status();
    assertEquals(0, broken.path("planes").path(1).path("own_paths").asInt());
    assertEquals(1, broken.path("planes").path(1).path("cuts").size());
    for (int other : new int[] {0, 2, 3}) {
      JsonNode plane = broken.path("planes").path(other);
      assertEquals(plane.path("paths").asInt(), plane.path("own_paths").asInt(), plane.toString());
    }
    send(broken, 2);
    JsonNode borrowed = status();
    assertTrue(received(borrowed, 2) - received(broken, 2) < BURST / 10, borrowed.toPrettyString());
    long elsewhere = 0;
    for (int other : new int[] {1, 3, 4}) {
      elsewhere += received(borrowed, other) - received(broken, other);
    }
    assertTrue(elsewhere >= BURST, borrowed.toPrettyString());

    assertPrints("restored plane 2", "restore", "2");
    awaitHealth(true);
    assertPrints("lab '" + name + "' is removed", "down");
    HeddleRun.Result again = runLab("status");
    assertNotEquals(0, again.exitCode());
    assertTrue(again.text().contains("no lab named '" + name + "'"), again.text());
    try (var processes = Files.list(Path.of("/var/run/netns"))) {
      assertTrue(processes.noneMatch(each -> each.toString().contains("heddle-" + name)));
    }
  }

  private void awaitHealth(boolean healthy) throws Exception {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    HeddleRun.Result said = runLab("status");
    while ((said.exitCode() == 0) != healthy) {
      assertTrue(!deadline.isOver(), said.text());
      said = runLab("status");
    }
    assertTrue(said.text().endsWith(healthy ? "\nhealthy\n" : "NOT HEALTHY\n"), said.text());
  }

  private static long received(JsonNode status, int plane) {
    return status.path("planes").path(plane - 1).path("received_bytes").asLong();
  }

  /*
   * Sends datagrams from the first host's address on a plane to the second host's. Nothing receives
   * them.
   */
  private void send(JsonNode status, int plane) throws Exception {
    JsonNode from = status.path("hosts").path(0);
    JsonNode to = status.path("hosts").path(1);
    String program =
        String.format(
            Locale.ROOT,
            """
            import socket
            s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            s.bind(('%s', 0))
            for i in range(%d):
                s.sendto(bytes(%d), ('%s', 9))
            """,
            from.path("addresses").path(plane - 1).asText(),
            DATAGRAMS,
            DATAGRAM_BYTES,
            to.path("addresses").path(plane - 1).asText());
    try (HostProcess sender =
        HostProcess.start(
            List.of(
                "ip", "netns", "exec", from.path("namespace").asText(), "python3", "-c", program),
            folder.resolve("sender"),
            Map.of())) {
      assertEquals(0, sender.exitCode(LIMIT_SECONDS), sender::outputOrWhyNot);
    }
  }
}
