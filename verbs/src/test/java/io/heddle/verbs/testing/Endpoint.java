package io.heddle.verbs.testing;

import static org.junit.jupiter.api.Assertions.fail;

import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;

/**
 * One end of a connection in a test: a queue pair with its completion queue and one registered
 * buffer.
 */
public final class Endpoint implements AutoCloseable {
  /** Access rights of a test's buffer. */
  public static final Set<ProtectionDomain.Access> ALL_ACCESS =
      EnumSet.of(
          ProtectionDomain.Access.LOCAL_WRITE,
          ProtectionDomain.Access.REMOTE_WRITE,
          ProtectionDomain.Access.REMOTE_READ);

  /** Requested size of inline payloads. */
  public static final int INLINE_BYTES = 64;

  private static final long DEADLINE_NS = 20_000_000_000L;

  public final DeviceContext context;
  public final ProtectionDomain pd;
  public final CompletionQueue cq;
  public final QueuePair qp;
  public final MemoryRegion mr;

  private final Arena arena = Arena.ofShared();
  private final int gidIndex;
  private final Gid gid;
  private final WorkCompletion[] one = WorkCompletion.batch(1);

  public Endpoint(DeviceContext context, int gidIndex, int bufferBytes) {
    this(context, gidIndex, bufferBytes, 64, 64);
  }

  public Endpoint(
      DeviceContext context, int gidIndex, int bufferBytes, int sendDepth, int receiveDepth) {
    this.context = context;
    this.gidIndex = gidIndex;
    this.gid =
        context.gidTable().entries().stream()
            .filter(entry -> entry.index() == gidIndex)
            .map(GidTable.Entry::gid)
            .findFirst()
            .orElseThrow();
    this.pd = context.allocateProtectionDomain();
    this.cq = context.createCompletionQueue(2 * (sendDepth + receiveDepth));
    this.qp =
        pd.createQueuePair(new QueuePairAttributes(cq, cq, sendDepth, receiveDepth, INLINE_BYTES));
    this.mr = pd.registerMemory(Memory.allocate(arena, bufferBytes, 4096), bufferBytes, ALL_ACCESS);
  }

  /** Brings both ends to READY_TO_SEND with the port's MTU. */
  public static void connect(Endpoint left, Endpoint right) {
    connect(
        left, right, left.context.port().activeMtu().min(right.context.port().activeMtu()), 14, 7);
  }

  /** Brings both ends to READY_TO_SEND. */
  public static void connect(
      Endpoint left, Endpoint right, PathMtu mtu, int timeoutCode, int receiverNotReadyRetries) {
    left.qp.initialise(left.gidIndex);
    right.qp.initialise(right.gidIndex);
    left.moveToReadyToSend(right, mtu, 0xfffff0, timeoutCode, receiverNotReadyRetries);
    right.moveToReadyToSend(left, mtu, 0xfffff0, timeoutCode, receiverNotReadyRetries);
  }

  /*
   * The first packet sequence number is near the largest of 24 bits, so that the numbers wrap in
   * every test.
   */
  private void moveToReadyToSend(
      Endpoint peer, PathMtu mtu, int psn, int timeoutCode, int receiverNotReadyRetries) {
    qp.readyToReceive(
        new ReadyToReceiveAttributes(
            mtu, peer.gid, peer.qp.number(), psn, peer.qp.endpointParameters(), 1, 0, 0));
    qp.readyToSend(new ReadyToSendAttributes(psn, timeoutCode, 3, receiverNotReadyRetries));
  }

  /** Returns a request over both whole buffers, for the caller to adjust. */
  public SendWorkRequest request(
      SendWorkRequest.Operation operation, long id, int lengthBytes, Endpoint peer) {
    SendWorkRequest wr = new SendWorkRequest();
    wr.id = id;
    wr.operation = operation;
    wr.signalled = true;
    wr.localAddress = mr.address();
    wr.lengthBytes = lengthBytes;
    wr.lkey = mr.lkey();
    wr.remoteAddress = peer.mr.address();
    wr.rkey = peer.mr.rkey();
    return wr;
  }

  /** Fills the buffer with bytes that depend on their position and on {@code seed}. */
  public void fill(int lengthBytes, int seed) {
    for (int i = 0; i < lengthBytes; i++) {
      Memory.ALL.set(java.lang.foreign.ValueLayout.JAVA_BYTE, mr.address() + i, pattern(i, seed));
    }
  }

  /** Returns the byte of {@link #fill} at this position. */
  public static byte pattern(int position, int seed) {
    int mixed = (position + 1) * 0x9e3779b1 ^ seed * 0x85ebca6b;
    return (byte) (mixed >>> 24 ^ mixed >>> 8);
  }

  /** Returns the first {@code lengthBytes} bytes of the buffer. */
  public byte[] bytes(int lengthBytes) {
    return Memory.toArray(mr.address(), lengthBytes);
  }

  /** Waits for the next completion of this end while both ends make progress. */
  public WorkCompletion awaitCompletion(Endpoint peer) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < DEADLINE_NS) {
      context.progress();
      peer.context.progress();
      int count = cq.poll(one);
      if (count < 0) {
        fail("completion queue overran: " + count);
      }
      if (count == 1) {
        return one[0];
      }
    }
    return fail("no completion within " + DEADLINE_NS / 1_000_000_000 + " s");
  }

  /** Returns whether a completion arrives within the limit; removes it. */
  public boolean completesWithin(long limitNs, Endpoint peer) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < limitNs) {
      context.progress();
      peer.context.progress();
      if (cq.poll(one) == 1) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void close() {
    qp.close();
    mr.close();
    cq.close();
    pd.close();
    arena.close();
  }
}
