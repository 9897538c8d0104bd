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
import io.heddle.roce.transport.responder.WriteBatchReceiver;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.QueuePairState;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Data path of one open device. It receives packets from its sockets, passes them to queue pairs,
 * makes the queue pairs transmit, and serves timers. Everything but {@link #progress}, {@link
 * #posted} and the published deadline runs under the progress lock.
 */
final class Engine implements PacketSink {
  /** Number of queue pairs in the device attributes. */
  static final int ADVERTISED_QUEUE_PAIRS = 4096;

  /**
   * Actual limit of queue pairs: twice the number in the attributes, since replacements are created
   * before the old ones are closed.
   */
  static final int QUEUE_PAIRS = 2 * ADVERTISED_QUEUE_PAIRS;

  /** Largest number of trains that a queue pair sends before the next queue pair sends. */
  private static final int TRAINS_PER_TURN = 4;

  private static final long CALLERS_IDLE_NS = 50_000;
  private static final int LINE_BYTES = 64;
  private static final long GIVE_UP_RETRY_NS = 100_000;

  final ProgressLock lock = new ProgressLock();
  final RegionTable regions;
  final Counters counters = new Counters();
  final Queue<AsyncEvent> events = AsyncEvent.queue();
  final RingShares shares = new RingShares();

  final NarrowPathWarning narrowPathWarning;

  final SendStage sendStage;

  private final SystemCallFailures callFailures;
  private final NanoClock clock;
  private final ReceiveSockets sockets;
  private final WriteBatchReceiver batches;
  private final PacketGate gate;
  private final Doorbells doorbells = new Doorbells(QUEUE_PAIRS);
  private final @Nullable SoftQueuePair[] queuePairs = new SoftQueuePair[QUEUE_PAIRS];
  private final long[] active = new long[QUEUE_PAIRS / 64];
  private volatile int usedWords;
  private final PendingAcknowledgements waiting = new PendingAcknowledgements(queuePairs);
  private boolean callersIdle;
  private int firstWord;
  private int queuePairCount;
  private final TimerScanSchedule timers;
  private volatile long publishedDue = Pause.NEVER_NS;
  private volatile long lastCallNs;
  /*
   * Address of a copy of lastCallNs for native code. The copy is never freed, since native code may
   * read it after the device is closed.
   */
  private final long lastCallAddress = Arena.global().allocate(LINE_BYTES, LINE_BYTES).address();
  private @Nullable ProgressThread progressThread;

  Engine(Arena arena, Log log, NanoClock clock, int firstGeneration, PacketGate gate) {
    this.clock = clock;
    narrowPathWarning = new NarrowPathWarning(log);
    this.gate = gate;
    regions = new RegionTable(firstGeneration);
    PagePipe pages = PagePipe.open(arena, System.getProperty("os.version"));
    callFailures = new SystemCallFailures(log, events);
    sendStage = new SendStage(arena, log, clock, gate, pages, counters, callFailures);
    sockets = new ReceiveSockets(arena, counters, callFailures);
    batches = new WriteBatchReceiver(arena);
    recordCall(clock.nanoTime());
    timers = new TimerScanSchedule(lastCallNs);
  }

  void setProgressThread(@Nullable ProgressThread thread) {
    progressThread = thread;
  }

  /**
   * Runs one round for a polling thread. Returns the work done, or 0 if another thread is making
   * progress.
   */
  int progress() {
    if (!lock.tryLock()) {
      return 0;
    }
    int work;
    long nowNs = clock.nanoTime();
    try {
      work = round(nowNs);
      /* A round with work may take long, so the time is read again. */
      recordCall(work == 0 ? nowNs : clock.nanoTime());
    } finally {
      unlock();
    }
    sendUnclaimedPosts();
    return work;
  }

  private void recordCall(long atNs) {
    lastCallNs = atNs;
    Memory.setLongRelease(lastCallAddress, atNs);
  }

  /**
   * Runs one round for the progress thread, which doesn't count as a caller. Returns −1 if another
   * thread is making progress.
   */
  int runBackgroundRound() {
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
    sendUnclaimedPosts();
    return work;
  }

  /**
   * Reports a fatal device error to the control thread. Called when rounds of the progress thread
   * have failed repeatedly.
   */
  void reportFatalError() {
    lockWithoutMemory();
    try {
      events.offer(AsyncEvent.DEVICE_FATAL);
    } finally {
      unlock();
    }
  }

  /** Reports a permanent failure of a system call of the progress thread. */
  void onPermanentError(String call, int fd, int errno) {
    lockWithoutMemory();
    try {
      callFailures.deviceFailed(call, fd, errno);
    } finally {
      unlock();
    }
  }

  /* Takes the lock without allocating memory, since a lack of memory may be the failure. */
  private void lockWithoutMemory() {
    while (!lock.tryLock()) {
      LockSupport.parkNanos(GIVE_UP_RETRY_NS);
    }
  }

  /**
   * Tries each system call of the data path once, on a socket without a peer.
   *
   * @throws HeddleException if a seccomp filter refuses a call
   */
  void trySystemCalls() {
    int fd = LinuxCalls.socket(UdpSocket.AF_INET6, UdpSocket.SOCK_DGRAM_CLOEXEC_NONBLOCK, 0);
    if (fd < 0) {
      throw new SystemCallException("socket(AF_INET6, SOCK_DGRAM)", -fd);
    }
    try {
      sockets.trySystemCalls(fd);
      sendStage.trySystemCalls(fd);
    } finally {
      LinuxCalls.close(fd);
    }
  }

  /**
   * Queues an event for the control thread. If the queue is full, the event is lost, but the queue
   * pairs' states have the same information. Must be called last, since it allocates and may
   * therefore fail. The caller holds the lock.
   */
  void publishEvent(AsyncEventListener.Kind kind, int queuePairNumber) {
    events.offer(new AsyncEvent(kind, queuePairNumber));
  }

  /**
   * Notifies the device of a posted request. This thread sends it at once if the lock is free;
   * otherwise the lock's holder sends it.
   */
  void posted(int slot) {
    doorbells.ring(slot);
    if (lock.tryLock()) {
      sendPosted();
    }
    sendUnclaimedPosts();
  }

  /*
   * Sends requests whose doorbells were set after the lock's holder had last taken doorbells. See
   * ProgressLock.
   */
  private void sendUnclaimedPosts() {
    while (doorbells.isAnyRung(usedWords) && lock.tryLock()) {
      sendPosted();
    }
  }

  /* Sends posted requests. The caller holds the lock, and this method releases it. */
  private void sendPosted() {
    try {
      takeDoorbells();
      long nowNs = clock.nanoTime();
      transmit(nowNs);
      waiting.addToBundle(sendStage, nowNs);
      sendStage.endPost(queuePairCount > 1 && nowNs - lastCallNs < CALLERS_IDLE_NS, nowNs);
      timerAt(sendStage.dueNs());
    } finally {
      unlock();
    }
  }

  /** Releases the lock, and wakes the progress thread if the deadline has become earlier. */
  void unlock() {
    long deadline = timers.dueNs();
    if (deadline != publishedDue) {
      publishedDue = deadline;
    }
    if (progressThread != null) {
      progressThread.wakeBefore(deadline);
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

  /**
   * Returns whether a thread is making progress now, or did so a moment ago. A round counts however
   * long it takes.
   */
  boolean hasRecentCallers() {
    return lock.isHeld() || clock.nanoTime() - lastCallNs < CALLERS_IDLE_NS;
  }

  long nowNs() {
    return clock.nanoTime();
  }

  private int round(long nowNs) {
    sendStage.endHold(callersIdle);
    int work = takeDoorbells();
    work += receiveAll(nowNs);
    work += gate.release(this, nowNs);
    waiting.endRound(callersIdle);
    if (timers.begin(nowNs)) {
      serveTimers(nowNs);
    }
    timerAt(gate.dueNs());
    work += transmit(nowNs);
    waiting.addToBundle(sendStage, nowNs);
    sendStage.sendPending();
    timerAt(sendStage.dueNs());
    return work;
  }

  /** Delays a queue pair's acknowledgement by this number of rounds. */
  void waitRounds(int slot, int count) {
    waiting.begin(slot, count);
  }

  boolean areCallersIdle() {
    return callersIdle;
  }

  private int takeDoorbells() {
    int rung = 0;
    int words = usedWords;
    for (int i = 0; i < words; i++) {
      long bits = doorbells.take(i);
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
    boolean inBatches = gate.isOpen() && WriteBatchReceiver.isEligible(stride);
    int packets = 0;
    for (int at = 0; at < length; ) {
      int batch =
          inBatches
              ? takeBatch(address + at, stride, (length - at) / stride, high, low, port, nowNs)
              : 0;
      if (batch > 0) {
        packets += batch;
        at += batch * stride;
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

  /*
   * Processes the next packets of a train together, if they are consecutive WRITEs
   * (WriteBatchReceiver). Returns their number; 0 if the next packet has to be processed singly.
   */
  private int takeBatch(
      long packet, int stride, int most, long high, long low, int port, long nowNs) {
    if (most == 0) {
      return 0;
    }
    int number = PacketFormat.queuePairOf(PacketFormat.networkLong(packet));
    SoftQueuePair qp = queuePairs[number & QUEUE_PAIRS - 1];
    if (qp == null || qp.number() != number) {
      return 0;
    }
    int link = qp.links().linkOfSource(high, low, port);
    return link < 0 ? 0 : qp.onBatch(batches, packet, stride, most, link, nowNs);
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
    int link = qp.links().linkOfSource(sourceHigh, sourceLow, sourcePort);
    if (link < 0) {
      drops.count(DropCounters.Reason.WRONG_SOURCE);
      return;
    }
    if (opcode == PacketFormat.BUNDLE) {
      if (qp.links().get(link).isSoft()) {
        int packets =
            Bundle.open(this, drops, view, base, packet, bytes, sourceHigh, sourceLow, nowNs);
        /* The receiver has already counted the datagram as one packet. */
        counters.received(Math.max(0, packets - 1));
      } else {
        drops.count(DropCounters.Reason.UNKNOWN_OPCODE);
      }
      return;
    }
    if (PacketFormat.isMarked(firstWord)) {
      /* The sender computed the checksum with this byte as zero. */
      Memory.ALL.set(ValueLayout.JAVA_BYTE, packet + 4, (byte) 0);
    }
    if (!qp.links().get(link).isChecksumRight(view, base, packet, bytes, sourcePort)) {
      drops.count(DropCounters.Reason.BAD_CHECKSUM);
      return;
    }
    long payload = packet + PacketFormat.BTH_BYTES + extended;
    qp.onPacket(opcode, packet, payload, payloadBytes, link, nowNs);
  }

  /** Returns the longest time that the current packet may have waited in its socket. */
  long longestSocketWaitNs() {
    return sockets.longestSocketWaitNs();
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
    timers.requestAt(whenNs);
  }

  void activate(int slot) {
    active[slot >> 6] |= 1L << slot;
  }

  private int transmit(long nowNs) {
    int words = usedWords;
    int before = sendStage.sends();
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
            timerAt(nowNs); /* the progress thread then continues without callers */
          }
        }
      }
    }
    return sendStage.sends() - before;
  }

  /* Methods of the control path, called under the lock. */

  /** Returns the first free slot from this one on, or −1 if there is none. */
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

  /** Moves every queue pair that uses this overrun completion queue to ERROR. */
  void failUsersOf(SoftCompletionQueue cq) {
    for (SoftQueuePair qp : queuePairs) {
      if (qp != null && qp.usesQueue(cq)) {
        qp.enterError();
      }
    }
  }

  void addReceiveSocket(int fd) {
    sockets.add(fd, clock.nanoTime());
  }

  /** Removes a socket. Called before the socket is closed. */
  void removeReceiveSocket(int fd) {
    sockets.remove(fd);
  }
}
