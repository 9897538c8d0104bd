package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.spray.PlaneWeights;
import io.heddle.stats.DrainOrders;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import io.heddle.transport.connection.Connection;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.testing.LoopbackFabric;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests of the spray policy {@code packet}: one queue pair over all planes, between soft devices
 * that agree on it.
 */
class PacketPolicyTest {
  private static final List<Integer> FOUR = List.of(1, 2, 3, 4);
  private static final int BYTES = 3_000_000;

  @TempDir private Path folder;

  private Ends ends(String... settings) {
    return new Ends(null, folder, FOUR, FOUR, packetOptions(settings));
  }

  private static Map<String, String> packetOptions(String... settings) {
    Map<String, String> all = new HashMap<>(Map.of("HEDDLE_POLICY", "packet"));
    for (String setting : settings) {
      String[] parts = setting.split("=", 2);
      all.put(parts[0], parts[1]);
    }
    return all;
  }

  private static void exchange(Ends ends, Ends.Link link, int rounds) {
    for (int round = 0; round < rounds; round++) {
      ends.exchange(link, BYTES, BYTES, round);
    }
  }

  private static long[] bytes(Transport of) {
    return StatsReader.read(of.statsFile()).stream().mapToLong(ProcessStats.Row::bytes).toArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 128, 61_440, 61_441, 6_000_001})
  void aMessageOfAnySizeArrivesWholeOverOneQueuePair(int lengthBytes) {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      ends.exchange(link, lengthBytes, lengthBytes, 1);
      ends.exchange(link, lengthBytes, lengthBytes + 1000, 2);
      assertEquals(1, link.sender().flows().length);
      assertEquals(4, link.sending().planeKeys().size());
    }
  }

  @Test
  void bytesFollowTheWeightsAndAreCountedByPlane() {
    try (Ends ends = ends("HEDDLE_WEIGHTS=4,2,1,1");
        Ends.Link link = ends.connect()) {
      exchange(ends, link, 12);
      long total = 12L * BYTES;
      Ends.await(
          "all bytes in the statistics", () -> Arrays.stream(bytes(ends.left)).sum() >= total);
      Ends.await("those of the receiver", () -> Arrays.stream(bytes(ends.right)).sum() >= total);
      int[] eighths = {4, 2, 1, 1};
      for (Transport end : List.of(ends.left, ends.right)) {
        long[] bytes = bytes(end);
        for (int plane = 0; plane < 4; plane++) {
          assertEquals(
              total * eighths[plane] / 8.0, bytes[plane], total * 0.05, Arrays.toString(bytes));
        }
      }
      List<ProcessStats.Row> rows = StatsReader.read(ends.left.statsFile());
      assertEquals(List.of(4, 2, 1, 1), rows.stream().map(ProcessStats.Row::weight).toList());
      assertEquals(12, rows.getFirst().messages());
      assertTrue(rows.getFirst().latencies().total() > 0);
      long ahead = 0;
      for (ProcessStats.Row row : StatsReader.read(ends.right.statsFile())) {
        ahead += Arrays.stream(row.reordering()).skip(1).sum();
      }
      assertTrue(ahead > 0, "packets over four planes came all in order");
    }
  }

  @Test
  void lossyNetworkLosesNoByteAndIsCountedByPlane() {
    try (Ends ends = ends("HEDDLE_SOFT_FAULTS=loss=0.02,duplicate=0.01,corrupt=0.01,seed=3");
        Ends.Link link = ends.connect()) {
      exchange(ends, link, 20);
      Ends.await(
          "packets that were sent again on each plane, in the statistics",
          () ->
              StatsReader.read(ends.left.statsFile()).stream()
                  .allMatch(row -> row.resentPackets() > 0));
    }
  }

  @Test
  void newWeightsAndDrainsHoldForARunningConnection() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      exchange(ends, link, 2);
      link.sending()
          .planeWeights()
          .setRouted(PlaneWeights.ofRoutes(new int[] {0, 1, 1, 1}, "a test"));
      long before = linkBytes(link, 0);
      exchange(ends, link, 4);
      assertEquals(before, linkBytes(link, 0), "bytes by a plane that weighs nothing");
      /* The receiver's operator drains a plane, and the sender is notified. */
      DrainOrders.in(ends.right.statsFile().getParent()).write(Set.of("plane:2"));
      Ends.await(
          "drain at the sender", () -> link.sending().planeWeights().current().isOutOfUse(1));
      long drained = linkBytes(link, 1);
      exchange(ends, link, 4);
      assertEquals(drained, linkBytes(link, 1), "bytes by a drained plane");
      assertTrue(linkBytes(link, 2) > 0);
    }
  }

  @Test
  void planeWithoutCarrierIsAbandonedAtOnceAndReturnsWhenItAnswers() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      exchange(ends, link, 2);
      NetDevice device = link.sending().device();
      ends.left.loop().execute(() -> device.planeLost(device.planes().get(1), "no carrier"));
      QueuePair pair = link.sender().flows()[0].pair.queuePair();
      Ends.await("its rest", () -> pair.linkCounts().get(1).silences() > 0);
      long before = linkBytes(link, 1);
      Ends.await(
          "bytes by it again",
          () -> {
            exchange(ends, link, 1);
            return linkBytes(link, 1) > before;
          });
    }
  }

  private static long linkBytes(Ends.Link link, int plane) {
    return link.sender().flows()[0].pair.queuePair().linkCounts().get(plane).sentBytes();
  }

  @Test
  void brokenQueuePairIsReplacedOverAllPlanes() {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      exchange(ends, link, 2);
      Connection there = link.receiving();
      QueuePair first = link.receiver().flows()[0].pair.queuePair();
      ends.right.loop().execute(() -> there.pairs().stop(0));
      Ends.await("its end", () -> first.state() != QueuePairState.READY_TO_SEND);
      exchange(ends, link, 2);
      assertTrue(
          ends.log.stream().anyMatch(each -> each.contains("back on plane packet")),
          ends.log.toString());
      assertTrue(IntStream.range(0, 4).allMatch(plane -> linkBytes(link, plane) > 0));
    }
  }

  @Test
  void singleCommonPlaneUsesAnOrdinaryQueuePair() {
    try (Ends ends = new Ends(null, folder, List.of(1, 2), List.of(2, 3), packetOptions());
        Ends.Link link = ends.connect()) {
      ends.exchange(link, BYTES, BYTES, 1);
      assertEquals(List.of("plane:2"), link.sending().planeKeys());
      Ends.await("bytes in the statistics", () -> bytes(ends.left)[0] == BYTES);
    }
  }

  @Test
  void singlePlaneDeviceRefusesAtConnectWithARemedy() {
    try (Ends ends = new Ends(new LoopbackFabric(1), folder, FOUR, FOUR, packetOptions())) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      HeddleException refused =
          assertThrows(HeddleException.class, () -> ends.left.connect(0, -1, handle));
      assertTrue(
          String.valueOf(refused.getMessage())
              .contains(
                  "device loopback0 binds a queue pair to one plane: set HEDDLE_PROVIDER=soft"),
          refused.getMessage());
      listener.close();
    }
  }

  @Test
  void unsupportingPeerRefusesAndTheConnectingEndReportsIt() {
    Map<String, String> standard = Map.of("HEDDLE_SOFT_PEERS", "standard");
    try (Ends ends = new Ends(null, folder, FOUR, FOUR, packetOptions(), standard)) {
      long handle = ends.handle();
      ListenComm listener = ends.right.listen(0, handle);
      HeddleException refused =
          assertThrows(
              HeddleException.class,
              () -> Ends.await("refusal", () -> ends.left.connect(0, -1, handle) != null));
      assertTrue(
          String.valueOf(refused.getMessage()).contains("without HEDDLE_SOFT_PEERS=standard"),
          refused.getMessage());
      listener.close();
    }
  }
}
