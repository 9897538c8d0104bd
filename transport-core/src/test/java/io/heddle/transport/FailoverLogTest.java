package io.heddle.transport;

import static io.heddle.transport.LoopbackFailoverTest.FOUR;
import static io.heddle.transport.LoopbackFailoverTest.QUICK;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.heddle.transport.device.TransportResult;
import io.heddle.transport.failover.PlaneState;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the exact log of a plane that fails and returns. */
class FailoverLogTest {
  private static final String FOUND = "the control channel now uses ";
  private static final Pattern FOUND_BY_OTHERS =
      Pattern.compile("and (\\d+) more connections? to this peer have a control channel again");

  /*
   * Log lines about a slow peer. On a busy machine an end may wait for the other end and probe it,
   * on one connection or on several.
   */
  private static final Pattern DOUBT =
      Pattern.compile(
          "reconnect addresses|control channel stays|kept their control channel|nothing"
              + " arrives|received nothing|is replaced: (?!the test has it so)|silent on all"
              + " planes|silence on all planes");

  private final long seed = System.nanoTime();
  private final LoopbackFabric fabric = new LoopbackFabric(seed);

  @TempDir Path folder;

  /*
   * Returns the log of one end as NCCL_DEBUG=INFO shows it, without parts that depend on the host
   * or the clock.
   */
  private static String logOf(Ends ends, String otherEnd) {
    return ends.log.stream()
        .filter(line -> !line.startsWith("TRACE") && line.contains(otherEnd))
        .filter(line -> !DOUBT.matcher(line).find())
        /* A busy machine may replace control channels, which doesn't concern planes. */
        .filter(line -> !line.contains("the control channel"))
        .map(line -> line.replaceAll("pid \\d+", "pid N").replaceAll("\\d+ ms", "N ms"))
        .map(line -> line.replaceAll("QP 0x[0-9a-f]+", "QP N"))
        /* Either end may detect the failure first. */
        .map(line -> line.replace("the other end: ", ""))
        .collect(Collectors.joining("\n", "", "\n"));
  }

  @Test
  void planeFailureAndReturnAreLoggedOncePerEndForAnyNumberOfConnections() {
    try (Ends ends = new Ends(fabric, folder, FOUR, FOUR, QUICK);
        Ends.Link first = ends.connect();
        Ends.Link second = ends.connect();
        Ends.Link third = ends.connect()) {
      List<Ends.Link> links = List.of(first, second, third);
      List<Traffic> traffic = links.stream().map(link -> new Traffic(ends, link, seed)).toList();
      traffic.forEach(each -> each.run(3));
      fabric.cut(Ends.gid("127.0.77.3"));
      driveUntil(
          traffic,
          "all have left the plane",
          () ->
              links.stream()
                  .allMatch(link ->
                      LoopbackFailoverTest.state(link.sending(), 2) != PlaneState.UP
                          && LoopbackFailoverTest.state(link.receiving(), 2) != PlaneState.UP));
      fabric.reconnect(Ends.gid("127.0.77.3"));
      driveUntil(
          traffic,
          "all are back",
          () -> links.stream().allMatch(link -> LoopbackFailoverTest.isUp(link, 2)));
      driveUntil(traffic, "it is logged", () -> countOf(ends, "back on") == 2);
      fabric.raise(
          AsyncEventListener.Kind.QUEUE_PAIR_FATAL,
          second.sending().pairs().subFlows()[1].pair.queuePair().number());
      driveUntil(traffic, "it is logged", () -> countOf(ends, "moving off") == 4);
      driveUntil(traffic, "it is back", () -> countOf(ends, "back on") == 4);
      traffic.forEach(Traffic::finish);
      String golden =
          """
          WARN OTHER pid N: moving off plane plane:3 (OWN3 to PEERS3): SILENCE: work request ended with RETRY_EXCEEDED (12)
          INFO OTHER pid N: back on plane plane:3 (OWN3 to PEERS3) after N ms, with 3 connections
          INFO device loopback0 reports QUEUE_PAIR_FATAL on QP N: OTHER pid N, plane plane:2
          WARN OTHER pid N: moving off plane plane:2 (OWN2 to PEERS2): device loopback0 reports QUEUE_PAIR_FATAL on QP N
          INFO OTHER pid N: back on plane plane:2 (OWN2 to PEERS2) after N ms
          """
              .replace("SILENCE", "silence, nothing was acknowledged within the retries");
      assertEquals(
          golden
              .replace("OTHER", "127.0.78.1")
              .replace("OWN", "127.0.77.")
              .replace("PEERS", "127.0.78."),
          logOf(ends, "127.0.78.1 pid"));
      assertEquals(
          golden
              .lines()
              .filter(line -> !line.startsWith("INFO device"))
              .collect(Collectors.joining("\n", "", "\n"))
              .replace("OTHER", "127.0.77.1")
              .replace("OWN", "127.0.78.")
              .replace("PEERS", "127.0.77."),
          logOf(ends, "127.0.77.1 pid"));
      for (String line : ends.log) {
        assertFalse(line.matches(".*(null|/\\[|[ (\\[]/\\d).*"), line);
      }
    }
  }

  private static void fail(Ends.Link link) {
    link.receiver().baton().spinUntilTaken();
    link.receiver().fail(TransportResult.REMOTE_ERROR, "it can't go on");
    link.receiver().baton().release();
  }

  @Test
  void eventOfAllConnectionsToAPeerIsLoggedOnceWithTheirNumber() {
    try (Ends ends = new Ends(fabric, folder, FOUR, FOUR, QUICK);
        Ends.Link first = ends.connect();
        Ends.Link second = ends.connect();
        Ends.Link third = ends.connect()) {
      List<Ends.Link> links = List.of(first, second, third);
      links.forEach(link -> Ends.session(link.sending()).renew("the test has it so"));
      Ends.await("control channels", () -> foundAgain(ends) >= links.size());
      long from = ends.memory(1000);
      /*
       * All connections must fail within two seconds: a later failure would be logged as a new
       * event.
       */
      links.forEach(FailoverLogTest::fail);
      for (Ends.Link link : links) {
        long handle = link.sender().registerMemory(from, 1000, 1);
        Ends.await("a failing send", () -> link.sender().isend(from, 1000, 1, handle) < 0);
        link.sender().deregisterMemory(handle);
      }
      Ends.await("the others", () -> countOf(ends, "more connections to this peer failed") == 2);
      assertEquals(
          """
          INFO OTHER pid N: the control channel is replaced: the test has it so
          INFO OTHER pid N: and 2 more connections to this peer replaced the control channel
          WARN sending connection with OTHER pid N over planes ALL failed: the other end failed: it can't go on
          INFO OTHER pid N: and 2 more connections to this peer failed
          """
              .replace("OTHER", "127.0.78.1"),
          allOf(ends, "127.0.78.1 pid"));
      assertEquals(
          """
          WARN receiving connection with OTHER pid N over planes ALL failed: it can't go on
          INFO OTHER pid N: and 2 more connections to this peer failed
          """
              .replace("OTHER", "127.0.77.1"),
          allOf(ends, "127.0.77.1 pid"));
    }
  }

  /*
   * Counts connections with a new control channel: those that logged it, and those that a later
   * line only counts.
   */
  private static int foundAgain(Ends ends) {
    int connections = 0;
    for (String line : ends.log) {
      Matcher others = FOUND_BY_OTHERS.matcher(line);
      if (others.find()) {
        connections += Integer.parseInt(others.group(1));
      } else if (!line.startsWith("TRACE") && line.contains(FOUND)) {
        connections++;
      }
    }
    return connections;
  }

  /*
   * Returns the log about the other end, without the lines that depend on which reconnect listener
   * answers first.
   */
  private static String allOf(Ends ends, String otherEnd) {
    return ends.log.stream()
        .filter(line -> !line.startsWith("TRACE") && line.contains(otherEnd))
        .filter(line -> !DOUBT.matcher(line).find())
        .filter(line -> !line.contains(FOUND) && !FOUND_BY_OTHERS.matcher(line).find())
        .map(line -> line.replaceAll("pid \\d+", "pid N"))
        .map(line -> line.replace("[plane:1, plane:2, plane:3, plane:4]", "ALL"))
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static long countOf(Ends ends, String what) {
    return ends.log.stream()
        .filter(line -> !line.startsWith("TRACE") && line.contains(what))
        .count();
  }

  private static void driveUntil(List<Traffic> traffic, String what, BooleanSupplier reached) {
    Ends.await(
        what,
        () -> {
          traffic.forEach(each -> each.drive(true));
          return reached.getAsBoolean();
        });
  }
}
