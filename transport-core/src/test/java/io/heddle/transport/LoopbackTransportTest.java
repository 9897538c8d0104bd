package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.testing.LoopbackFabric;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests of the transport over an in-memory network, which can do things that are rare on a real
 * one.
 */
class LoopbackTransportTest extends EndingSuite {
  private final long seed = System.nanoTime();
  private final LoopbackFabric fabric = new LoopbackFabric(seed);

  @Override
  Ends ends(List<Integer> left, List<Integer> right, Map<String, String> more) {
    return new Ends(fabric, folder, left, right, more);
  }

  @Override
  int lateBytes() {
    return 64 << 20;
  }

  @Test
  @WholeRunOnly
  void aMessageOfOneGibibyteArrives() {
    long length = 1L << 30;
    long from = MemoryCalls.mapMemory(length);
    long to = MemoryCalls.mapMemory(length);
    assertTrue(from > 0 && to > 0, "mmap");
    try (Ends ends = ends(FOUR, FOUR, Map.of());
        Ends.Link link = ends.connect()) {
      /*
       * Marks the last word and one word per million bytes, so every chunk has marks inside, not
       * only at its edges.
       */
      for (long at = length - Long.BYTES; at >= 0; at -= 1_000_000) {
        Memory.ALL.set(Memory.NATIVE_LONG, from + at, at + 1);
      }
      long handle = link.receiver().registerMemory(to, length, 1);
      long fromHandle = link.sender().registerMemory(from, length, 1);
      long receive = ends.receive(link, to, length, 1, handle);
      long send = Ends.send(link, from, length, 1, fromHandle);
      Ends.await(
          "completion",
          () -> {
            Ends.progress(link);
            return Ends.isDone(receive) && Ends.isDone(send);
          });
      assertEquals((int) length, Ends.size(receive, 0));
      for (long at = length - Long.BYTES; at >= 0; at -= 1_000_000) {
        assertEquals(at + 1, (long) Memory.ALL.get(Memory.NATIVE_LONG, to + at), "at " + at);
      }
    } finally {
      MemoryCalls.unmapMemory(from, length);
      MemoryCalls.unmapMemory(to, length);
    }
  }

  @Test
  void sendCompletesIfTheReceiverClosesBeforeTheLastAcknowledgements() {
    try (Ends ends = ends(FOUR, FOUR, Map.of())) {
      Ends.Link link = ends.connect();
      long from = ends.memory(1 << 20);
      long to = ends.memory(1 << 20);
      long handle = link.receiver().registerMemory(to, 1 << 20, 1);
      long fromHandle = link.sender().registerMemory(from, 1 << 20, 1);
      long receive = ends.receive(link, to, 1 << 20, 1, handle);
      long send = Ends.send(link, from, 1 << 20, 1, fromHandle);
      fabric.holdAcknowledgements(true);
      Ends.finish(link, receive);
      link.receiver().close();
      /* The Closing message travels by TCP and overtakes the acknowledgements. */
      long start = System.nanoTime();
      while (System.nanoTime() - start < 200_000_000) {
        assertEquals(0, link.sender().progress(), ends.log.toString());
      }
      fabric.holdAcknowledgements(false);
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

  @ParameterizedTest
  @CsvSource({"1, true", "0, false"})
  void reportedQueuePairErrorEndsTheConnectionAtBothEndsIfConfigured(String setting, boolean ends) {
    try (Ends both = ends(FOUR, FOUR, Map.of("NCCL_IB_RETURN_ASYNC_EVENTS", setting));
        Ends.Link link = both.connect();
        Ends.Link other = both.connect()) {
      int number = link.receiving().pairs().subFlows()[2].pair.queuePair().number();
      fabric.raise(AsyncEventListener.Kind.PORT_ERROR, number);
      fabric.raise(AsyncEventListener.Kind.QUEUE_PAIR_ACCESS_ERROR, number);
      String story = "device loopback0 reports QUEUE_PAIR_ACCESS_ERROR on QP %#x".formatted(number);
      String line = (ends ? "INFO " : "WARN ") + story + ": 127.0.77.1 pid ";
      Ends.await("event", () -> both.log.stream().anyMatch(each -> each.startsWith(line)));
      long from = both.memory(64);
      long fromHandle = link.sender().registerMemory(from, 64, 1);
      if (ends) {
        /* No thread of NCCL drives the receiver: its control thread notifies the sender. */
        Ends.await(
            "failure of the sender",
            () -> link.sender().isend(from, 64, 1, fromHandle) == -TransportResult.REMOTE_ERROR);
        assertTrue(both.line("sending connection").contains("the other end failed: " + story));
        assertEquals(TransportResult.SYSTEM_ERROR, link.receiver().progress());
        assertTrue(both.line("receiving connection").contains(story));
      } else {
        both.exchange(link, 1000, 1000, 1);
      }
      both.exchange(other, 1000, 1000, 1);
    }
  }

  @Test
  void endOfThePeersProcessFailsBothDirectionsWithOneLineEach() {
    Ends ends = ends(FOUR, FOUR, Map.of());
    Ends.Link link = ends.connect();
    long from = ends.memory(64);
    long fromHandle = link.sender().registerMemory(from, 64, 1);
    assertEquals(0, link.sender().isend(from, 64, 1, fromHandle));
    ends.right.close();
    Ends.await(
        "remote error",
        () -> link.sender().isend(from, 64, 1, fromHandle) == -TransportResult.REMOTE_ERROR);
    assertEquals(TransportResult.REMOTE_ERROR, link.sender().progress());
    ends.line("sending connection");
    link.sender().close();
    ends.left.close();
    assertEquals(Map.of(), ends.left.openObjects());
    ends.arena.close();
  }
}
