package io.heddle.softdevice;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.NanoClock;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.DropCounters;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.RegionTable;
import io.heddle.roce.transport.RingShares;
import io.heddle.roce.transport.responder.WriteRows;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.QueuePairState;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The data path of one opened device: takes packets from its sockets, hands them to queue pairs,
 * lets these send, serves timers. Everything but {@link #progress}, {@link #posted} and the
 * published deadline runs under the progress lock.
 */
final class Engine implements PacketSink {
  /** That users are told of. */
  static final int ADVERTISED_QUEUE_PAIRS = 4096;

  /** As many again are for those that take another's place while that one is still there. */
  static final int QUEUE_PAIRS = 2 * ADVERTISED_QUEUE_PAIRS;

  /** Trains a queue pair sends before the next has its turn. */
  private static final int TRAINS_PER_TURN = 4;

  private static final long CALLERS_IDLE_NS = 50_000;
  private static final int LINE_BYTES = 64;
  private static final long GIVE_UP_LOOK_NS = 100_000;

  final ProgressLock lock = new ProgressLock();
  final RegionTable regions;
  final Counters counters = new Counters();
  final Queue<AsyncEvent> events = AsyncEvent.queue();
  final RingShares shares = new RingShares();

  final NarrowPathWarning narrow;

  final Departures departures;

  private final SystemCallFailures broken;
  private final NanoClock clock;
  private final ReceiveSockets sockets;
  private final WriteRows rows;
  private final PacketGate gate;
  private final Doorbells bells = new Doorbells(QUEUE_PAIRS);
  private final @Nullable SoftQueuePair[] queuePairs = new SoftQueuePair[QUEUE_PAIRS];
  private final long[] active = new long[QUEUE_PAIRS / 64];
  private volatile int usedWords;
  private final PendingAcknowledgements waiting = new PendingAcknowledgements(queuePairs);
  private boolean callersIdle;
  private int firstWord;
  private int queuePairCount;
  private final TimerScans timers;
  private volatile long publishedDue = Pause.NEVER_NS;
  private volatile long lastCallNs;
  /* The same for those who aren't in Java. They may look when the device is closed, so it is never given back. */
  private final long lastCallAddress = Arena.global().allocate(LINE_BYTES, LINE_BYTES).address();
  private @Nullable ProgressThread sleeper;

  Engine(Arena arena, Log log, NanoClock clock, int firstGeneration, PacketGate gate) {
    this.clock = clock;
    narrow = new NarrowPathWarning(log);
    this.gate = gate;
    regions = new RegionTable(firstGeneration);
    PagePipe pages = PagePipe.open(arena, System.getProperty("os.version"));
    broken = new SystemCallFailures(log, events);
    departures = new Departures(arena, log, clock, gate, pages, counters, broken);
    sockets = new ReceiveSockets(arena, counters, broken);
    rows = new WriteRows(arena);
    called(clock.nanoTime());
    timers = new TimerScans(lastCallNs);
  }

  void setSleeper(@Nullable ProgressThread thread) {
    sleeper = thread;
  }

  /**
   * One round of everything, by a thread that asks for completions. Returns work done; 0 when
   * another is at it.
   */
  int progress() {
    if (!lock.tryLock()) {
      return 0;
    }
    int work;
    long nowNs = clock.nanoTime();
    try {
      work = round(nowNs);
      /* A round that moved something may have taken long. */
      called(work == 0 ? nowNs : clock.nanoTime());
    } finally {
      unlock();
    }
    pickUp();
    return work;
  }

  private void called(long atNs) {
    lastCallNs = atNs;
    Memory.setLongRelease(lastCallAddress, atNs);
  }

  /** The same by the sleeping thread, which doesn't count as a caller; −1 when another is at it. */
  int progressOfSleeper() {
    if (!lock.tryLock()) {
      return -1;
    }
    int work;
    try {
      callersIdle = true;
      work = round(clock.nanoTime());
    } finally {
      callersIdle = false;
      unlock();
    }
    pickUp();
    return work;
  }

  /** The sleeping thread fails in every round: whoever uses the device has to hear of it. */
  void giveUp() {
    lockWithoutMemory();
    try {
      events.offer(AsyncEvent.DEVICE_FATAL);
    } finally {
      unlock();
    }
  }

  /** A system call of the sleeping thread failed for good. */
  void failedFor(String call, int fd, int errno) {
    lockWithoutMemory();
    try {
      broken.deviceFailed(call, fd, errno);
    } finally {
      unlock();
    }
  }

  private void lockWithoutMemory() {
    while (!lock.tryLock()) {
      LockSupport.parkNanos(GIVE_UP_LOOK_NS);
    }
  }

  /**
   * Makes each system call of the data path once, on a socket without a peer.
   *
   * @throws HeddleException where a filter refuses one
   */
  void tryCalls() {
    int fd = LinuxCalls.socket(UdpSocket.AF_INET6, UdpSocket.SOCK_DGRAM_CLOEXEC_NONBLOCK, 0);
    if (fd < 0) {
      throw new SystemCallException("socket(AF_INET6, SOCK_DGRAM)", -fd);
    }
    try {
      sockets.tryCalls(fd);
      departures.tryCalls(fd);
    } finally {
      LinuxCalls.close(fd);
    }
  }

  /**
   * Tells the control thread, where there is room: the states of the queue pairs say the same.
   * Needs memory, and so comes last in what it tells of. Under the lock.
   */
  void publishEvent(AsyncEventListener.Kind kind, int queuePairNumber) {
    events.offer(new AsyncEvent(kind, queuePairNumber));
  }

  /**
   * Called after something was posted: sends at once when the lock is free, else its holder will.
   */
  void posted(int slot) {
    bells.ring(slot);
    if (lock.tryLock()) {
      sendPosted();
    }
    pickUp();
  }

  /* A bell that rang while the lock was held and after its holder had listened. See ProgressLock. */
  private void pickUp() {
    while (bells.anyIn(usedWords) && lock.tryLock()) {
      sendPosted();
    }
  }

  /* With the lock, which it gives back. */
  private void sendPosted() {
    try {
      takeDoorbells();
      long nowNs = clock.nanoTime();
      transmit(nowNs);
      waiting.join(departures, nowNs);
      departures.endPost(queuePairCount > 1 && nowNs - lastCallNs < CALLERS_IDLE_NS, nowNs);
      timerAt(departures.dueNs());
    } finally {
      unlock();
    }
  }

  /** Ends a hold of the lock: tells the sleeper of an earlier deadline. */
  void unlock() {
    long deadline = timers.dueNs();
    if (deadline != publishedDue) {
      publishedDue = deadline;
    }
    if (sleeper != null) {
      sleeper.wakeBefore(deadline);
    }
    lock.unlock();
  }

  long publishedDue() {
    return publishedDue;
  }

  long lastCallNs() {
    return lastCallNs;
  }

  long lastCallAddress() {
    return lastCallAddress;
  }

  /** Whether a thread is making progress now, however long it takes, or did a moment ago. */
  boolean callersAreThere() {
    return lock.isHeld() || clock.nanoTime() - lastCallNs < CALLERS_IDLE_NS;
  }

  long nowNs() {
    return clock.nanoTime();
  }

  private int round(long nowNs) {
    departures.endHold(callersIdle);
    int work = takeDoorbells();
    work += receiveAll(nowNs);
    work += gate.release(this, nowNs);
    waiting.endRound(callersIdle);
    if (timers.begin(nowNs)) {
      serveTimers(nowNs);
    }
    timerAt(gate.dueNs());
    work += transmit(nowNs);
    waiting.join(departures, nowNs);
    departures.leave();
    timerAt(departures.dueNs());
    return work;
  }

  /** An acknowledgement of a queue pair may wait that long. */
  void waitRounds(int slot, int count) {
    waiting.begin(slot, count);
  }

  boolean callersAreIdle() {
    return callersIdle;
  }

  private int takeDoorbells() {
    int rung = 0;
    int words = usedWords;
    for (int i = 0; i < words; i++) {
      long bits = bells.take(i);
      if (bits != 0) {
        active[i] |= bits;
        rung += Long.bitCount(bits);
      }
    }
    return rung;
  }

  private int receiveAll(long nowNs) {
    int packets = sockets.receiveAll(this, nowNs);
    if (packets > 0) {
      counters.received(packets);
    }
    return packets;
  }

  @Override
  public int onTrain(
      java.nio.ByteBuffer view,
      long base,
      long address,
      int length,
      int stride,
      long high,
      long low,
      int port,
      long nowNs) {
    boolean inRows = gate.isOpen() && WriteRows.areTaken(stride);
    int packets = 0;
    for (int at = 0; at < length; ) {
      int row =
          inRows
              ? takeRow(address + at, stride, (length - at) / stride, high, low, port, nowNs)
              : 0;
      if (row > 0) {
        packets += row;
        at += row * stride;
        continue;
      }
      int bytes = Math.min(stride, length - at);
      packets++;
      if (gate.passes(view, base, address + at, bytes, high, low, port, nowNs)) {
        onPacket(view, base, address + at, bytes, high, low, port, nowNs);
      }
      at += stride;
    }
    if (length == 0) {
      counters.drops().count(DropCounters.Reason.TOO_SHORT);
    }
    return packets;
  }

  /* How many packets from here on were a row, and are taken. */
  private int takeRow(
      long packet, int stride, int most, long high, long low, int port, long nowNs) {
    if (most == 0) {
      return 0;
    }
    int number = PacketFormat.queuePairOf(PacketFormat.networkLong(packet));
    SoftQueuePair qp = queuePairs[number & QUEUE_PAIRS - 1];
    if (qp == null || qp.number() != number) {
      return 0;
    }
    int link = qp.links().from(high, low, port);
    return link < 0 ? 0 : qp.onRow(rows, packet, stride, most, link, nowNs);
  }

  @Override
  public void onPacket(
      java.nio.ByteBuffer view,
      long base,
      long packet,
      int bytes,
      long sourceHigh,
      long sourceLow,
      int sourcePort,
      long nowNs) {
    DropCounters drops = counters.drops();
    if (bytes < PacketFormat.BTH_BYTES + PacketFormat.ICRC_BYTES) {
      drops.count(DropCounters.Reason.TOO_SHORT);
      return;
    }
    long firstWord = PacketFormat.networkLong(packet);
    int opcode = PacketFormat.opcodeOf(firstWord);
    int extended = PacketFormat.extendedHeaderBytes(opcode);
    if (extended < 0) {
      counters.unknown(opcode, firstWord);
      return;
    }
    int payloadBytes =
        bytes
            - PacketFormat.BTH_BYTES
            - extended
            - PacketFormat.ICRC_BYTES
            - PacketFormat.padOf(firstWord);
    if (payloadBytes < 0 || (bytes & 3) != 0) {
      drops.count(DropCounters.Reason.BAD_LENGTH);
      return;
    }
    if (!PacketFormat.isHeaderRight(firstWord)) {
      drops.countHeader(firstWord);
      return;
    }
    int number = PacketFormat.queuePairOf(firstWord);
    SoftQueuePair qp = queuePairs[number & QUEUE_PAIRS - 1];
    if (qp == null || qp.number() != number) {
      drops.count(DropCounters.Reason.UNKNOWN_QUEUE_PAIR);
      return;
    }
    QueuePairState state = qp.state();
    if (state == QueuePairState.RESET || state == QueuePairState.INIT) {
      drops.count(DropCounters.Reason.WRONG_STATE);
      return;
    }
    int link = qp.links().from(sourceHigh, sourceLow, sourcePort);
    if (link < 0) {
      drops.count(DropCounters.Reason.WRONG_SOURCE);
      return;
    }
    if (opcode == PacketFormat.BUNDLE) {
      if (qp.links().get(link).isSoft()) {
        int packets =
            Bundle.open(this, drops, view, base, packet, bytes, sourceHigh, sourceLow, nowNs);
        /* The datagram itself is counted as one by whoever received it. */
        counters.received(Math.max(0, packets - 1));
      } else {
        drops.count(DropCounters.Reason.UNKNOWN_OPCODE);
      }
      return;
    }
    if (PacketFormat.isMarked(firstWord)) {
      /* Not covered by the checksum, which is computed as if nothing were there. */
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + 4, (byte) 0);
    }
    if (!qp.links().get(link).checksumIsRight(view, base, packet, bytes, sourcePort)) {
      drops.count(DropCounters.Reason.BAD_CHECKSUM);
      return;
    }
    long payload = packet + PacketFormat.BTH_BYTES + extended;
    qp.onPacket(opcode, packet, payload, payloadBytes, link, nowNs);
  }

  /** How long the packet in hand may have lain in its socket at most. */
  long waitedNs() {
    return sockets.waitedNs();
  }

  private void serveTimers(long nowNs) {
    long begunNs = clock.nanoTime();
    long next = Pause.NEVER_NS;
    int words = usedWords;
    for (int i = 0; i < words * 64; i++) {
      SoftQueuePair qp = queuePairs[i];
      if (qp != null) {
        qp.onTimer(nowNs);
        next = Math.min(next, qp.dueNs());
      }
    }
    timers.end(begunNs, clock.nanoTime(), next);
  }

  @Override
  public void timerAt(long whenNs) {
    timers.at(whenNs);
  }

  void activate(int slot) {
    active[slot >> 6] |= 1L << slot;
  }

  private int transmit(long nowNs) {
    int words = usedWords;
    int before = departures.sends();
    if (++firstWord >= words) {
      firstWord = 0;
    }
    for (int i = 0; i < words; i++) {
      int word = i + firstWord < words ? i + firstWord : i + firstWord - words;
      long bits = active[word];
      if (bits == 0) {
        continue;
      }
      active[word] = 0;
      for (long left = bits; left != 0; left &= left - 1) {
        int slot = word * 64 + Long.numberOfTrailingZeros(left);
        SoftQueuePair qp = queuePairs[slot];
        if (qp != null) {
          if (qp.transmit(nowNs, TRAINS_PER_TURN)) {
            active[word] |= 1L << slot;
            timerAt(nowNs); /* the sleeper goes on where no caller does */
          }
        }
      }
    }
    return departures.sends() - before;
  }

  /* Control path, all under the lock. */

  /** Finds a free slot, or −1. */
  int freeSlot(int from) {
    for (int i = 0; i < QUEUE_PAIRS; i++) {
      int slot = (from + i) & QUEUE_PAIRS - 1;
      if (queuePairs[slot] == null) {
        return slot;
      }
    }
    return -1;
  }

  void enter(int slot, SoftQueuePair qp) {
    queuePairs[slot] = qp;
    queuePairCount++;
    usedWords = Math.max(usedWords, (slot >> 6) + 1);
  }

  void remove(int slot) {
    queuePairs[slot] = null;
    queuePairCount--;
    active[slot >> 6] &= ~(1L << slot);
  }

  /** Puts every queue pair that uses this overrun queue into ERROR. */
  void failUsersOf(SoftCompletionQueue cq) {
    for (SoftQueuePair qp : queuePairs) {
      if (qp != null && qp.uses(cq)) {
        qp.die();
      }
    }
  }

  void addReceiveSocket(int fd) {
    sockets.add(fd, clock.nanoTime());
  }

  /** Before it is closed. */
  void removeReceiveSocket(int fd) {
    sockets.remove(fd);
  }
}
