package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NanoClock;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteReader;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.Skip;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Test in which a link between a leaf and a spine drops all packets. BFD detects this, so the
 * weights on a host change long before BGP's hold time has expired.
 */
@EndsWithin(240)
@Isolated("it reads the clock")
@SystemTest
final class BfdOnFabricTest {
  private static final int HOLD_SECONDS = 9;
  private static final int BFD_MS = 100;
  private static final int ROUNDS = 3;

  @TempDir private Path folder;

  private Fabric fabric;

  @AfterEach
  void takeDown() {
    if (fabric != null) {
      assertEquals(List.of(), Fabric.down(fabric.name()));
    }
  }

  @Test
  void weightsChangeAfterSilentCutLongBeforeHoldTime() throws Exception {
    Skip.unlessFabric(false);
    FabricPlan plan =
        new FabricPlan(
            FabricShape.LEAF_SPINE,
            2,
            1,
            2,
            2,
            List.of(500_000_000L, 500_000_000L),
            List.of(100, 300),
            9_000,
            20,
            HOLD_SECONDS,
            BFD_MS,
            false);
    fabric =
        Fabric.up(
            "bf" + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX),
            plan,
            ProcessHandle.current().pid());
    String leaf = "[peer leaf]\ninterface = e0\nplane = by-colour\n";
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.start(fabric, 1, folder.resolve("d"), leaf)) {
      daemon.awaitLog("weights are published");
      awaitBfd();
      long[] took = new long[ROUNDS];
      try (RouteReader reader = RouteReader.open(daemon.routes(), NanoClock.SYSTEM)) {
        for (int round = 0; round < ROUNDS; round++) {
          await(reader, false);
          long start = System.nanoTime();
          fabric.cut(2, "l1", true);
          await(reader, true);
          took[round] = (System.nanoTime() - start) / 1_000_000;
          fabric.restore(2);
        }
        await(reader, false);
      }
      Arrays.sort(took);
      System.out.printf(
          "silent cut to weights, BFD %s ms x 3: %s ms; the hold time is %s s%n",
          BFD_MS, Arrays.toString(took), HOLD_SECONDS);
      assertTrue(took[0] < 3_000, Arrays.toString(took) + " ms\n" + daemon.log());
    }
  }

  /*
   * Waits until all BFD sessions use their fast interval. Before that, BFD wouldn't detect a cut
   * within the test's limit.
   */
  private void awaitBfd() throws InterruptedException {
    String settled = String.format(Locale.ROOT, "%.3f", BFD_MS / 1e3);
    Deadline deadline = Deadline.ofSeconds(40);
    for (String router : List.of("l1", "l2", "s1", "s2")) {
      while (settledSessions(router, settled) < 2) {
        assertTrue(
            !deadline.isOver(),
            () -> router + " after 40 s: " + fabric.query(router, "show bfd sessions"));
        TimeUnit.MILLISECONDS.sleep(20);
      }
    }
  }

  private long settledSessions(String router, String interval) {
    return fabric
        .query(router, "show bfd sessions")
        .lines()
        .filter(line -> line.contains(" Up ") && line.contains(" " + interval + " "))
        .count();
  }

  /*
   * Waits until the daemon's answer for plane 2 to the other host is marked as borrowed, because
   * the plane's own spine is unreachable, or until it is no longer so marked.
   */
  private void await(RouteReader reader, boolean borrowed) throws Exception {
    ByteBuffer to = ByteBuffer.wrap(InetAddress.getByName(fabric.address(2, 2)).getAddress());
    RouteAnswer answer = new RouteAnswer();
    Deadline deadline = Deadline.ofSeconds(40);
    while (true) {
      long sequence = reader.sequence();
      if (reader.resolve(to.getLong(0), to.getLong(8), answer)
          && hasPaths(answer)
          && isOverOtherPlane(answer) == borrowed) {
        return;
      }
      assertTrue(!deadline.isOver(), "no route with borrowed " + borrowed);
      reader.awaitChange(sequence, 10_000_000);
    }
  }

  private static boolean hasPaths(RouteAnswer answer) {
    boolean any = false;
    for (int plane = 0; plane < answer.planes(); plane++) {
      any |= answer.reason(plane).carriesTraffic();
    }
    return any;
  }

  private static boolean isOverOtherPlane(RouteAnswer answer) {
    boolean any = false;
    for (int plane = 0; plane < answer.planes(); plane++) {
      any |= answer.isOverOtherPlane(plane);
    }
    return any;
  }
}
