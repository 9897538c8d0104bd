package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.tools.lab.Skip;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the plugin's all-reduce between two rxe devices over four planes. The driver program
 * checks every element, and the interfaces' counters verify each plane's share. One test covers
 * puts with signals. In a short run, {@link FailoverOnRxeTest} (over all planes) and OneSidedTest
 * (with the soft device) cover the same code.
 */
@WholeRunOnly
@EndsWithin(600)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@SystemTest
final class AllReduceOnRxeTest {
  private static final int PLANES = 4;
  private static final int LIMIT_SECONDS = 150;
  private static final int BYTES = 1 << 20;
  private static final int ITERATIONS = 4;

  /**
   * Bytes that each rank sends: the buffer once in each iteration, including one iteration of
   * warm-up.
   */
  private static final long SENT_BYTES = (long) BYTES * ITERATIONS;

  private static final Path PLUGIN =
      RxeGuest.ROOT.resolve("plugin-shim/target/plugin/libnccl-net-heddle.so");
  private static final Path DRIVER = RxeGuest.ROOT.resolve("perf-tests/target/heddle-allreduce");
  private static final Path PUTS = RxeGuest.ROOT.resolve("perf-tests/target/heddle-one-sided");
  private static final Pattern SENT = Pattern.compile("(?m)^(\\d) (\\d+) (\\d+)$");

  /* Both hosts' interfaces are in one guest, so a setting must name each rank's addresses. */
  private static final String ALL_OF_A = planesOf("a");
  private static final String ALL_OF_B = planesOf("b");

  @TempDir private static Path folder;
  private GuestJobs guest;

  private static String planesOf(String side) {
    return IntStream.range(0, PLANES)
        .mapToObj(plane -> "fd00:" + side + ":0:" + plane + "::/64=" + plane)
        .collect(Collectors.joining(",", "HEDDLE_PLANES=", ""));
  }

  @BeforeAll
  void startGuest() throws Exception {
    RxeGuest.assume();
    RxeGuest.assumePrograms("radvd", "ibv_devinfo");
    for (Path part : List.of(PLUGIN, DRIVER, PUTS)) {
      if (!Files.exists(part)) {
        Skip.because(part + " isn't built");
      }
    }
    guest = GuestJobs.start(GuestPlan.planes(PLANES).within(500), folder, "gids rxeA; gids rxeB");
  }

  @AfterAll
  void endGuest() throws Exception {
    if (guest != null) {
      guest.close();
    }
  }

  /**
   * Runs both ranks in the guest, each with additional settings. Returns the planes' sent bytes
   * before the run, those after it, and both ranks' logs.
   */
  private String allReduce(String forA, String forB) throws Exception {
    return bothRanks(
        DRIVER,
        "--min-bytes %s --max-bytes %s --iterations %s".formatted(BYTES, BYTES, ITERATIONS),
        forA,
        forB);
  }

  private String bothRanks(Path program, String arguments, String forA, String forB)
      throws Exception {
    String script =
        """
        folder=$(mktemp -d)
        rank() {
          local side=$1 number=$2
          shift 2
          env NCCL_DEBUG=INFO NCCL_IB_TIMEOUT=18 HEDDLE_PROVIDER=libibverbs "NCCL_IB_HCA==rxe$side" \\
            "NCCL_SOCKET_IFNAME==h$side" "$@" '%s' --plugin '%s' \\
            --rank "$number" --ranks 2 --rendezvous "$folder" %s \\
            --timeout-seconds 100 >"$folder/$side.log" 2>&1
        }
        plane_bytes
        rank A 0 %s &
        status=0
        rank B 1 %s || status=$?
        wait $! || status=$?
        plane_bytes
        cat "$folder/A.log" "$folder/B.log"
        exit $status
        """
            .formatted(program, PLUGIN, arguments, forA, forB);
    try (GuestJobs.Job job = guest.submit(script)) {
      int status = job.exitCode(LIMIT_SECONDS);
      assertEquals(0, status, job.output());
      assertTrue(job.output().contains("provider libibverbs"), job.output());
      return job.output();
    }
  }

  /** Returns the bytes that each plane carried from A to B, and from B to A. */
  private static long[][] carried(String output) {
    long[][] carried = new long[2][PLANES];
    Matcher line = SENT.matcher(output);
    for (int lines = 0; line.find(); lines++) {
      int sign = lines < PLANES ? -1 : 1;
      int plane = Integer.parseInt(line.group(1));
      carried[0][plane] += sign * Long.parseLong(line.group(2));
      carried[1][plane] += sign * Long.parseLong(line.group(3));
    }
    return carried;
  }

  private static void assertEqualShares(String output) {
    for (long[] direction : carried(output)) {
      long total = Arrays.stream(direction).sum();
      System.out.println("bytes by plane: " + Arrays.toString(direction));
      assertTrue(total > SENT_BYTES, output);
      for (long plane : direction) {
        double share = (double) plane / total;
        assertTrue(share > 0.2 && share < 0.3, Arrays.toString(direction) + "\n" + output);
      }
    }
  }

  @Test
  @Order(1)
  void fourPlanesCarryAQuarterEach() throws Exception {
    assertEqualShares(allReduce(ALL_OF_A, ALL_OF_B));
  }

  @Test
  @Order(2)
  void onePlaneCarriesAll() throws Exception {
    String output =
        allReduce("HEDDLE_PLANES=fd00:a:0:2::/64=only", "HEDDLE_PLANES=fd00:b:0:2::/64=only");
    for (long[] direction : carried(output)) {
      System.out.println("bytes by plane: " + Arrays.toString(direction));
      for (int plane = 0; plane < PLANES; plane++) {
        assertTrue(
            plane == 2 ? direction[plane] > SENT_BYTES : direction[plane] < 20_000,
            Arrays.toString(direction) + "\n" + output);
      }
    }
  }

  @Test
  @Order(3)
  void signalsFollowDataAndAllPlanesCarryPuts() throws Exception {
    String output =
        bothRanks(
            PUTS,
            "--verbose --contexts 4 --operations 12 --max-bytes 131072",
            "HEDDLE_ONE_SIDED=1 " + ALL_OF_A,
            "HEDDLE_ONE_SIDED=1 " + ALL_OF_B);
    for (long[] direction : carried(output)) {
      System.out.println("bytes by plane: " + Arrays.toString(direction));
      assertTrue(Arrays.stream(direction).allMatch(plane -> plane > 100_000), output);
    }
  }

  @Test
  @Order(4)
  void planesOfIpv4CarryAQuarterEach() throws Exception {
    try (GuestJobs.Job add = guest.submit("planes_ipv4; gids rxeA; gids rxeB")) {
      assertEquals(0, add.exitCode(LIMIT_SECONDS), add.output());
      assertTrue(add.output().contains("ffff:0a0a:0301"), add.output());
    }
    String output = allReduce(ipv4Planes("10.10"), ipv4Planes("10.11"));
    assertTrue(output.contains("10.11.1.1"), output);
    assertEqualShares(output);
  }

  private static String ipv4Planes(String network) {
    return "HEDDLE_PLANES=" + ipv4Planes(network, "");
  }

  private static String ipv4Planes(String network, String prefix) {
    return IntStream.range(0, PLANES)
        .mapToObj(plane -> network + "." + plane + ".0/24=" + prefix + plane)
        .collect(Collectors.joining(","));
  }

  /**
   * With the usual depth, the completions of 64 queue pairs wouldn't fit a completion queue of rxe.
   */
  @Test
  @Order(5)
  void sixtyFourQueuePairsShareACompletionQueue() throws Exception {
    String eight = " NCCL_IB_QPS_PER_CONNECTION=8";
    String output =
        allReduce(
            ALL_OF_A + "," + ipv4Planes("10.10", "v4-") + eight,
            ALL_OF_B + "," + ipv4Planes("10.11", "v4-") + eight);
    assertTrue(output.contains("8 queue pairs a plane"), output);
    assertTrue(output.contains("v4-3"), output);
    assertEqualShares(output);
  }

  /* This test runs last, since it changes the addresses for all later tests. */
  @Test
  @Order(6)
  void planesMatchAtAnyGidIndex() throws Exception {
    try (GuestJobs.Job reverse = guest.submit("reverse_addresses B; gids rxeA; gids rxeB")) {
      assertEquals(0, reverse.exitCode(LIMIT_SECONDS), reverse.output());
    }
    assertEqualShares(allReduce(ALL_OF_A, ALL_OF_B));
  }
}
