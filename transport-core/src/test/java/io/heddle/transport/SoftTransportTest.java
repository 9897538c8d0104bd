package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsReader;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.device.TransportResult;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of the transport over the soft RoCE device, on IPv4 loopback. */
class SoftTransportTest extends EndingSuite {
  @Override
  Ends ends(List<Integer> left, List<Integer> right, Map<String, String> more) {
    return new Ends(null, folder, left, right, more);
  }

  @Override
  int lateBytes() {
    return 256 << 20;
  }

  @Test
  void overALossyNetworkEveryMessageArrivesAndEveryCloseIsGraceful() {
    String faults = "loss=0.02,reorder=0.02,duplicate=0.02,seed=11";
    try (Ends ends = ends(FOUR, FOUR, Map.of("HEDDLE_SOFT_FAULTS", faults))) {
      for (int round = 0; round < 25; round++) {
        Ends.Link link = ends.connect();
        int length = 300_000;
        long from = ends.memory(length);
        long to = ends.memory(length);
        Ends.fill(from, length, round);
        long handle = link.receiver().registerMemory(to, length, 1);
        long fromHandle = link.sender().registerMemory(from, length, 1);
        long receive = ends.receive(link, to, length, 1, handle);
        long send = Ends.send(link, from, length, 1, fromHandle);
        Ends.finish(link, receive);
        Ends.check(to, length, round);
        /* The receiver has everything and closes; the sender still misses only acknowledgements. */
        link.receiver().close();
        Ends.await(
            "completion of the send",
            () -> {
              assertEquals(0, link.sender().progress(), ends.log.toString());
              return Ends.isDone(send);
            });
        link.sender().close();
        link.listener().close();
      }
    }
  }

  /*
   * The receiver's refusals may be lost like any packet. When the buffer is taken back, some chunks
   * have arrived ahead of earlier ones.
   */
  @ParameterizedTest
  @EnumSource(TakenBack.class)
  void overALossyNetworkNoByteLandsInADeregisteredBuffer(TakenBack how) throws Exception {
    String faults = "loss=0.05,reorder=0.05,duplicate=0.05,seed=12";
    noByteLands(how, 32 << 20, Map.of("HEDDLE_SOFT_FAULTS", faults));
  }

  @Test
  void lossesAreCountedByPlaneAndByTheDevice() {
    String faults = "loss=0.05,reorder=0.05,seed=5";
    try (Ends ends = ends(FOUR, FOUR, Map.of("HEDDLE_SOFT_FAULTS", faults));
        Ends.Link link = ends.connect()) {
      for (int round = 0; round < 20; round++) {
        ends.exchange(link, 3_000_000, 3_000_000, round);
      }
      Ends.await(
          "packets that were sent again, in the statistics",
          () -> {
            ProcessStats stats = StatsReader.snapshot(ends.left.statsFile());
            return stats.rows().stream().allMatch(row -> row.resentPackets() > 0)
                && stats.deviceCounters().getOrDefault("soft0/packets_resent", 0L) > 0;
          });
      for (ProcessStats.Row row : StatsReader.read(ends.left.statsFile())) {
        assertEquals(row.chunks(), row.latencies().total(), row.planeKey());
        assertEquals(0, row.inFlightBytes(), row.planeKey());
      }
      long ahead = 0;
      for (ProcessStats.Row row : StatsReader.read(ends.right.statsFile())) {
        assertEquals(row.chunks(), Arrays.stream(row.reordering()).sum(), row.planeKey());
        ahead += row.chunks() - row.reordering()[0];
      }
      assertTrue(ahead > 0, "chunks over four planes that lose came all in order");
    }
  }

  @Test
  void orderlyCloseIsReportedToTheSenderOnlyIfItContinues() {
    try (Ends ends = ends(FOUR, FOUR, Map.of())) {
      Ends.Link link = ends.connect();
      long from = ends.memory(64);
      long handle = link.sender().registerMemory(from, 64, 1);
      link.receiver().close();
      ConnectionHealth health = link.sending().health();
      Ends.await("the goodbye", () -> health.peer() == ConnectionHealth.Peer.CLOSED);
      assertEquals(0, link.sender().isend(from, 64, 1, handle));
      assertEquals(0, link.sender().progress());
      assertEquals(List.of(), ends.log.stream().filter(each -> each.contains("failed:")).toList());
      long[] answer = new long[1];
      Ends.await(
          "the end of the time in which the peer lingers",
          () -> (answer[0] = link.sender().isend(from, 64, 1, handle)) != 0);
      assertEquals(-TransportResult.REMOTE_ERROR, answer[0]);
      assertTrue(ends.line("sending connection").contains("it closed its end"));
      link.sender().close();
      link.listener().close();
    }
  }

  @Test
  void failureIsInTheListOfDistinctErrors() {
    try (Ends ends = ends(FOUR, FOUR, Map.of());
        Ends.Link link = ends.connect()) {
      RecvComm receiver = link.receiver();
      receiver.baton().spinUntilTaken();
      receiver.fail(TransportResult.REMOTE_ERROR, "it can't go on");
      receiver.baton().release();
      List<ProcessStats.DistinctError> errors =
          StatsReader.snapshot(ends.right.statsFile()).errors();
      assertTrue(
          errors.stream().anyMatch(error -> error.sentence().contains("it can't go on")),
          errors.toString());
    }
  }
}
