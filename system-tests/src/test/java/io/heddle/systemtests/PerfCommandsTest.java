package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Lab;
import io.heddle.tools.lab.LabPlan;
import io.heddle.tools.lab.Labs;
import io.heddle.tools.lab.Skip;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of {@code heddle perf write_bw} and the other device tests, between two processes on two
 * hosts. The interfaces' counters verify the transferred bytes.
 */
@EndsWithin(120)
@SystemTest
final class PerfCommandsTest {
  private static final long LIMIT_SECONDS = 60;
  /*
   * Option for a longer timeout. The tests share their cores with other processes, so perftest's
   * default of half a second in total is too short.
   */
  private static final List<String> PATIENCE = List.of("-u", "20");

  @TempDir private Path folder;

  @BeforeEach
  void assumeNamespaces() {
    Skip.unless(Lab.Kind.NAMESPACES);
  }

  private HostProcess start(Lab lab, int rank, String arguments, String... host) throws Exception {
    List<String> words = new ArrayList<>(List.of("perf"));
    words.addAll(List.of(arguments.split(" ")));
    words.addAll(PATIENCE);
    words.addAll(List.of(host));
    return HostProcess.start(
        lab,
        rank,
        folder.resolve("rank" + rank + ".log"),
        Map.of("HEDDLE_PROVIDER", "soft"),
        HeddleRun.command(words.toArray(String[]::new)));
  }

  private HostProcess server(Lab lab, String arguments) throws Exception {
    HostProcess server = start(lab, 1, arguments);
    server.awaitOutput("Waiting for client to connect", LIMIT_SECONDS);
    return server;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "write_bw -n 1000",
        "send_bw -n 1000",
        "read_bw -n 200",
        "write_lat -n 500",
        "send_lat -n 500"
      })
  @WholeRunOnly(alwaysRunRows = {1, 5})
  void twoHostsMeasure(String test) throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000));
        HostProcess server = server(lab, test);
        HostProcess client = start(lab, 0, test, LabPlan.address(1, 0))) {
      assertEquals(0, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
      assertEquals(0, server.exitCode(LIMIT_SECONDS), server::outputOrWhyNot);
      String size = test.contains("lat") ? " 2 " : " 65536 ";
      assertTrue(client.output().contains("\n" + size), client.output());
      assertTrue(server.output().contains("\n" + size), server.output());
    }
  }

  @Test
  void everyPlaneCarriesItsShare() throws Exception {
    String test = "write_bw -n 300";
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 4, 9000));
        HostProcess server = server(lab, test)) {
      List<Long> before = lab.sentBytesByPlane();
      try (HostProcess client = start(lab, 0, test + " --planes all", LabPlan.address(1, 0))) {
        assertEquals(0, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
        assertEquals(0, server.exitCode(LIMIT_SECONDS), server::outputOrWhyNot);
        List<Long> after = lab.sentBytesByPlane();
        for (int plane = 0; plane < 4; plane++) {
          long carried = after.get(plane) - before.get(plane);
          assertTrue(carried > 300 * 65_536, "plane " + plane + " carried " + carried);
          assertTrue(carried < 2 * 300 * 65_536, "plane " + plane + " carried " + carried);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"write_bw -D 60", "send_bw -D 60", "write_lat -D 60", "send_lat -D 60"})
  @WholeRunOnly(alwaysRunRows = 3)
  void killedServerIsOneLineAtClient(String test) throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000));
        HostProcess server = server(lab, test);
        HostProcess client = start(lab, 0, test, LabPlan.address(1, 0))) {
      client.awaitOutput(" #bytes ", LIMIT_SECONDS);
      long wire = lab.sentBytesByPlane().getFirst();
      while (lab.sentBytesByPlane().getFirst() < wire + 100_000) {
        assertTrue(client.isAlive(), client.output());
      }
      server.kill();
      assertEquals(1, client.exitCode(LIMIT_SECONDS), client::outputOrWhyNot);
      List<String> complaint =
          client.output().lines().filter(line -> line.startsWith("heddle:")).toList();
      assertEquals(1, complaint.size(), client.output());
      assertTrue(complaint.getFirst().contains("disconnected in mid-test"), complaint.getFirst());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"write_bw -D 60", "send_bw -D 60"})
  @WholeRunOnly(alwaysRunRows = 1)
  void killedClientIsOneLineAtServer(String test) throws Exception {
    try (Lab lab = Labs.create(Lab.Kind.NAMESPACES, new LabPlan(2, 1, 9000));
        HostProcess server = server(lab, test);
        HostProcess client = start(lab, 0, test, LabPlan.address(1, 0))) {
      client.awaitOutput(" #bytes ", LIMIT_SECONDS);
      client.kill();
      assertEquals(1, server.exitCode(LIMIT_SECONDS), server::outputOrWhyNot);
      List<String> complaint =
          server.output().lines().filter(line -> line.startsWith("heddle:")).toList();
      assertEquals(1, complaint.size(), server.output());
      assertTrue(complaint.getFirst().contains("disconnected"), complaint.getFirst());
    }
  }
}
