package io.heddle.softdevice.queue;

import io.heddle.platform.Memory;
import io.heddle.platform.testing.TestShim;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.responder.WriteBatchReceiver;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.IcrcWriter;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;

/**
 * Separate program that compares C's processing of consecutive packets with Java's. It is separate
 * since a JVM looks up the C functions only once, and the other tests need a JVM without them. Its
 * argument is {@code SEED}. It exits with 0, with 3 if the processor lacks the instructions, or
 * with an exception if C and Java differ.
 */
final class WriteBatchReceiverRun {
  private static final int REGION_BYTES = 1 << 17;
  private static final int LONGEST = 1 << 16;
  private static final int TRAINS = 30;
  private static final int SCENARIOS = 150;

  private final Random random;
  private final SoftPair pair = new SoftPair("", REGION_BYTES);
  private final Arena arena = Arena.ofConfined();
  private final long train = Memory.allocate(arena, LONGEST, 64);
  private final ByteBuffer view = Memory.ALL.asSlice(train, LONGEST).asByteBuffer();
  private final FlowChecksum flow = new FlowChecksum();
  private final IcrcWriter icrc = new IcrcWriter(train, LONGEST, flow);
  private final List<String> steps = new ArrayList<>();
  private final QueuePair a = pair.left.createQueuePair();
  private final QueuePair b = pair.right.createQueuePair();
  private final int mtu;
  private final int port;
  private int psn = SoftPair.PSN;

  private WriteBatchReceiverRun(long seed, boolean inC) {
    random = new Random(seed);
    PathMtu negotiated = random.nextBoolean() ? PathMtu.MTU_1024 : PathMtu.MTU_512;
    mtu = negotiated.bytes();
    if (inC) {
      pair.right.faults().open();
    }
    pair.connect(a, b, negotiated, random.nextInt(8) == 0, 16);
    b.postEmptyReceives(1, 4);
    EndpointParameters ours = EndpointParameters.parse(a.endpointParameters(), "left");
    EndpointParameters theirs = EndpointParameters.parse(b.endpointParameters(), "right");
    port = ours.ends().getFirst().sourcePort();
    flow.reset(gid(pair.left), port, gid(pair.right), theirs.ends().getFirst().port());
  }

  public static void main(String[] arguments) throws Throwable {
    if (!TestShim.registerPacketCalls()) {
      System.exit(3);
    }
    check(WriteBatchReceiver.isEligible(1024 + PacketFormat.WRITE_ONLY_BYTES), "C isn't asked");
    long seed = Long.parseLong(arguments[0]);
    for (int i = 0; i < SCENARIOS; i++) {
      List<String> inC = new WriteBatchReceiverRun(seed + i, true).run();
      List<String> inJava = new WriteBatchReceiverRun(seed + i, false).run();
      for (int at = 0; at < TRAINS; at++) {
        String told = "seed " + (seed + i) + ", train " + at + ": in C " + inC.get(at);
        check(inC.get(at).equals(inJava.get(at)), told + ", in Java " + inJava.get(at));
      }
    }
    transfer(new Random(seed));
  }

  private static void check(boolean right, String otherwise) {
    if (!right) {
      throw new AssertionError(otherwise);
    }
  }

  private static Gid gid(SoftPair.Side side) {
    return side.context.gidTable().entries().getFirst().gid();
  }

  /* Passes all trains to the receiver. Returns the receiver's state after each of them. */
  private List<String> run() {
    for (int i = 0; i < TRAINS; i++) {
      int payload = random.nextInt(6) == 0 ? 4 * random.nextInt(mtu / 4 + 2) : mtu;
      int stride = payload + PacketFormat.WRITE_ONLY_BYTES;
      int packets = 1 + random.nextInt(14);
      int length = build(payload, stride, packets);
      arrive(length, stride);
      steps.add(describeState());
    }
    a.close();
    b.close();
    pair.close();
    arena.close();
    return steps;
  }

  private String describeState() {
    CRC32 crc = new CRC32();
    crc.update(Memory.ALL.asSlice(pair.right.mr.address(), REGION_BYTES).asByteBuffer());
    StringBuilder seen = new StringBuilder().append(crc.getValue()).append(' ').append(b.state());
    for (DropCounters.Reason reason : DropCounters.Reason.values()) {
      seen.append(' ').append(pair.right.context.engine().counters.drops().get(reason));
    }
    while (pair.right.cq.poll(pair.right.one) > 0) {
      WorkCompletion each = pair.right.one[0];
      seen.append(' ').append(each.status).append(each.lengthBytes).append('/');
    }
    return seen.toString();
  }

  /*
   * Builds a train of packets of one write, most of which are valid. The last packet may have the
   * immediate. Returns the train's length in bytes.
   */
  private int build(int payload, int stride, int packets) {
    long remote = pair.right.mr.address() + random.nextInt(REGION_BYTES - packets * (payload + 4));
    boolean closing = random.nextInt(3) == 0;
    if (random.nextInt(12) == 0) {
      psn += random.nextInt(5) - 2; /* leaves a gap, or repeats sequence numbers */
    }
    for (int i = 0; i < packets; i++) {
      long packet = train + (long) i * stride;
      for (int at = 0; at < stride; at += 4) {
        Memory.ALL.set(Memory.NATIVE_INT, packet + at, random.nextInt());
      }
      int third =
          PacketFormat.requestTagAndPsn(
              random.nextInt(6) == 0, random.nextInt(4) == 0 ? random.nextInt(128) : 0, psn++);
      int left = (packets - i) * payload;
      long address = remote + (long) i * payload;
      PacketFormat.writeBaseAndReth(
          packet,
          PacketFormat.WRITE_ONLY,
          0,
          b.number(),
          third,
          address,
          pair.right.mr.rkey(),
          left);
      icrc.write(packet, stride - PacketFormat.ICRC_BYTES);
      if (random.nextInt(80) == 0) {
        corrupt(packet, stride);
      }
    }
    return packets * stride + (closing ? close(train + (long) packets * stride, remote) : 0);
  }

  private int close(long packet, long remote) {
    int bytes = PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES + PacketFormat.IMMEDIATE_BYTES;
    PacketFormat.writeBase(packet, PacketFormat.WRITE_ONLY_WITH_IMMEDIATE, 0, b.number(), psn++);
    PacketFormat.writeReth(packet + PacketFormat.BTH_BYTES, remote, pair.right.mr.rkey(), 0);
    icrc.write(packet, bytes);
    return bytes + PacketFormat.ICRC_BYTES;
  }

  private void corrupt(long packet, int stride) {
    int kind = random.nextInt(10);
    if (kind < 3) {
      long at = packet + random.nextInt(stride);
      byte old = Memory.ALL.get(ValueLayout.JAVA_BYTE, at);
      Memory.ALL.set(ValueLayout.JAVA_BYTE, at, (byte) (old ^ 1 << random.nextInt(8)));
      return;
    }
    if (kind == 3) {
      /* Sets congestion marks, which the checksum doesn't cover. */
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + 4, (byte) 0x40);
      return;
    }
    int at = new int[] {0, 1, 2, 7, 11, 22}[kind - 4];
    byte old = Memory.ALL.get(ValueLayout.JAVA_BYTE, packet + at);
    Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + at, (byte) (old ^ 1 + random.nextInt(255)));
    icrc.write(packet, stride - PacketFormat.ICRC_BYTES);
  }

  private void arrive(int length, int stride) {
    Engine engine = pair.right.context.engine();
    Gid source = gid(pair.left);
    engine.lock.lock();
    try {
      engine.dispatcher.onTrain(
          view, train, train, length, stride, source.high(), source.low(), port, engine.nowNs());
    } finally {
      engine.unlock();
    }
  }

  /* Transfers data over sockets; C code builds and accepts the packets. */
  private static void transfer(Random random) {
    for (PathMtu negotiated : List.of(PathMtu.MTU_1024, PathMtu.MTU_4096)) {
      try (SoftPair pair = new SoftPair("", 1 << 20)) {
        pair.left.faults().open();
        pair.right.faults().open();
        QueuePair a = pair.left.createQueuePair();
        QueuePair b = pair.right.createQueuePair();
        pair.connect(a, b, negotiated, false, 16);
        b.postEmptyReceives(1, 20);
        byte[] bytes = new byte[1 << 20];
        random.nextBytes(bytes);
        MemorySegment source = Memory.ALL.asSlice(pair.left.mr.address(), bytes.length);
        source.copyFrom(MemorySegment.ofArray(bytes));
        for (int i = 0; i < 10; i++) {
          int length = (1 << 20) - random.nextInt(5000);
          MemorySegment target = Memory.ALL.asSlice(pair.right.mr.address(), bytes.length);
          target.fill((byte) 0);
          SendWorkRequest request =
              pair.left.request(
                  SendWorkRequest.Operation.RDMA_WRITE_WITH_IMMEDIATE, i, 0, length, pair.right);
          check(a.postSend(request) == 1, "not posted");
          pair.await(pair.right);
          pair.await(pair.left);
          long mismatch = source.asSlice(0, length).mismatch(target.asSlice(0, length));
          check(mismatch == -1, "byte " + mismatch + " of " + length + " is wrong");
        }
        a.close();
        b.close();
      }
    }
  }
}
