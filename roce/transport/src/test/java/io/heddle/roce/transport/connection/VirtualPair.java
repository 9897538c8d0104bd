package io.heddle.roce.transport.connection;

import io.heddle.platform.Memory;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.LargeTrains;
import io.heddle.roce.transport.LinkSet;
import io.heddle.roce.transport.MemoryRights;
import io.heddle.roce.transport.PacketMemory;
import io.heddle.roce.transport.PacketOutlet;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.QueuePairEvents;
import io.heddle.roce.transport.ReceiveQueue;
import io.heddle.roce.transport.RegionTable;
import io.heddle.roce.transport.RingShares;
import io.heddle.roce.transport.SendQueue;
import io.heddle.roce.wire.FlowChecksum;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.Gid;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.SendWorkRequest;
import io.heddle.verbs.WorkCompletion.Kind;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;

/**
 * Pair of connected queue pairs in virtual time, on one thread: packets are delayed, and some are
 * lost at random.
 */
final class VirtualPair implements AutoCloseable {
  private static final long WAY_NS = 20_000;
  private static final int DEPTH = 64;
  private static final int TRAINS_PER_TURN = 4;

  private final Arena arena = Arena.ofConfined();
  private final Random random;
  private final double loss;
  private final PriorityQueue<Packet> underWay =
      new PriorityQueue<>(
          java.util.Comparator.comparingLong(Packet::dueNs).thenComparingLong(Packet::order));
  private long nowNs = 1_000_000_000L;
  private long sent;
  private long lost;
  private long spreadNs;
  final End left;
  final End right;

  private final int links;
  private int deadLinks;
  private int longestDatagram = Integer.MAX_VALUE;
  private int singlePacketWarnings;
  private long trains;

  private record Packet(long dueNs, long order, End to, int link, byte[] bytes) {}

  /** Completion of a send, or of a receive with its immediate. */
  record Completed(long id, Status status, Kind kind, int immediate) {}

  VirtualPair(long seed, double loss, boolean soft, int bufferBytes) {
    this(seed, loss, soft, 1, bufferBytes);
  }

  VirtualPair(long seed, double loss, boolean soft, int links, int bufferBytes) {
    this.links = links;
    random = new Random(seed);
    this.loss = loss;
    left = new End(1, bufferBytes);
    right = new End(2, bufferBytes);
    left.connect(right, soft);
    right.connect(left, soft);
  }

  /** Adds a random delay to data packets, as by spraying switches. */
  void reorderPackets(long mostNs) {
    spreadNs = mostNs;
  }

  /** Cuts these links, bit i for link i, and restores the others. */
  void cut(int dead) {
    deadLinks = dead;
  }

  /** From now on drops every train longer than this, with all its packets. */
  void loseLongerThan(int bytes) {
    longestDatagram = bytes;
  }

  /** Returns how often an end has warned that a link's packets are sent one by one. */
  int singlePacketWarnings() {
    return singlePacketWarnings;
  }

  /** Returns the number of trains longer than 9100 bytes. */
  long trains() {
    return trains;
  }

  long nowNs() {
    return nowNs;
  }

  long sent() {
    return sent;
  }

  long lost() {
    return lost;
  }

  /** Advances time until nothing is in flight and no timer runs, or by this much. */
  void run(long mostNs) {
    long end = nowNs + mostNs;
    while (nowNs < end) {
      while (left.transmit() | right.transmit()) {
        /* one call sends only a few trains, so both ends transmit again */
      }
      Packet next = underWay.peek();
      long due = Math.min(left.connection.dueNs(), right.connection.dueNs());
      due = next == null ? due : Math.min(due, next.dueNs());
      if (due == Pause.NEVER_NS) {
        return;
      }
      nowNs = Math.max(nowNs, due);
      while (!underWay.isEmpty() && underWay.peek().dueNs() <= nowNs) {
        Packet packet = underWay.poll();
        packet.to().arrived(packet.link(), packet.bytes());
      }
      left.connection.onTimer(nowNs);
      right.connection.onTimer(nowNs);
    }
  }

  /** Advances time, without any packet or timer. The caller ensures that nothing is in flight. */
  void advanceIdle(long ns) {
    nowNs += ns;
  }

  @Override
  public void close() {
    arena.close();
  }

  /** Queue pair with one registered buffer. */
  final class End implements QueuePairEvents, PacketOutlet {
    final List<Completed> completed = new ArrayList<>();
    final long buffer;
    final int key;
    private final int number;
    private final Gid gid;
    private final SendQueue sends;
    private final ReceiveQueue receives;
    private final FlowChecksum sendFlow = new FlowChecksum();
    private final FlowChecksum receiveFlow = new FlowChecksum();
    private final PacketMemory memory;
    private final long arrival;
    private final ByteBuffer arrivalView;
    private final ReliableConnection connection;
    final Counters counters = new Counters();
    private QueuePairState state = QueuePairState.RESET;
    private boolean active;
    private boolean soft;
    private End peer = this;

    End(int number, int bufferBytes) {
      this.number = number;
      gid = new Gid(0, number);
      buffer = zeros(bufferBytes);
      RegionTable regions = new RegionTable(1);
      key =
          regions.add(
              buffer,
              bufferBytes,
              1,
              RegionTable.LOCAL_WRITE | RegionTable.REMOTE_WRITE | RegionTable.REMOTE_READ);
      sends = new SendQueue(DEPTH, zeros(SendQueue.bytes(DEPTH)));
      receives = new ReceiveQueue(DEPTH, zeros(ReceiveQueue.bytes(DEPTH)));
      memory =
          new PacketMemory(
              zeros(PacketMemory.BYTES), new LargeTrains(), new RingShares(), sendFlow);
      arrival = zeros(PacketSizes.LONGEST_PACKET_BYTES);
      arrivalView = Memory.ALL.asSlice(arrival, PacketSizes.LONGEST_PACKET_BYTES).asByteBuffer();
      connection =
          new ReliableConnection(
              number,
              this,
              this,
              memory,
              sends,
              receives,
              new MemoryRights(regions, 1),
              counters,
              zeros(ReliableConnection.TABLES_BYTES));
    }

    private long zeros(int bytes) {
      return arena.allocate(bytes, 4096).address();
    }

    private void connect(End to, boolean isSoft) {
      peer = to;
      soft = isSoft;
      sendFlow.reset(gid, 1000, to.gid, PacketFormat.ROCE_PORT);
      receiveFlow.reset(to.gid, 1000, gid, PacketFormat.ROCE_PORT);
      PacketSizes sizes = PacketSizes.standard(PathMtu.MTU_4096);
      connection.startReceiving(
          new ReadyToReceiveAttributes(
              PathMtu.MTU_4096, to.gid, to.number, 7 * to.number, new byte[0], 12, 0, 0),
          sizes,
          soft,
          links);
      connection.startSending(
          new ReadyToSendAttributes(7 * number, 14, 6, 7),
          new LinkSet(links, 0, 256, 256),
          null,
          nowNs);
      state = QueuePairState.READY_TO_SEND;
    }

    void post(SendWorkRequest.Operation operation, long id, int offset, int bytes) {
      SendWorkRequest request = new SendWorkRequest();
      request.id = id;
      request.operation = operation;
      request.signalled = true;
      request.localAddress = buffer + offset;
      request.lengthBytes = bytes;
      request.lkey = key;
      request.remoteAddress = peer.buffer + offset;
      request.rkey = peer.key;
      request.immediate = (int) id;
      if (sends.post(request) != 1) {
        throw new AssertionError("the send queue is full");
      }
      active = true;
    }

    void postReceives(int count) {
      if (!receives.post(0, 0, 0, 0, count)) {
        throw new AssertionError("the receive queue is full");
      }
    }

    boolean transmit() {
      if (!active) {
        return false;
      }
      active = connection.transmit(nowNs, TRAINS_PER_TURN);
      return true;
    }

    /*
     * Only packets that may be reordered have the data mark; packets to a standard peer never have
     * it.
     */
    private void assertMarked(long packet) {
      boolean mayOvertake = soft && isData(packet);
      if (PacketFormat.isData(packet) != mayOvertake
          || PacketFormat.isMarked(PacketFormat.networkLong(packet)) != mayOvertake) {
        throw new AssertionError("a mark is wrong on opcode " + PacketFormat.opcode(packet));
      }
    }

    private void arrived(int link, byte[] bytes) {
      for (int i = 0; i < bytes.length; i++) {
        Memory.ALL.set(ValueLayout.JAVA_BYTE, arrival + i, bytes[i]);
      }
      assertMarked(arrival);
      Memory.ALL.set(ValueLayout.JAVA_BYTE, arrival + PacketFormat.MARK_OFFSET, (byte) 0);
      int covered = bytes.length - PacketFormat.ICRC_BYTES;
      if (receiveFlow.of(arrivalView.clear(), 0, covered)
          != Memory.ALL.get(Memory.NATIVE_INT, arrival + covered)) {
        throw new AssertionError("a checksum is wrong");
      }
      long firstWord = PacketFormat.networkLong(arrival);
      int opcode = PacketFormat.opcodeOf(firstWord);
      int headers = PacketFormat.BTH_BYTES + PacketFormat.extendedHeaderBytes(opcode);
      int payload = covered - headers - PacketFormat.padOf(firstWord);
      connection.onPacket(opcode, arrival, arrival + headers, payload, link, nowNs);
    }

    /* Methods of PacketOutlet. */

    @Override
    public void selectFlow(int link) {
      memory.icrcWriter().setFlow(sendFlow);
    }

    @Override
    public boolean send(int link, long address, int lengthBytes, int segmentBytes) {
      trains += lengthBytes > 9100 ? 1 : 0;
      boolean tooLong = lengthBytes > segmentBytes && lengthBytes > longestDatagram;
      for (int at = 0; at < lengthBytes; at += segmentBytes) {
        int bytes = Math.min(segmentBytes, lengthBytes - at);
        sent++;
        if (tooLong || (deadLinks & 1 << link) != 0 || random.nextDouble() < loss) {
          lost++;
        } else {
          byte[] copy = Memory.ALL.asSlice(address + at, bytes).toArray(ValueLayout.JAVA_BYTE);
          long longer = spreadNs > 0 && isData(address + at) ? random.nextLong(spreadNs) : 0;
          underWay.add(new Packet(nowNs + WAY_NS + longer, sent, peer, link, copy));
        }
      }
      return true;
    }

    private static boolean isData(long packet) {
      int opcode = PacketFormat.opcode(packet);
      boolean names = PacketFormat.networkInt(packet + PacketFormat.BTH_BYTES + 8) != 0;
      return names /* a probe has no memory address */
          && (opcode == PacketFormat.WRITE_ONLY
              || opcode == PacketFormat.WRITE_ONLY_WITH_IMMEDIATE);
    }

    @Override
    public boolean sendResponse(int link, long address, int lengthBytes, int segmentBytes) {
      return send(link, address, lengthBytes, segmentBytes);
    }

    @Override
    public Outcome sendRetained(int link, long address, int lengthBytes, int segmentBytes) {
      send(link, address, lengthBytes, segmentBytes);
      return Outcome.SENT;
    }

    @Override
    public boolean isTooNarrow(int link) {
      return false;
    }

    @Override
    public boolean canPass(int link, int writeBytes) {
      return true;
    }

    @Override
    public void warnSinglePackets(int link) {
      singlePacketWarnings++;
    }

    @Override
    public void warnNarrowPath(int link, PacketSizes sizes) {}

    /* Methods of QueuePairEvents. */

    @Override
    public QueuePairState state() {
      return state;
    }

    @Override
    public boolean isInError() {
      return state == QueuePairState.ERROR;
    }

    @Override
    public void fail(AsyncEventListener.Kind kind) {
      if (!isInError()) {
        state = QueuePairState.ERROR;
        connection.stop();
        connection.flush();
      }
    }

    @Override
    public void completeSend(long id, Status status, Kind kind, int lengthBytes) {
      completed.add(new Completed(id, status, kind, 0));
    }

    @Override
    public void completeReceive(
        long id, Status status, Kind kind, int lengthBytes, boolean hasImmediate, int immediate) {
      completed.add(new Completed(id, status, kind, immediate));
    }

    /* Does nothing: run() asks both ends for the times of their timers. */
    @Override
    public void timerAt(long whenNs) {}

    @Override
    public void activate() {
      active = true;
    }

    @Override
    public void waitRounds(int rounds) {
      throw new AssertionError("no caller makes rounds");
    }

    @Override
    public boolean areCallersIdle() {
      return true;
    }

    @Override
    public long longestSocketWaitNs() {
      return 0;
    }
  }
}
