package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the planes in a guest are separate: each carries its own traffic, and can be cut
 * alone. In a short run, {@link FailoverOnRxeTest} covers this, since it depends on both
 * properties.
 */
@WholeRunOnly
@EndsWithin(600)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@SystemTest
final class TopologyTest {
  private static final int PLANES = 3;

  /** Smallest number of bytes on the wire for 40 writes of 65536 bytes. */
  private static final long MESSAGE_BYTES = 40 * 65536L;

  private static final Pattern BYTES = Pattern.compile("(?m)^(\\d) (\\d+) (\\d+)$");

  /*
   * Shell function write_over PLANE [SECONDS]. perftest sets 7 retries, with which rxe retries for
   * ever, so only a time limit shows that a plane is cut. Without -F, perftest fails if the
   * frequency of the processor's clock varies, as in an emulation.
   */
  private static final String WRITE_OVER =
      """
      device() { [[ $GUEST_TOPOLOGY == planes ]] && echo "rxe$1" || echo "rxe$1$2"; }
      write_over() {
        local plane=$1 a b status=0
        a=$(device A "$plane") b=$(device B "$plane")
        ib_write_bw -F -d "$b" -x "$(gid_index "$b" "$plane")" -n 40 >/tmp/server 2>&1 &
        await_listener 18515 $! || return 1
        timeout "${2:-60}" ib_write_bw -F -d "$a" -x "$(gid_index "$a" "$plane")" -n 40 127.0.0.1 >/tmp/client 2>&1 ||
          status=$?
        [[ $status == 0 ]] || kill $!
        wait $! || true
        return $status
      }
      """;

  private static final int LIMIT_SECONDS = 300;

  @TempDir private static Path folder;
  private final Map<String, GuestJobs> guests = new HashMap<>();

  @AfterAll
  void endGuests() throws Exception {
    for (GuestJobs guest : guests.values()) {
      guest.close();
    }
  }

  /* Returns the guest that all tests of a topology share. */
  private GuestJobs guest(String topology) throws Exception {
    RxeGuest.assume();
    RxeGuest.assumePrograms("ib_write_bw", "radvd");
    GuestJobs guest = guests.get(topology);
    if (guest == null) {
      GuestPlan plan =
          topology.equals("cables") ? GuestPlan.cables(PLANES) : GuestPlan.planes(PLANES);
      guest =
          GuestJobs.start(plan.within(550), Files.createDirectory(folder.resolve(topology)), ":");
      guests.put(topology, guest);
    }
    return guest;
  }

  /* Runs a script, asserts that it succeeds, and returns its output. */
  private String run(String topology, String script) throws Exception {
    try (GuestJobs.Job job = guest(topology).submit(WRITE_OVER + script)) {
      assertEquals(0, job.exitCode(LIMIT_SECONDS), job::outputOrWhyNot);
      return job.output();
    }
  }

  /** Returns the bytes that side A has sent on each plane, as often as the script printed them. */
  private static List<long[]> sentByPlane(String output) {
    List<long[]> all = new ArrayList<>();
    Matcher line = BYTES.matcher(output);
    while (line.find()) {
      int plane = Integer.parseInt(line.group(1));
      if (plane == 0) {
        all.add(new long[PLANES]);
      }
      all.getLast()[plane] = Long.parseLong(line.group(2));
    }
    return all;
  }

  @ParameterizedTest
  @ValueSource(strings = {"cables", "planes"})
  void eachPlaneCarriesItsOwnTraffic(String topology) throws Exception {
    String output =
        run(
            topology,
            """
            plane_bytes
            for plane in 0 1 2; do
              write_over $plane || { cat /tmp/client; exit 1; }
              plane_bytes
            done
            """);
    List<long[]> sent = sentByPlane(output);
    assertEquals(PLANES + 1, sent.size(), output);
    for (int used = 0; used < PLANES; used++) {
      for (int plane = 0; plane < PLANES; plane++) {
        long bytes = sent.get(used + 1)[plane] - sent.get(used)[plane];
        if (plane == used) {
          assertTrue(bytes > MESSAGE_BYTES, plane + " carried " + bytes + "\n" + output);
        } else {
          assertTrue(bytes < 10_000, plane + " carried " + bytes + " of " + used + "'s");
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"cables", "planes"})
  void planeIsCutAndHealedAlone(String topology) throws Exception {
    run(
        topology,
        """
        cut_plane 1
        write_over 1 8 && { echo "a cut plane carried it"; exit 1; }
        write_over 2 || { cat /tmp/client; exit 2; }
        heal_plane 1
        write_over 1 || { cat /tmp/client; gids rxeA; exit 3; }
        """);
  }

  @Test
  void lossStaysOnItsPlane() throws Exception {
    String output =
        run(
            "cables",
            """
            netem_plane A 1 loss 2%
            write_over 0 || { cat /tmp/client; exit 1; }
            write_over 1 || { cat /tmp/client; exit 2; }
            netem_clear 1
            counters rxeB0 | sed 's/^/plane 0: /'
            counters rxeB1 | sed 's/^/plane 1: /'
            """);
    assertTrue(output.contains("plane 1: out_of_seq_request"), output);
    assertTrue(output.contains("plane 0: rcvd_pkts"), output);
    assertTrue(!output.contains("plane 0: out_of_seq_request"), output);
  }
}
