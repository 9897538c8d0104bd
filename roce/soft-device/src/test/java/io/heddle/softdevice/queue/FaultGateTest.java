package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.DropCounters;
import io.heddle.softdevice.faults.FaultGate;
import io.heddle.softdevice.faults.Faults;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests parsing of HEDDLE_SOFT_FAULTS and the effect of each fault. */
class FaultGateTest {
  @Test
  void everyFaultNameIsAccepted() {
    assertEquals(
        new Faults(0.5, 0.1, 0, 0.25, 0.01, 0.125, 100_000, 20, -7),
        Faults.parse(
            " loss=0.5, duplicate=0.1"
                + " ,reorder=0,corrupt=0.25,ghost=0.01,send-loss=0.125,delay-us=100000,ghost-ms=20,seed=-7"));
    assertEquals(new Faults(0, 0, 0, 0, 0, 0, 0, 500, 1), Faults.parse("delay-us=0"));
    assertNull(Faults.parse(null));
    assertNull(Faults.parse("  "));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          los=0.1                                     | "los=0.1" is not understood: did you mean loss?
          delay=5                                     | did you mean delay-us?
          ghost-ms=0                                  | the delay is outside 1 to 10000
          loss                                        | "loss" is not understood: the value isn't a number
          loss=0.51                                   | "loss=0.51" is not understood: the share is outside 0 to 0.5
          loss=-0.01                                  | the share is outside 0 to 0.5
          loss=NaN                                    | the share is outside 0 to 0.5
          loss=0.1,,seed=1                            | "" is not understood: did you mean
          delay-us=100001                             | the delay is outside 0 to 100000
          delay-us=-1                                 | the delay is outside 0 to 100000
          delay-us=0.5                                | the value isn't a number
          loss=0.5,reorder=0.4,corrupt=0.2            | the shares make 1.100 together
          """)
  void malformedFaultNamesAllowedValues(String value, String message) {
    HeddleException refusal = assertThrows(HeddleException.class, () -> Faults.parse(value));
    String text = String.valueOf(refusal.getMessage());
    assertTrue(text.contains(message), text);
    assertTrue(text.contains(Faults.VARIABLE) && text.contains("delay-us"), text);
  }

  @Test
  void seedDecidesWhichPacketsAreDropped() {
    assertEquals(outgoing(7), outgoing(7), "the same seed");
    assertNotEquals(outgoing(7), outgoing(8), "another seed");
    double share = outgoing(7).chars().filter(each -> each == '-').count() / 4000.0;
    assertEquals(0.1, share, 0.02);
  }

  private static String outgoing(long seed) {
    try (Arena arena = Arena.ofConfined()) {
      FaultGate gate = new FaultGate(arena, new Faults(0, 0, 0, 0, 0, 0.1, 0, 500, seed));
      assertTrue(gate.dropsOutgoing());
      StringBuilder packets = new StringBuilder();
      for (int i = 0; i < 4000; i++) {
        packets.append(gate.passesOutgoing() ? '+' : '-');
      }
      return packets.toString();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void lossInBothDirectionsIsRepaired(boolean standard) {
    try (SoftPair pair = new SoftPair("loss=0.05,send-loss=0.05,seed=11", 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, !standard, 14);
      b.postEmptyReceives(1, 1);
      a.postSend(pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, 500_000, pair.right));
      assertEquals(Status.SUCCESS, pair.await(pair.right).status);
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
    }
  }

  @Test
  void delayVariesByAQuarterFromSeed() {
    long first = dueOfFirstPacket(7);
    assertEquals(first, dueOfFirstPacket(7), "the same seed");
    assertNotEquals(first, dueOfFirstPacket(8), "another seed");
    for (long seed = 1; seed < 20; seed++) {
      long due = dueOfFirstPacket(seed);
      assertTrue(due >= 150_000 && due <= 250_000, "seed " + seed + ": " + due);
    }
  }

  private static long dueOfFirstPacket(long seed) {
    try (Arena arena = Arena.ofConfined()) {
      long packet = Memory.allocate(arena, 64, 8);
      FaultGate gate = new FaultGate(arena, new Faults(0, 0, 0, 0, 0, 0, 200, 500, seed));
      assertFalse(gate.passes(java.nio.ByteBuffer.allocate(0), 0, packet, 64, 1, 2, 3, 0));
      return gate.dueNs();
    }
  }

  @Test
  void varyingDelayKeepsOrder() {
    try (SoftPair pair = new SoftPair("delay-us=1000,seed=3", 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, true, 16);
      b.postEmptyReceives(1, 1);
      long start = System.nanoTime();
      a.postSend(pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, 100_000, pair.right));
      assertEquals(Status.SUCCESS, pair.await(pair.right).status);
      assertTrue(System.nanoTime() - start >= 750_000, "there");
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      assertTrue(System.nanoTime() - start >= 1_500_000, "there and back");
      assertEquals(
          0, pair.right.context.engine().counters.drops().get(DropCounters.Reason.OUT_OF_ORDER));
    }
  }

  @Test
  void lateDuplicateHasNoEffect() {
    try (SoftPair pair = new SoftPair("ghost=0.2,ghost-ms=60,seed=11", 1 << 20)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      int messages = 40;
      b.postEmptyReceives(1, messages);
      for (int i = 0; i < messages; i++) {
        Memory.ALL.set(ValueLayout.JAVA_BYTE, pair.left.mr.address() + i, (byte) (i + 1));
        a.postSend(pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, i, i, 1, pair.right));
        assertEquals(Status.SUCCESS, pair.await(pair.right).status);
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
        Memory.clear(pair.right.mr.address() + i, 1);
      }
      /* Waits for twice the delay after the last packet, and until a duplicate has arrived. */
      long start = System.nanoTime();
      Deadline deadline = Deadline.ofSeconds(20);
      while (System.nanoTime() - start < 120_000_000L
          || pair.right.context.engine().counters.drops().get(DropCounters.Reason.DUPLICATE) == 0) {
        pair.progress();
        assertFalse(deadline.isOver(), "no ghost has come");
      }
      for (int i = 0; i < messages; i++) {
        assertEquals(0, Memory.ALL.get(ValueLayout.JAVA_BYTE, pair.right.mr.address() + i));
      }
    }
  }
}
