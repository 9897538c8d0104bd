package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of planes of the kernel's rxe that fail under traffic, each for a different cause, and
 * return. No byte may be wrong, and the other planes must continue.
 */
@EndsWithin(900)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SystemTest
final class FailoverOnRxeTest {
  private static final long CARRIED = 512 << 10;

  /*
   * Log messages about a lost address. The plugin learns of it from netlink, from the device, or
   * from a failed send, and logs the first of these.
   */
  private static final String ADDRESS_GONE =
      "(address is gone|no more|LOCAL_QUEUE_PAIR_OPERATION_ERROR)";
  private static final String PORT_DOWN = "(is down|PORT_ERROR|no more)";

  @TempDir private static Path folder;
  private GuestJobs guest;

  @BeforeAll
  void startGuest() throws Exception {
    RxeGuest.assume();
    RxeGuest.assumePrograms("radvd", "ibv_devinfo");
    RxeTraffic.assume("heddle-chaos", "heddle-allreduce");
    guest = GuestJobs.start(GuestPlan.planes(RxeTraffic.PLANES, 2).within(800), folder, ":");
  }

  @AfterAll
  void endGuest() throws Exception {
    if (guest != null) {
      guest.close();
    }
  }

  private static int[] allBut(int... planes) {
    return IntStream.range(0, RxeTraffic.PLANES)
        .filter(plane -> IntStream.of(planes).noneMatch(each -> each == plane))
        .toArray();
  }

  /*
   * Asserts that the plane fails over while the others carry traffic, and that it carries traffic
   * again after the remedy.
   */
  private static void assertFailsOverAndReturns(
      RxeTraffic traffic, int plane, String fault, String cause, String remedy) throws Exception {
    traffic.guest(fault);
    traffic.await("moving off plane plane:" + plane + " .*" + cause);
    traffic.awaitBytes(CARRIED, allBut(plane));
    traffic.guest(remedy);
    traffic.await("back on plane plane:" + plane + " ");
    traffic.awaitBytes(CARRIED, plane);
  }

  /** Step that lets planes fail under traffic, and repairs them. */
  private interface Failures {
    void inject(RxeTraffic traffic) throws Exception;
  }

  private void assertEveryByteIsRightDuring(Failures deaths) throws Exception {
    try (RxeTraffic traffic =
        RxeTraffic.start(guest, 1, "heddle-chaos", "--seed 7 --max-bytes 131072")) {
      traffic.await("\"event\":\"start\"");
      traffic.awaitBytes(CARRIED, allBut());
      deaths.inject(traffic);
      String output = traffic.end();
      for (int rank = 0; rank < 2; rank++) {
        String end = "{\"event\":\"end\",\"rank\":%s,\"wrong_bytes\":0,".formatted(rank);
        assertTrue(
            output.contains(end + "\"guard_bytes\":0,\"canary_bytes\":0,\"leaks\":0}"), output);
      }
    }
  }

  @Test
  void everyByteIsRightWhilePlanesAreCutAndLoseTheirAddresses() throws Exception {
    assertEveryByteIsRightDuring(traffic -> {
      assertFailsOverAndReturns(traffic, 0, "cut_plane 0", "RETRY_EXCEEDED", "heal_plane 0");
      assertFailsOverAndReturns(
          traffic, 1, "remove_address A 1 0", ADDRESS_GONE, "restore_address A 1 0");
    });
  }

  @Test
  @WholeRunOnly
  void everyByteIsRightWhilePlaneLosesPackets() throws Exception {
    assertEveryByteIsRightDuring(traffic -> {
      traffic.guest("netem_plane A 2 loss 3%; netem_plane B 2 loss 3%");
      traffic.awaitBytes(CARRIED, allBut(2));
      assertFailsOverAndReturns(
          traffic, 2, "netem_plane A 2 loss 100%; netem_plane B 2 loss 100%", "", "netem_clear 2");
    });
  }

  @Test
  @WholeRunOnly
  void twoDevicesContinueOnRemainingPlanes() throws Exception {
    try (RxeTraffic traffic =
        RxeTraffic.start(
            guest,
            2,
            "heddle-allreduce",
            "--ranks 2 --devices 2 --min-bytes 1048576 --max-bytes 1048576 --warmup 0")) {
      traffic.await("\"event\":\"start\"");
      traffic.awaitBytes(CARRIED, allBut());
      assertFailsOverAndReturns(traffic, 3, "cut_plane 3", "RETRY_EXCEEDED", "heal_plane 3");
      assertFailsOverAndReturns(
          traffic, 0, "remove_address B 0 1", ADDRESS_GONE, "restore_address B 0 1");
      /* Sets the link down, so that the device has no plane for some time. */
      traffic.guest("ip link set hA0 down");
      traffic.await("moving off plane plane:1 .*" + PORT_DOWN);
      traffic.guest("device_routes A 0; wait_for_gids rxeA0");
      traffic.await("back on plane plane:1 ");
      traffic.awaitBytes(CARRIED, allBut());
      String output = traffic.end();
      assertTrue(output.contains("\"event\":\"end\",\"rank\":0,\"wrong\":0"), output);
      assertTrue(output.contains("\"event\":\"end\",\"rank\":1,\"wrong\":0"), output);
    }
  }
}
