package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.transport.connection.Connection;
import io.heddle.transport.control.ControlMessage.Arrival;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.ConnectionWeights;
import io.heddle.transport.failover.PlaneState;
import io.heddle.transport.onesided.OneSidedTarget;
import io.heddle.verbs.testing.LoopbackFabric;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of a sender whose control thread is delayed while the receiver fences a plane. The sender's
 * messages continue over the other planes. When the sender processes the fence, the ring of slots
 * has wrapped once or several times since. The tests cover guards of failover.pml and
 * one-sided.pml: docs/failover-model.md.
 */
class LateFenceTest {
  private static final int SLOTS = 256;

  /* The timeout is a second per try, so that no queue pair fails by itself. */
  private static final Map<String, String> PATIENT = Map.of("NCCL_IB_TIMEOUT", "18");

  /* Index of the plane that is fenced. */
  private static final int FENCED = 0;

  private final LoopbackFabric fabric = new LoopbackFabric(4711);
  private final Arena arena = Arena.ofShared();

  @TempDir Path folder;

  private Ends ends() {
    return new Ends(fabric, folder, List.of(1, 2, 3), List.of(1, 2, 3), PATIENT);
  }

  /* Makes this end send over these planes only. */
  private static void sendOver(Connection end, List<Integer> planes) {
    for (int plane = 0; plane < 3; plane++) {
      end.planeWeights().drain(plane, ConnectionWeights.LOCAL, !planes.contains(plane));
    }
  }

  /* Blocks this end's control thread until the returned latch is released. */
  private static CountDownLatch hold(Connection end) throws InterruptedException {
    CountDownLatch back = new CountDownLatch(1);
    CountDownLatch away = new CountDownLatch(1);
    Ends.session(end)
        .execute(() -> {
          away.countDown();
          try {
            back.await();
          } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
          }
        });
    away.await();
    return back;
  }

  private static void breakPlanes(Connection end) {
    end.pairs().subFlows()[FENCED].pair.queuePair().toError();
  }

  private static PlaneState state(Connection end) {
    return end.failover().state(FENCED);
  }

  @Test
  void arrivalsOfAnEarlierGroupInTheSlotAreIgnored() throws Exception {
    runGroups(1);
  }

  @Test
  @WholeRunOnly
  void arrivalsOfAnEarlierGroupOfTheSameGenerationAreIgnored() throws Exception {
    runGroups(16);
  }

  private void runGroups(int laps) throws Exception {
    try (Ends ends = ends();
        Ends.Link link = ends.connect()) {
      int length = 1000;
      long from = ends.memory(length);
      long to = ends.memory(2 * length);
      long toHandle = link.receiver().registerMemory(to, 2 * length, 1);
      long fromHandle = link.sender().registerMemory(from, length, 1);
      sendOver(link.sending(), List.of(1, 2));
      /* When the receiver is fenced, it has one of the two messages of group 0. */
      long both =
          ends.receive(
              link,
              new long[] {to, to + length},
              new long[] {length, length},
              new int[] {1, 2},
              toHandle);
      Ends.finish(link, Ends.send(link, from, length, 1, fromHandle));
      Ends.await("the arrival", () -> !arrivals(link).isEmpty());
      CountDownLatch back = hold(link.sending());
      try {
        breakPlanes(link.receiving());
        Ends.await(
            "the receiver's fence",
            () -> {
              Ends.progress(link);
              return state(link.receiving()) == PlaneState.FENCED;
            });
        Ends.finish(link, Ends.send(link, from, length, 2, fromHandle));
        Ends.finish(link, both);
        for (int group = 1; group < laps * SLOTS; group++) {
          long receive = ends.receive(link, to, length, 1, toHandle);
          Ends.finish(link, Ends.send(link, from, length, 1, fromHandle));
          Ends.finish(link, receive);
        }
        /*
         * The next group is in the slot that group 0 had, and the sender doesn't know of the fence
         * yet.
         */
        sendOver(link.sending(), List.of(FENCED));
        Ends.fill(from, length, laps);
        long receive = ends.receive(link, to, length, 1, toHandle);
        long send = Ends.send(link, from, length, 1, fromHandle);
        assertEquals(PlaneState.UP, state(link.sending()));
        back.countDown();
        Ends.finish(link, receive);
        Ends.finish(link, send);
        Ends.check(to, length, laps);
        assertTrue(
            ends.log.stream().noneMatch(line -> line.contains("failed:")), ends.log::toString);
      } finally {
        back.countDown();
      }
    }
  }

  private static List<Arrival> arrivals(Ends.Link link) {
    Ends.progress(link);
    return arrivals(link.receiver());
  }

  private static List<Arrival> arrivals(Communicator end) {
    end.baton().take();
    try {
      return end.fenced("", 0).arrivals();
    } finally {
      end.baton().release();
    }
  }

  @Test
  void arrivalsOfAnEarlierPutInTheSlotAreIgnored() throws Exception {
    runPuts(1);
  }

  @Test
  @WholeRunOnly
  void arrivalsOfAnEarlierPutOfTheSameGenerationAreIgnored() throws Exception {
    runPuts(16);
  }

  private void runPuts(int laps) throws Exception {
    int length = 4 << 20;
    try (arena;
        Ends ends = ends();
        OneSidedRanks ranks = new OneSidedRanks(ends, 2, length, arena)) {
      ranks.finish(ranks.start(0, 1, 0, OneSidedRanks.put(8, 0)));
      Connection sending = connection(ends.left);
      Connection receiving = connection(ends.right);
      OneSidedTarget target = (OneSidedTarget) ranks.groups.get(1).communicators().getFirst();
      sendOver(sending, List.of(1, 2));
      /* When the target is fenced, it has the chunks of put 1 that went over plane 1. */
      fabric.cut(Ends.gid("127.0.78.3"));
      long first = ranks.start(0, 1, 0, OneSidedRanks.put(length, 0));
      Ends.await(
          "the arrival",
          () -> {
            ranks.progress();
            return !arrivals(target).isEmpty();
          });
      CountDownLatch back = hold(sending);
      try {
        breakPlanes(receiving);
        Ends.await(
            "the target's fence",
            () -> {
              ranks.progress();
              return state(receiving) == PlaneState.FENCED;
            });
        fabric.reconnect(Ends.gid("127.0.78.3"));
        ranks.finish(first);
        for (int put = 0; put < laps * SLOTS - 1; put++) {
          ranks.finish(ranks.start(0, 1, 0, OneSidedRanks.put(8, 0)));
        }
        sendOver(sending, List.of(FENCED));
        Ends.fill(ranks.memory.get(0), length, laps);
        long late = ranks.start(0, 1, 0, OneSidedRanks.put(length, 0));
        assertEquals(PlaneState.UP, state(sending));
        back.countDown();
        ranks.finish(late);
        Ends.check(ranks.memory.get(1), length, laps);
      } finally {
        back.countDown();
      }
    }
  }

  private static Connection connection(Transport of) {
    return of.devices().stream()
        .flatMap(device -> device.connections().stream())
        .map(Connection.class::cast)
        .findFirst()
        .orElseThrow();
  }
}
