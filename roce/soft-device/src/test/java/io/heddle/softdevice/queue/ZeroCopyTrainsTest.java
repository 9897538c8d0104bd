package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.TransmitRing;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.LinkEnd;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.softdevice.io.DatagramReceiver;
import io.heddle.softdevice.io.UdpSocket;
import io.heddle.verbs.DeviceTrial;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests zero-copy trains, whose pages the kernel reads in place. The pages must stay unchanged
 * until their packets are acknowledged.
 */
class ZeroCopyTrainsTest {
  private static final int BYTES = 1 << 20;

  private static void assumeZeroCopy() {
    try (SoftPair pair = new SoftPair("", 4096)) {
      if (!pair.left.context.engine().sendStage.supportsZeroCopy()) {
        String why = "this kernel copies what comes out of a pipe";
        System.out.println("skipped: " + why);
        Assumptions.abort(why);
      }
    }
  }

  private static byte[] fill(SoftPair pair, Random random) {
    byte[] wanted = new byte[BYTES];
    random.nextBytes(wanted);
    MemorySegment.copy(MemorySegment.ofArray(wanted), 0, Memory.ALL, pair.left.mr.address(), BYTES);
    return wanted;
  }

  private static long dropped(SoftPair.Side side, DropCounters.Reason reason) {
    return side.context.engine().counters.drops().get(reason);
  }

  /* The peer reads the packets from its socket only after the sender has probed. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void probedTrainStaysUnchanged(boolean standard) throws Exception {
    assumeZeroCopy();
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      pair.connect(a, pair.right.createQueuePair(), PathMtu.MTU_4096, standard, 14);
      for (int round = 0; round < 5; round++) {
        byte[] wanted = fill(pair, new Random(round));
        Engine stalled = pair.right.context.engine();
        long before = a.resentPackets();
        stalled.lock.lock();
        try {
          a.postSend(pair.left.request(Operation.RDMA_WRITE, round, 0, BYTES, pair.right));
          Deadline deadline = Deadline.ofSeconds(20);
          while (a.resentPackets() == before) {
            pair.left.context.progress();
            assertFalse(deadline.isOver(), "it hasn't asked");
          }
        } finally {
          stalled.unlock();
        }
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
        byte[] got = Memory.toArray(pair.right.mr.address(), BYTES);
        assertArrayEquals(wanted, got);
      }
      assertEquals(0, dropped(pair.right, DropCounters.Reason.BAD_CHECKSUM));
    }
  }

  /* Returns the sending device's counters after this number of writes. */
  private static Map<String, Long> countOfWrites(int writes) {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      pair.connect(a, pair.right.createQueuePair(), PathMtu.MTU_4096, false, 14);
      for (int i = 0; i < writes; i++) {
        byte[] wanted = fill(pair, new Random(i));
        a.postSend(pair.left.request(Operation.RDMA_WRITE, i, 0, BYTES, pair.right));
        assertEquals(Status.SUCCESS, pair.await(pair.left).status);
        assertArrayEquals(wanted, Memory.toArray(pair.right.mr.address(), BYTES));
      }
      Map<String, Long> counted = new HashMap<>();
      pair.left.context.readCounters(counted::put);
      pair.right.context.readCounters((name, value) -> {
        if (name.startsWith("trains_")) {
          assertEquals(0, value, name + " of the one that only answers");
        }
      });
      return counted;
    }
  }

  @Test
  void zeroCopyTrainsAreCounted() {
    assumeZeroCopy();
    Map<String, Long> counted = countOfWrites(3);
    assertEquals(0, counted.get("trains_copied"));
    long most = 3 * BYTES / (1 << 15);
    long least = 3 * BYTES / TransmitRing.SLOT_BYTES;
    long zeroCopy = counted.get("trains_zero_copy");
    assertTrue(zeroCopy >= least && zeroCopy <= most, zeroCopy + " trains");
  }

  @Test
  void olderKernelCountsCopies() {
    String kernel = System.getProperty("os.version");
    System.setProperty("os.version", "5.15.0-91-generic");
    try {
      Map<String, Long> counted = countOfWrites(3);
      assertEquals(0, counted.get("trains_zero_copy"));
      assertTrue(counted.get("trains_copied") >= 3 * BYTES / TransmitRing.SLOT_BYTES);
    } finally {
      System.setProperty("os.version", kernel);
    }
  }

  /* Returns all copies of this packet that the socket received. */
  private static List<byte[]> copies(UdpSocket socket, int psn, Arena arena) {
    DatagramReceiver receiver = new DatagramReceiver(arena);
    List<byte[]> copies = new ArrayList<>();
    int datagrams = receiver.receive(socket.fd());
    while (datagrams > 0) {
      for (int i = 0; i < datagrams; i++) {
        int length = receiver.lengthBytes(i);
        for (int at = 0; at < length; at += receiver.strideBytes(i)) {
          long packet = receiver.address(i) + at;
          if (PacketFormat.psn(packet) == psn) {
            copies.add(Memory.toArray(packet, Math.min(receiver.strideBytes(i), length - at)));
          }
        }
      }
      datagrams = receiver.receive(socket.fd());
    }
    return copies;
  }

  /*
   * Each transmission has its own tag. The peer's socket isn't read during the test, so the packets
   * in it still are the pages of the sender's slot, and a changed tag would show in them.
   */
  @Test
  void retransmissionChangesCopyOnly() {
    assumeZeroCopy();
    try (SoftPair pair = new SoftPair("", BYTES);
        Arena arena = Arena.ofConfined()) {
      byte[] wanted = fill(pair, new Random(1));
      Gid own = pair.left.context.gidTable().entries().getFirst().gid();
      Gid peer = new Gid(own.high(), own.low() & ~0xffL | 200);
      try (UdpSocket unread = UdpSocket.bind(peer, 0, PacketFormat.ROCE_PORT, true)) {
        var ends = List.of(new LinkEnd(new Gid(0, 0), unread.port(), 49_152));
        byte[] soft = new EndpointParameters(4 << 20, 4096, ends).toBytes();
        QueuePair a = pair.left.createQueuePair();
        a.initialise(pair.left.gidIndexes());
        a.readyToReceive(
            new ReadyToReceiveAttributes(PathMtu.MTU_4096, peer, 77, SoftPair.PSN, soft, 1, 0, 0));
        a.readyToSend(new ReadyToSendAttributes(SoftPair.PSN, 14, 7, 7));
        a.postSend(pair.left.request(Operation.RDMA_WRITE, 1, 0, BYTES, pair.right));
        Deadline deadline = Deadline.ofSeconds(20);
        while (a.resentPackets() < 2 && !deadline.isOver()) {
          pair.left.context.progress();
        }
        assertTrue(a.resentPackets() >= 2, "it has probed twice");
        Map<String, Long> counted = new HashMap<>();
        pair.left.context.readCounters(counted::put);
        assertTrue(counted.get("trains_zero_copy") > 0, "nothing was lent");

        List<byte[]> copies = copies(unread, SoftPair.PSN, arena);
        assertTrue(copies.size() >= 3, copies.size() + " copies");
        byte[] first = copies.getFirst();
        int header = PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES;
        for (byte[] again : copies.subList(1, copies.size())) {
          assertFalse(Arrays.equals(first, again), "it tells of a later sending");
          assertEquals(-1, mismatch(wanted, again, header), "payload of what is sent again");
        }
        assertEquals(-1, mismatch(wanted, first, header), "payload of what was lent");
      }
    }
  }

  private static int mismatch(byte[] wanted, byte[] packet, int header) {
    return Arrays.mismatch(wanted, 0, 4096, packet, header, header + 4096);
  }

  @Test
  void trialReportsHostsAbility() {
    assumeZeroCopy();
    try (SoftPair pair = new SoftPair("", 4096)) {
      List<DeviceTrial> trials = pair.left.context.runTrials();
      assertEquals(
          List.of(DeviceTrial.Verdict.WORKS), trials.stream().map(DeviceTrial::verdict).toList());
      assertTrue(trials.getFirst().sentence().contains("tried"), trials.toString());
    }
  }
}
