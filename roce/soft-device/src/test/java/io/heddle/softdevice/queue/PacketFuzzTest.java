package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.IcrcWriter;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Tests arbitrary bytes on port 4791 and arbitrary peer parameters; with {@code JAZZER_FUZZ=1} the
 * fuzzer searches further.
 */
class PacketFuzzTest {
  private static final int LONGEST = 9000;

  /*
   * Passes bytes to the existing queue pair, with the checksum that the peer would write, so that
   * they pass the first checks.
   */
  @FuzzTest(maxDuration = "30s")
  void anyPacketIsProcessedOrCounted(byte[] bytes) {
    int length = Math.min(bytes.length, LONGEST);
    try (SoftPair pair = new SoftPair("", 1 << 16);
        Arena arena = Arena.ofConfined()) {
      QueuePair a = pair.left.createQueuePair();
      QueuePair b = pair.right.createQueuePair();
      pair.connect(a, b, PathMtu.MTU_1024, (bytes.length & 1) != 0, 16);
      b.postEmptyReceives(1, 2);
      Gid source = pair.left.context.gidTable().entries().getFirst().gid();
      Gid target = pair.right.context.gidTable().entries().getFirst().gid();
      int port =
          EndpointParameters.parse(a.endpointParameters(), "the peer")
              .ends()
              .getFirst()
              .sourcePort();
      long packet = Memory.allocate(arena, LONGEST + 8, 8);
      MemorySegment.copy(MemorySegment.ofArray(bytes), 0, Memory.ALL, packet, length);
      if (length >= PacketFormat.BTH_BYTES + PacketFormat.ICRC_BYTES) {
        Memory.ALL.set(Memory.NETWORK_INT, packet + 4, b.number());
        FlowChecksum flow = new FlowChecksum();
        flow.reset(source, port, target, 4791);
        new IcrcWriter(packet, LONGEST + 8, flow).write(packet, length - PacketFormat.ICRC_BYTES);
      }
      ByteBuffer view = Memory.ALL.asSlice(packet, LONGEST + 8).asByteBuffer();
      Engine engine = pair.right.context.engine();
      engine.lock.lock();
      try {
        engine.dispatcher.dispatch(
            view, packet, packet, length, source.high(), source.low(), port, engine.nowNs());
      } finally {
        engine.unlock();
      }
      /* The fuzzer doesn't know the region's key, so no packet writes to the region. */
      MemorySegment region = Memory.ALL.asSlice(pair.right.mr.address(), 1 << 16);
      assertEquals(-1, region.mismatch(MemorySegment.ofArray(new byte[1 << 16])));
    }
  }

  @FuzzTest(maxDuration = "10s")
  void anyParametersAreParsedOrRejected(byte[] bytes) {
    try {
      EndpointParameters read = EndpointParameters.parse(bytes, "the fuzzer's");
      assertTrue(read.receiveBufferBytes() > 0);
      assertTrue(read.ends().size() <= EndpointParameters.MOST_LINKS);
      assertTrue(read.ends().stream().anyMatch(end -> end.port() > 0));
      assertTrue(read.ends().stream().allMatch(end -> end.port() == 0 == (end.sourcePort() == 0)));
    } catch (VerbsException refused) {
      assertTrue(refused.getMessage().contains("the fuzzer's"));
    }
  }
}
