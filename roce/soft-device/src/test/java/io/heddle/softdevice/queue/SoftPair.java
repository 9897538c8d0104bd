package io.heddle.softdevice.queue;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.addr.RocePorts;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.testing.Deadline;
import io.heddle.softdevice.faults.Faults;
import io.heddle.softdevice.io.SoftPort;
import io.heddle.softdevice.io.SourcePorts;
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
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Pair of soft devices in one process, each on its own IPv4 loopback address so that both receive
 * on port 4791, with any number of connected queue pairs. For queue pairs with several links there
 * is an address for each link. {@code close} checks for leaks.
 */
final class SoftPair implements AutoCloseable {
  static final int PSN = 0xffff80; /* sequence numbers wrap soon */

  final LeakLedger ledger = new LeakLedger();

  /** Log lines of both devices. */
  final List<String> lines = new CopyOnWriteArrayList<>();

  private final Log log =
      (level, sentence) -> {
        lines.add(sentence);
        Log.toStandardError().write(level, sentence);
      };

  final Side left;
  final Side right;

  final class Side {
    final SoftContext context;
    final ProtectionDomain pd;
    final SoftCompletionQueue cq;
    final MemoryRegion mr;
    final Arena arena = Arena.ofShared();
    final WorkCompletion[] one = WorkCompletion.batch(1);
    private final List<Gid> gids;
    private final LinkFaults faults;

    Side(String randomFaults, int host, int links, int bufferBytes) {
      long pid = ProcessHandle.current().pid();
      String net = "127." + (pid >> 8 & 127) + "." + (pid & 255) + ".";
      String planes =
          IntStream.range(0, links)
              .mapToObj(link -> net + (host + LinkFaults.ADDRESSES_PER_LINK * link) + "=" + link)
              .collect(Collectors.joining(","));
      faults = new LinkFaults();
      Faults everywhere = Faults.parse(randomFaults);
      context =
          (SoftContext)
              new SoftDevice(
                      new SoftPort(planes),
                      false,
                      RocePorts.STANDARD,
                      SourcePorts.ANY,
                      log,
                      ledger,
                      arena -> faults.gate(arena, everywhere))
                  .open();
      pd = context.allocateProtectionDomain();
      cq = (SoftCompletionQueue) context.createCompletionQueue(8192);
      mr =
          pd.registerMemory(
              Memory.allocate(arena, bufferBytes, 4096),
              bufferBytes,
              java.util.EnumSet.allOf(ProtectionDomain.Access.class));
      gids = context.gidTable().entries().stream().limit(links).map(GidTable.Entry::gid).toList();
    }

    /** Returns the faults, by link, of packets that arrive at this side. */
    LinkFaults faults() {
      return faults;
    }

    int[] gidIndexes() {
      return IntStream.range(0, gids.size()).toArray();
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
    this(faults, 1, bufferBytes);
  }

  /** Creates a pair with this number of links. */
  SoftPair(String faults, int links, int bufferBytes) {
    left = new Side(faults, 1, links, bufferBytes);
    right = new Side(faults, 2, links, bufferBytes);
  }

  /** Connects two queue pairs, as standard peers if {@code standard}. */
  void connect(QueuePair a, QueuePair b, PathMtu mtu, boolean standard, int timeoutCode) {
    a.initialise(left.gidIndexes());
    b.initialise(right.gidIndexes());
    moveToReadyToSend(a, b, mtu, standard, timeoutCode);
  }

  /** Connects two queue pairs over chosen links; −1 stands for a missing link. */
  void connect(QueuePair a, int[] indexesOfA, QueuePair b, int[] indexesOfB, PathMtu mtu) {
    a.initialise(indexesOfA);
    b.initialise(indexesOfB);
    moveToReadyToSend(a, b, mtu, false, 14);
  }

  /** Connects two queue pairs over this link alone. */
  void connectOver(int link, QueuePair a, QueuePair b, PathMtu mtu) {
    a.initialise(link);
    b.initialise(link);
    moveToReadyToSend(a, b, right.gids.get(link), mtu, false, 16);
    moveToReadyToSend(b, a, left.gids.get(link), mtu, false, 16);
  }

  /** Connects two queue pairs over this link alone, both in the peer group with this number. */
  void connectOver(
      int link, QueuePair a, QueuePair b, boolean standard, int timeoutCode, long peer) {
    a.initialise(link);
    b.initialise(link);
    PathMtu mtu = PathMtu.MTU_1024;
    moveToReadyToSend(a, b, right.gids.get(link), mtu, standard, timeoutCode, peer);
    moveToReadyToSend(b, a, left.gids.get(link), mtu, standard, timeoutCode, peer);
  }

  private void moveToReadyToSend(
      QueuePair a, QueuePair b, PathMtu mtu, boolean standard, int timeoutCode) {
    moveToReadyToSend(a, b, right.gids.getFirst(), mtu, standard, timeoutCode);
    moveToReadyToSend(b, a, left.gids.getFirst(), mtu, standard, timeoutCode);
  }

  private static void moveToReadyToSend(
      QueuePair qp, QueuePair peer, Gid gid, PathMtu mtu, boolean standard, int timeoutCode) {
    moveToReadyToSend(
        qp, peer, gid, mtu, standard, timeoutCode, ReadyToSendAttributes.NO_PEER_GROUP);
  }

  private static void moveToReadyToSend(
      QueuePair qp,
      QueuePair peer,
      Gid gid,
      PathMtu mtu,
      boolean standard,
      int timeoutCode,
      long peerGroup) {
    byte[] parameters = standard ? new byte[0] : peer.endpointParameters();
    qp.readyToReceive(
        new ReadyToReceiveAttributes(mtu, gid, peer.number(), PSN, parameters, 1, 0, 0));
    qp.readyToSend(new ReadyToSendAttributes(PSN, timeoutCode, 7, 7, peerGroup));
  }

  void progress() {
    left.context.progress();
    right.context.progress();
  }

  /** Polls until {@code side} has one completion, and returns it. */
  WorkCompletion await(Side side) {
    Deadline deadline = Deadline.ofSeconds(20);
    while (!deadline.isOver()) {
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
