package io.heddle.systemtests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Fabric;
import io.heddle.tools.lab.FabricPlan;
import io.heddle.tools.lab.FabricShape;
import io.heddle.tools.lab.Skip;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of {@code filter = yes}: the route daemon requests only the routes to peers of running
 * jobs, from a leaf that supports prefix ORF (FRR).
 */
@EndsWithin(300)
@SystemTest
final class JobFilterTest {
  private static final long LIMIT_SECONDS = 90;
  private static final int JOB_HOSTS = 3;
  private static final int FILTERING_PLANE = 2;
  private static final String AGGREGATE = "fd00:2::/32";

  @TempDir private Path folder;

  private Fabric fabric;

  @AfterEach
  void takeDown() {
    if (fabric != null) {
      assertEquals(List.of(), Fabric.down(fabric.name()));
    }
  }

  /*
   * Creates the fabric. Hosts 1 to 3 run the job; host 4 doesn't. The second plane's leaf is FRR.
   */
  private void make() {
    Skip.unlessFabric(true);
    FabricPlan plan =
        new FabricPlan(
            FabricShape.PLANES,
            0,
            1,
            2,
            JOB_HOSTS + 1,
            Collections.nCopies(2, 250_000_000L),
            Collections.nCopies(2, 100),
            9_000,
            20,
            6,
            0,
            true);
    String name = "jf" + Long.toString(ProcessHandle.current().pid(), Character.MAX_RADIX);
    fabric = Fabric.up(name, plan, ProcessHandle.current().pid());
  }

  @Test
  void requestsPeersOfRunningJobsOnly() throws Exception {
    BuildOutputs.plugin();
    BuildOutputs.allReduce();
    make();
    fabric.setReachable(FILTERING_PLANE, 2, false);
    fabric.setReachable(FILTERING_PLANE, 4, false);
    awaitLeaf(
        "both exceptions",
        "show bgp ipv6 unicast",
        table -> table.contains(exception(2)) && table.contains(exception(4)));
    Path shared = Files.createDirectory(folder.resolve("shm"));
    try (RouteDaemonProcess daemon =
        RouteDaemonProcess.start(wrapper(shared), folder.resolve("d"), configuration())) {
      daemon.awaitLog("weights are published");
      daemon.await(
          "the aggregate alone", each -> prefixes(each).equals(Set.of(AGGREGATE)), "routes");
      awaitFilter(new TreeSet<>(List.of(AGGREGATE)), List.of());
      assertTrue(carries(daemon.show("destination", fabric.address(2, FILTERING_PLANE))));
      int asked = messages();
      List<HostProcess> ranks = new ArrayList<>();
      try {
        for (int rank = 0; rank < JOB_HOSTS; rank++) {
          ranks.add(rank(rank, shared));
        }
        TreeSet<String> wanted = new TreeSet<>(List.of(AGGREGATE));
        wanted.addAll(jobPeers());
        awaitFilter(wanted, List.of());
        assertTrue(
            messages() - asked < jobPeers().size(),
            () -> "not a message for each address, but for all that stand still: " + messages());
        daemon.await(
            "the exception of the job's peer",
            each -> prefixes(each).equals(Set.of(AGGREGATE, exception(2))),
            "routes");
        daemon.await(
            "the peer's loss of the plane",
            each -> !carries(each),
            "destination",
            fabric.address(2, FILTERING_PLANE));
        JsonNode stranger = daemon.show("destination", fabric.address(4, FILTERING_PLANE));
        assertTrue(carries(stranger), "its exception was never asked for");
        ranks.forEach(rank -> assertTrue(rank.isAlive(), rank::outputOrWhyNot));
      } finally {
        for (HostProcess rank : ranks) {
          rank.close();
        }
      }
      awaitFilter(new TreeSet<>(List.of(AGGREGATE)), jobPeers());
      daemon.await(
          "the aggregate alone again", each -> prefixes(each).equals(Set.of(AGGREGATE)), "routes");
      JsonNode after = daemon.show("destination", fabric.address(2, FILTERING_PLANE));
      assertTrue(carries(after), after.toPrettyString());
      assertFalse(after.toString().contains("unreachable"), after.toPrettyString());
    }
  }

  private String configuration() {
    return """
    as = 65001
    publish-after-ms = 20000
    [peer leaf1]
    interface = e1
    plane = p1
    [peer leaf2]
    interface = e2
    plane = p2
    filter = yes
    filter-always = %s
    """
        .formatted(AGGREGATE);
  }

  /*
   * Returns the words in front of a command that run it on the first host, with a folder of its own
   * as shared memory, so that it sees no other jobs.
   */
  private List<String> wrapper(Path shared) {
    String mounted = "mount --bind \"$0\" /dev/shm && exec \"$@\"";
    return fabric.onHost(1, List.of("sh", "-c", mounted, shared.toString()));
  }

  private String exception(int host) {
    return fabric.address(host, FILTERING_PLANE) + "/128";
  }

  /*
   * Returns the addresses of rank 0's peers: in a ring of three, it sends to the next rank and
   * receives from the previous one.
   */
  private List<String> jobPeers() {
    List<String> peers = new ArrayList<>();
    for (int host = 2; host <= JOB_HOSTS; host++) {
      for (int plane = 1; plane <= 2; plane++) {
        peers.add(fabric.address(host, plane) + "/128");
      }
    }
    return peers;
  }

  private HostProcess rank(int rank, Path shared) throws IOException {
    Path meeting = Files.createDirectories(folder.resolve("meeting"));
    List<String> command =
        new ArrayList<>(rank == 0 ? wrapper(shared) : fabric.onHost(rank + 1, List.of()));
    command.addAll(HostProcess.endlessAllReduce(meeting, rank, JOB_HOSTS, 1 << 20));
    Map<String, String> environment = new HashMap<>();
    environment.put("HEDDLE_JAVA_HOME", System.getProperty("java.home"));
    environment.put("HEDDLE_ROUTES", folder.resolve("no-routes").toString());
    if (rank > 0) {
      environment.put("HEDDLE_STATS_DIR", folder.resolve("stats" + rank).toString());
    }
    return HostProcess.start(command, folder.resolve("rank" + rank + ".log"), environment);
  }

  /* Returns the prefixes that the filtering leaf announces. */
  private static Set<String> prefixes(JsonNode routes) {
    TreeSet<String> prefixes = new TreeSet<>();
    for (JsonNode route : routes.path("routes")) {
      if (route.path("peer").asText().equals("leaf2")) {
        prefixes.add(route.path("prefix").asText());
      }
    }
    return prefixes;
  }

  private static boolean carries(JsonNode explanation) {
    for (JsonNode plane : explanation.path("planes")) {
      if (plane.path("key").asText().equals("plane:p2")) {
        return plane.path("share").asDouble() > 0;
      }
    }
    return false;
  }

  /*
   * Waits until the leaf's filter for the daemon permits and denies these prefixes. FRR prints
   * lines such as seq 5 permit fd00:2::/32.
   */
  private void awaitFilter(TreeSet<String> permitted, List<String> denied) throws Exception {
    TreeSet<String> expected = new TreeSet<>();
    permitted.forEach(each -> expected.add("permit " + each));
    denied.forEach(each -> expected.add("deny " + each));
    Pattern line = Pattern.compile("(permit|deny) [0-9a-f:]+/[0-9]+");
    awaitLeaf(
        "the filter " + expected,
        "show bgp ipv6 unicast neighbors h1 received prefix-filter",
        text ->
            new TreeSet<>(line.matcher(text).results().map(each -> each.group()).toList())
                .equals(expected));
  }

  /*
   * Returns the number of ROUTE-REFRESH messages that the leaf has received from the daemon. Each
   * message carries filter lines.
   */
  private int messages() {
    String neighbour = fabric.query("l2", "show bgp neighbors h1");
    Matcher counted = Pattern.compile("Route Refresh:\\s+\\d+\\s+(\\d+)").matcher(neighbour);
    assertTrue(counted.find(), neighbour);
    return Integer.parseInt(counted.group(1));
  }

  private void awaitLeaf(String what, String question, Predicate<String> expected)
      throws InterruptedException {
    Deadline deadline = Deadline.ofSeconds(LIMIT_SECONDS);
    while (true) {
      String answer = fabric.query("l2", question);
      if (expected.test(answer)) {
        return;
      }
      assertTrue(!deadline.isOver(), () -> "no " + what + " in\n" + answer);
      TimeUnit.MILLISECONDS.sleep(200);
    }
  }
}
