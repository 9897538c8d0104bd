package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Test of labs: hosts communicate over each plane and only over that plane. */
@EndsWithin(120)
final class LabTest {
  private static final int DATAGRAM_BYTES = 8_000;

  private static List<String> java(String mainClass, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass));
    command.addAll(List.of(arguments));
    return command;
  }

  private static Process echo(Lab lab, int rank, int peer) throws Exception {
    List<String> command =
        java(
            PlaneEcho.class.getName(),
            Integer.toString(rank),
            Integer.toString(peer),
            Integer.toString(lab.plan().planes()),
            Boolean.toString(lab.kind() == Lab.Kind.LOOPBACK),
            Integer.toString(DATAGRAM_BYTES));
    return new ProcessBuilder(lab.command(rank, command)).redirectErrorStream(true).start();
  }

  /**
   * Exchanges datagrams over each plane and returns the result. The main method calls it inside a
   * user namespace.
   */
  static String exchange(Lab.Kind kind, LabPlan plan) throws Exception {
    try (Lab lab = Labs.create(kind, plan)) {
      List<Long> before = lab.sentBytesByPlane();
      int last = plan.ranks() - 1;
      Process answering = echo(lab, last, 0);
      Process asking = echo(lab, 0, last);
      try {
        String said = new String(asking.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String failed =
            new String(answering.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (asking.waitFor() != 0 || answering.waitFor() != 0) {
          return "failed: " + said + failed;
        }
        StringBuilder facts = new StringBuilder(said);
        List<Long> after = lab.sentBytesByPlane();
        for (int plane = 0; plane < after.size(); plane++) {
          boolean carried = after.get(plane) - before.get(plane) >= 2 * DATAGRAM_BYTES;
          facts
              .append("plane ")
              .append(plane)
              .append(" carried both: ")
              .append(carried)
              .append('\n');
        }
        return facts.toString();
      } finally {
        asking.destroyForcibly();
        answering.destroyForcibly();
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    System.out.print(exchange(Lab.Kind.USER_NAMESPACE, new LabPlan(2, 2, 9000)));
  }

  private static String expected(int planes, boolean loopback, int rank) {
    StringBuilder facts = new StringBuilder();
    for (int plane = 0; plane < planes; plane++) {
      String address =
          loopback
              ? "/127.0." + (rank + 1) + "." + (plane + 1) + ":20009"
              : "/[fd00:1:1:"
                  + (plane + 1)
                  + ":0:ff:fe00:"
                  + Integer.toHexString((plane + 1) << 8 | rank + 1)
                  + "]:9";
      facts.append("plane ").append(plane).append(" 8000 from ").append(address).append('\n');
    }
    for (int plane = 0; plane < planes && !loopback; plane++) {
      facts.append("plane ").append(plane).append(" carried both: true\n");
    }
    return facts.toString();
  }

  @Test
  void twoHostsCommunicateOverEachVethPair() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    assertEquals(expected(4, false, 1), exchange(Lab.Kind.NAMESPACES, new LabPlan(2, 4, 9000)));
  }

  @Test
  void threeHostsCommunicateThroughABridgePerPlane() throws Exception {
    Skip.unless(Lab.Kind.NAMESPACES);
    assertEquals(expected(2, false, 2), exchange(Lab.Kind.NAMESPACES, new LabPlan(3, 2, 9000)));
  }

  @Test
  void unprivilegedUserHasHostsInAUserNamespace() throws Exception {
    Skip.unless(Lab.Kind.USER_NAMESPACE);
    Process process =
        new ProcessBuilder(Labs.userNamespaceCommand(java(LabTest.class.getName())))
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(Deadline.ofSeconds(30).awaitExit(process));
    assertEquals(expected(2, false, 1), output);
  }

  @Test
  void loopbackHostsCommunicateAndKnowTheirPlanes() throws Exception {
    assertEquals(expected(2, true, 1), exchange(Lab.Kind.LOOPBACK, new LabPlan(2, 2, 9000)));
    try (Lab lab = Labs.create(Lab.Kind.LOOPBACK, new LabPlan(2, 2, 9000))) {
      assertEquals("127.0.2.1=1,127.0.2.2=2", lab.environment(1).get("HEDDLE_PLANES"));
    }
  }

  @Test
  void invalidLabPlansAreRejected() {
    assertThrows(IllegalArgumentException.class, () -> new LabPlan(0, 1, 9000));
    assertThrows(IllegalArgumentException.class, () -> new LabPlan(2, 251, 9000));
    assertThrows(IllegalArgumentException.class, () -> new LabPlan(2, 1, 1279));
  }
}
