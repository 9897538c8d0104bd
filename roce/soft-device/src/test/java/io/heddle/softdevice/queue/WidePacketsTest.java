package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests soft devices that agree on packets larger than RoCEv2 allows, if both links support them.
 */
class WidePacketsTest {
  private static final int BYTES = 1 << 20;
  /* Offset of the packet size in the endpoint parameters. */
  private static final int SIZE_AT = 12;

  private final Random random = new Random(7);

  @ParameterizedTest
  @CsvSource({
    "9000, 8704",
    "9216, 8960",
    "65536, 8960",
    "4500, 4352",
    "4196, 4096",
    "4179, 3840",
    "1500, 1280",
    "1280, 1024",
    "68, 256",
  })
  void linkPayloadIsWholeBlocksWithinMtu(int linkMtu, int writeBytes) {
    assertEquals(writeBytes, PacketSizes.onLink(linkMtu));
  }

  @ParameterizedTest
  @CsvSource({
    /*
     * columns: requested path MTU; packet sizes of the own link, of the peer's link and of the
     * route; agreed sizes of sent and of received packets
     */
    "4096, 8704, 8704, 8704, 8704, 8704",
    "4096, 8704, 8960, 8960, 8704, 8704",
    "4096, 8960, 4352, 8960, 4352, 4352",
    "4096, 8704, 8704, 1280, 4096, 8704",
    "4096, 8704, 1280, 8704, 4096, 4096",
    "4096, 4096, 4096, 4096, 4096, 4096",
    "2048, 3840, 3840, 3840, 2048, 2048",
    "1024, 1280, 8704, 1280, 1024, 1024",
    "1024, 8704, 8704, 8704, 1024, 1024",
    "256, 256, 256, 256, 256, 256",
  })
  void smallerLinkOrRequestedPathMtuDecides(
      int asked, int own, int peers, int onRoute, int sent, int taken) {
    PathMtu mtu = PathMtu.valueOf("MTU_" + asked);
    assertEquals(new PacketSizes(asked, sent, taken), PacketSizes.agreed(mtu, own, peers, onRoute));
  }

  @ParameterizedTest
  @CsvSource({"4096", "4352", "6144", "8704", "8960"})
  void preferredWriteIsOneTrainAtEverySize(int writeBytes) {
    int preferred = SoftContext.preferredWrite(PathMtu.MTU_4096);
    int full = (preferred - 1) / writeBytes;
    int closing =
        PacketFormat.WRITE_ONLY_BYTES
            + PacketFormat.IMMEDIATE_BYTES
            + preferred
            - full * writeBytes;
    int train = full * (writeBytes + PacketFormat.WRITE_ONLY_BYTES) + closing;
    assertTrue(train <= PacketSizes.TRAIN_BYTES, "bytes: " + train);
  }

  /* Returns the endpoint parameters with this packet size. */
  private static byte[] withWriteBytes(byte[] parameters, int writeBytes) {
    byte[] changed = parameters.clone();
    ByteBuffer.wrap(changed).putShort(SIZE_AT, (short) writeBytes);
    return changed;
  }

  private static void moveToReadyToSend(
      QueuePair qp, QueuePair peer, SoftPair.Side side, byte[] parameters) {
    qp.readyToReceive(
        new ReadyToReceiveAttributes(
            PathMtu.MTU_4096,
            side.context.gidTable().entries().getFirst().gid(),
            peer.number(),
            SoftPair.PSN,
            parameters,
            1,
            0,
            0));
    qp.readyToSend(new ReadyToSendAttributes(SoftPair.PSN, 16, 7, 7));
  }

  @ParameterizedTest
  @CsvSource({"8960, 8960", "8704, 8704", "4352, 4352", "4096, 4096", "1280, 4096", "65280, 8960"})
  void packetsFitPeersLink(int named, int packet) {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      a.initialise(0);
      b.initialise(0);
      moveToReadyToSend(a, b, pair.right, withWriteBytes(b.endpointParameters(), named));
      /*
       * b sends with its own link's size, and receives packets of at most the smaller of both
       * sizes.
       */
      moveToReadyToSend(b, a, pair.left, withWriteBytes(a.endpointParameters(), named));
      int bytes = 1_000_000;
      write(pair, a, b, 1); /* once this write has arrived, the path has been probed */
      long before = packetsSent(pair.left);
      write(pair, a, b, bytes);
      assertEquals(
          bytes / packet + 1, packetsSent(pair.left) - before, "packets of " + packet + " bytes");
    }
  }

  /*
   * Returns the number of packets sent, without retransmissions. On a busy machine the device may
   * have probed its peer with retransmissions.
   */
  private static long packetsSent(SoftPair.Side side) {
    Counters counters = side.context.engine().counters;
    return counters.packetsSent() - counters.packetsResent();
  }

  private static long packetsReceived(SoftPair.Side side) {
    long[] received = {-1};
    side.context.readCounters((name, value) -> {
      if (name.equals("packets_received")) {
        received[0] = value;
      }
    });
    return received[0];
  }

  private void write(SoftPair pair, QueuePair a, QueuePair b, int bytes) {
    byte[] wanted = new byte[bytes];
    random.nextBytes(wanted);
    MemorySegment.copy(MemorySegment.ofArray(wanted), 0, Memory.ALL, pair.left.mr.address(), bytes);
    assertEquals(0, b.postEmptyReceives(1, 1));
    assertEquals(
        1,
        a.postSend(
            pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, bytes, pair.right)));
    assertEquals(Status.SUCCESS, pair.await(pair.right).status);
    assertEquals(Status.SUCCESS, pair.await(pair.left).status);
    long to = pair.right.mr.address();
    assertEquals(
        -1,
        MemorySegment.mismatch(
            MemorySegment.ofArray(wanted), 0, bytes, Memory.ALL, to, to + bytes));
  }

  @Test
  void packetLargerThanAgreedIsRejected() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      a.initialise(0);
      b.initialise(0);
      moveToReadyToSend(a, b, pair.right, b.endpointParameters());
      moveToReadyToSend(b, a, pair.left, withWriteBytes(a.endpointParameters(), 4352));
      write(pair, a, b, 1);
      Memory.ALL.asSlice(pair.right.mr.address(), 1).fill((byte) 0);
      assertEquals(0, b.postEmptyReceives(1, 1));
      assertEquals(
          1,
          a.postSend(
              pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, BYTES, pair.right)));
      assertEquals(Status.REMOTE_INVALID_REQUEST_ERROR, pair.await(pair.left).status);
      MemorySegment region = Memory.ALL.asSlice(pair.right.mr.address(), BYTES);
      assertEquals(-1, region.mismatch(MemorySegment.ofArray(new byte[BYTES])), "placed");
    }
  }

  @ParameterizedTest
  @CsvSource({"0", "255", "4100"})
  void invalidSizeIsRejected(int named) {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      a.initialise(0);
      b.initialise(0);
      byte[] parameters = withWriteBytes(b.endpointParameters(), named);
      VerbsException refused =
          assertThrows(VerbsException.class, () -> moveToReadyToSend(a, b, pair.right, parameters));
      assertTrue(
          String.valueOf(refused.getMessage()).contains("packets of " + named),
          refused.getMessage());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "1", "4095", "4097", "8956", "8957", "8959", "8960", "8961", "17920", "62719", "62721"
  })
  void everyLengthAroundAPacketArrives(int bytes) {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, false, 16);
      write(pair, a, b, bytes);
      write(pair, a, b, bytes); /* this second write uses wide packets */
    }
  }

  @Test
  void sendsAndReadsUsePathMtu() {
    try (SoftPair pair = new SoftPair("", BYTES)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_4096, false, 16);
      int bytes = 100_000;
      for (int i = 0; i < bytes; i++) {
        Memory.ALL.set(
            java.lang.foreign.ValueLayout.JAVA_BYTE, pair.right.mr.address() + i, (byte) (i % 251));
      }
      assertEquals(1, a.postSend(pair.left.request(Operation.RDMA_READ, 1, 0, bytes, pair.right)));
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      long came = packetsReceived(pair.left);
      assertTrue(came >= bytes / 4096, came + " responses");
      long sent = packetsSent(pair.left);
      assertEquals(
          0, b.postReceive(2, pair.right.mr.address() + bytes, bytes, pair.right.mr.lkey()));
      assertEquals(1, a.postSend(pair.left.request(Operation.SEND, 2, 0, bytes, pair.right)));
      assertEquals(bytes, pair.await(pair.right).lengthBytes);
      assertEquals(Status.SUCCESS, pair.await(pair.left).status);
      assertTrue(packetsSent(pair.left) - sent >= bytes / 4096);
      long left = pair.left.mr.address();
      long right = pair.right.mr.address();
      assertEquals(
          -1,
          MemorySegment.mismatch(Memory.ALL, left, left + bytes, Memory.ALL, right, right + bytes));
      assertEquals(
          -1,
          MemorySegment.mismatch(
              Memory.ALL, left, left + bytes, Memory.ALL, right + bytes, right + 2L * bytes));
    }
  }
}
