package io.heddle.softroce;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
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
import java.util.HashMap;
import java.util.Map;

/**
 * Two soft devices in one process, each on an IPv4 loopback address of its own so that both receive
 * on port 4791, with any number of connected queue pairs. Closing it checks that nothing is left
 * open.
 */
final class SoftPair implements AutoCloseable {
  static final int PSN = 0xffff80; /* wraps soon */

  final LeakLedger ledger = new LeakLedger();
  final Side left;
  final Side right;

  final class Side {
    final SoftContext context;
    final ProtectionDomain pd;
    final SoftCompletionQueue cq;
    final MemoryRegion mr;
    final Arena arena = Arena.ofShared();
    final WorkCompletion[] one = WorkCompletion.batch(1);
    private final Gid gid;

    Side(Map<String, String> environment, int host, int bufferBytes) {
      Map<String, String> own = new HashMap<>(environment);
      long pid = ProcessHandle.current().pid();
      own.put(
          "HEDDLE_PLANES", "127." + (pid >> 8 & 127) + "." + (pid & 255) + "." + host + "=loop");
      context =
          (SoftContext)
              new SoftProvider().devices(own, Log.toStandardError(), ledger).getFirst().open();
      pd = context.allocateProtectionDomain();
      cq = (SoftCompletionQueue) context.createCompletionQueue(8192);
      mr =
          pd.registerMemory(
              Memory.allocate(arena, bufferBytes, 4096),
              bufferBytes,
              java.util.EnumSet.allOf(ProtectionDomain.Access.class));
      gid = context.gidTable().entries().getFirst().gid();
    }

    QueuePair createQueuePair() {
      return pd.createQueuePair(new QueuePairAttributes(cq, cq, 128, 256));
    }

    SendWorkRequest request(
        SendWorkRequest.Operation operation, long id, long offset, int bytes, Side peer) {
      SendWorkRequest wr = new SendWorkRequest();
      wr.id = id;
      wr.operation = operation;
      wr.signalled = true;
      wr.localAddress = mr.address() + offset;
      wr.lengthBytes = bytes;
      wr.lkey = mr.lkey();
      wr.remoteAddress = peer.mr.address() + offset;
      wr.rkey = peer.mr.rkey();
      return wr;
    }

    void close() {
      context.close();
      arena.close();
    }
  }

  SoftPair(String faults, int bufferBytes) {
    Map<String, String> environment = faults.isEmpty() ? Map.of() : Map.of(Faults.VARIABLE, faults);
    left = new Side(environment, 1, bufferBytes);
    right = new Side(environment, 2, bufferBytes);
  }

  /** Connects two queue pairs; as standard peers when {@code standard}. */
  void connect(QueuePair a, QueuePair b, PathMtu mtu, boolean standard, int timeoutCode) {
    a.initialise(0);
    b.initialise(0);
    follow(a, b, right.gid, mtu, standard, timeoutCode);
    follow(b, a, left.gid, mtu, standard, timeoutCode);
  }

  private static void follow(
      QueuePair qp, QueuePair peer, Gid gid, PathMtu mtu, boolean standard, int timeoutCode) {
    byte[] parameters = standard ? new byte[0] : peer.endpointParameters();
    qp.readyToReceive(
        new ReadyToReceiveAttributes(mtu, gid, peer.number(), PSN, parameters, 1, 0, 0));
    qp.readyToSend(new ReadyToSendAttributes(PSN, timeoutCode, 7, 7));
  }

  void progress() {
    left.context.progress();
    right.context.progress();
  }

  /** Waits for one completion of {@code side}. */
  WorkCompletion await(Side side) {
    long start = System.nanoTime();
    while (System.nanoTime() - start < 20_000_000_000L) {
      progress();
      int count = side.cq.poll(side.one);
      if (count == 1) {
        return side.one[0];
      }
      assertEquals(0, count);
    }
    throw new AssertionError(
        "no completion within 20 s; left sent "
            + left.context.engine().counters.packetsSent()
            + " resent "
            + left.context.engine().counters.packetsResent()
            + " timeouts "
            + left.context.engine().counters.timeouts());
  }

  @Override
  public void close() {
    left.close();
    right.close();
    assertEquals(Map.of(), ledger.open(), "objects left open");
  }
}
