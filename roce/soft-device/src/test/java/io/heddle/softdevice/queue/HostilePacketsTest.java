package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.IcrcWriter;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.softdevice.io.Bundle;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.SendWorkRequest.Operation;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests that invalid packets on port 4791 are counted without other effect. */
class HostilePacketsTest {
  private static final int PACKETS = 5_000;
  private static final int PAGE = 4096;

  private static long drops(SoftPair.Side side) {
    long sum = 0;
    for (DropCounters.Reason reason : DropCounters.Reason.values()) {
      sum += side.context.engine().counters.drops().get(reason);
    }
    return sum;
  }

  @Test
  void bytesFromUnknownSourceAreOnlyCounted() throws Exception {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("HostilePacketsTest -Dheddle.seed=" + seed);
    Random random = new Random(seed);
    try (SoftPair pair = new SoftPair("", 1 << 16);
        DatagramSocket socket = new DatagramSocket()) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      b.postEmptyReceives(1, 10);
      InetAddress target = pair.right.context.gidTable().entries().getFirst().gid().toAddress();
      for (int i = 0; i < 2_000; i++) {
        byte[] bytes = new byte[random.nextInt(200)];
        random.nextBytes(bytes);
        if (bytes.length > 12 && random.nextBoolean()) {
          bytes[0] = (byte) (random.nextInt(4) == 0 ? PacketFormat.BUNDLE : random.nextInt(0x12));
          bytes[1] = 0;
          bytes[2] = (byte) 0xff;
          bytes[3] = (byte) 0xff;
          bytes[5] = (byte) (b.number() >>> 16);
          bytes[6] = (byte) (b.number() >>> 8);
          bytes[7] = (byte) b.number();
        }
        socket.send(new DatagramPacket(bytes, bytes.length, new InetSocketAddress(target, 4791)));
        pair.progress();
      }
      assertTrue(drops(pair.right) > 1_900, "counted " + drops(pair.right));
      assertWorks(pair, a, b);
    }
  }

  @Test
  void malformedPacketsWithValidChecksumAtMostEndQueuePair() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("HostilePacketsTest -Dheddle.seed=" + seed);
    Random random = new Random(seed);
    try (SoftPair pair = new SoftPair("", 1 << 16);
        Arena arena = Arena.ofConfined()) {
      QueuePair a = null;
      QueuePair b = null;
      long packet = Memory.allocate(arena, 5000, 8);
      FlowChecksum flow = new FlowChecksum();
      Gid source = pair.left.context.gidTable().entries().getFirst().gid();
      Gid target = pair.right.context.gidTable().entries().getFirst().gid();
      int ended = 0;
      Memory.ALL.asSlice(pair.right.mr.address(), 1 << 16).fill((byte) 0x5a);
      for (int i = 0; i < PACKETS; i++) {
        if (b == null || b.state() == QueuePairState.ERROR) {
          ended += b == null ? 0 : 1;
          if (a != null) {
            a.close();
            b.close();
          }
          a = pair.left.createQueuePair();
          b = pair.right.createQueuePair();
          pair.connect(a, b, PathMtu.MTU_1024, random.nextBoolean(), 16);
          b.postEmptyReceives(1, 3);
          flow.reset(source, sourcePort(a), target, 4791);
        }
        deliver(pair, a, b, packet, flow, source, random);
        while (pair.right.cq.poll(pair.right.one) > 0) {
          /* Ignores flushed receives, and immediates, which a peer may send at any time. */
        }
      }
      DropCounters counted = pair.right.context.engine().counters.drops();
      assertEquals(
          0, counted.get(DropCounters.Reason.BAD_CHECKSUM), "every packet got as far as it should");
      assertEquals(0, counted.get(DropCounters.Reason.WRONG_SOURCE));
      assertTrue(counted.get(DropCounters.Reason.BAD_LENGTH) > 10, "lengths that don't fit");
      assertTrue(ended > 10, "queue pairs ended: " + ended);
      /* No key was right, so no byte may have been placed. */
      for (int i = 0; i < 1 << 16; i++) {
        assertEquals(0x5a, Memory.ALL.get(ValueLayout.JAVA_BYTE, pair.right.mr.address() + i));
      }
      a.close();
      b.close();
    }
  }

  /*
   * Passes bundles with wrong entries directly to the engine, with the peer's address and port.
   * Unmapped memory follows each bundle, so that a read beyond its end would crash this process.
   */
  @Test
  void bundleEntriesAreValidated() {
    long seed = Long.getLong("heddle.seed", System.nanoTime());
    System.out.println("HostilePacketsTest -Dheddle.seed=" + seed);
    Random random = new Random(seed);
    long pages = MemoryCalls.mapMemory(2 * PAGE);
    long end = pages + PAGE;
    MemoryCalls.unmapMemory(end, PAGE);
    try (SoftPair pair = new SoftPair("", 1 << 16)) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, false, 16);
      b.postEmptyReceives(1, 10);
      Gid source = pair.left.context.gidTable().entries().getFirst().gid();
      Engine engine = pair.right.context.engine();
      for (int i = 0; i < PACKETS; i++) {
        int bytes = 16 + random.nextInt(300) & (random.nextInt(4) == 0 ? -1 : ~3);
        long bundle = end - bytes;
        writeFalseEntries(bundle, end, b.number(), sourcePort(a), random);
        engine.lock.lock();
        try {
          engine.dispatcher.dispatch(
              Memory.ALL.asSlice(bundle, bytes).asByteBuffer(),
              bundle,
              bundle,
              bytes,
              source.high(),
              source.low(),
              sourcePort(a),
              engine.nowNs());
        } finally {
          engine.unlock();
        }
      }
      DropCounters counted = engine.counters.drops();
      for (DropCounters.Reason reason :
          List.of(
              DropCounters.Reason.BAD_LENGTH,
              DropCounters.Reason.UNKNOWN_OPCODE,
              DropCounters.Reason.UNKNOWN_QUEUE_PAIR,
              DropCounters.Reason.WRONG_SOURCE,
              DropCounters.Reason.BAD_CHECKSUM)) {
        assertTrue(counted.get(reason) > 10, reason + ": " + counted.get(reason));
      }
      assertEquals(QueuePairState.READY_TO_SEND, b.state());
      assertWorks(pair, a, b);
    } finally {
      MemoryCalls.unmapMemory(pages, PAGE);
    }
  }

  private static void writeFalseEntries(
      long bundle, long end, int queuePair, int port, Random random) {
    for (long at = bundle; at < end; at++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
    }
    PacketFormat.writeBase(bundle, PacketFormat.BUNDLE, 0, queuePair, 0);
    long at = bundle + PacketFormat.BTH_BYTES;
    while (end - at >= Bundle.ENTRY_BYTES + PacketFormat.BTH_BYTES) {
      int room = (int) (end - at) - Bundle.ENTRY_BYTES;
      int length = Math.min(room, 16 + 4 * random.nextInt(20));
      int told = random.nextInt(6) == 0 ? random.nextInt(1 << 16) : length;
      int from = random.nextInt(4) == 0 ? random.nextInt(1 << 16) : port;
      Memory.ALL.set(Memory.NETWORK_INT, at, told << 16 | from);
      int opcode = random.nextInt(8) == 0 ? PacketFormat.BUNDLE : random.nextInt(0x12);
      int to = random.nextInt(6) == 0 ? random.nextInt(1 << 24) : queuePair;
      PacketFormat.writeBase(at + Bundle.ENTRY_BYTES, opcode, 0, to, random.nextInt());
      at += Bundle.ENTRY_BYTES + length;
    }
  }

  /*
   * Passes a packet directly to the engine, with the checksum that the peer would write. Sometimes
   * it is truncated, so that lengths and pads are wrong too.
   */
  private static void deliver(
      SoftPair pair,
      QueuePair a,
      QueuePair b,
      long packet,
      FlowChecksum flow,
      Gid source,
      Random random) {
    int opcode = random.nextInt(0x12);
    int extended = PacketFormat.extendedHeaderBytes(opcode);
    int payload = random.nextInt(8) == 0 ? random.nextInt(2000) : random.nextInt(64);
    int pad = random.nextInt(8) == 0 ? random.nextInt(4) : -payload & 3;
    PacketFormat.writeBase(packet, opcode, pad, b.number(), SoftPair.PSN + random.nextInt(12) - 4);
    for (int i = PacketFormat.BTH_BYTES; i < 64; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + i, (byte) random.nextInt());
    }
    if (PacketFormat.hasReth(opcode)) {
      int key = pair.right.mr.rkey() ^ (1 + random.nextInt(1 << 20));
      int length = random.nextBoolean() ? payload : random.nextInt();
      PacketFormat.writeReth(
          packet + PacketFormat.BTH_BYTES,
          pair.right.mr.address() + random.nextInt(70_000),
          key,
          length);
    }
    int covered = PacketFormat.BTH_BYTES + Math.max(0, extended + payload + pad);
    if (random.nextInt(8) == 0) {
      covered = PacketFormat.BTH_BYTES + random.nextInt(40);
    }
    new IcrcWriter(packet, 5000, flow).write(packet, covered & ~3);
    Engine engine = pair.right.context.engine();
    engine.lock.lock();
    try {
      engine.dispatcher.dispatch(
          Memory.ALL.asSlice(packet, 5000).asByteBuffer(),
          packet,
          packet,
          (covered & ~3) + PacketFormat.ICRC_BYTES,
          source.high(),
          source.low(),
          sourcePort(a),
          engine.nowNs());
    } finally {
      engine.unlock();
    }
  }

  private static int sourcePort(QueuePair a) {
    return EndpointParameters.parse(a.endpointParameters(), "the peer")
        .ends()
        .getFirst()
        .sourcePort();
  }

  private static void assertWorks(SoftPair pair, QueuePair a, QueuePair b) {
    long from = pair.left.mr.address();
    for (int i = 0; i < 9_000; i++) {
      Memory.ALL.set(ValueLayout.JAVA_BYTE, from + i, (byte) (i * 31));
    }
    assertEquals(
        1,
        a.postSend(
            pair.left.request(Operation.RDMA_WRITE_WITH_IMMEDIATE, 1, 0, 9_000, pair.right)));
    assertEquals(Status.SUCCESS, pair.await(pair.right).status);
    assertEquals(Status.SUCCESS, pair.await(pair.left).status);
    long to = pair.right.mr.address();
    assertEquals(
        -1, MemorySegment.mismatch(Memory.ALL, from, from + 9_000, Memory.ALL, to, to + 9_000));
  }
}
