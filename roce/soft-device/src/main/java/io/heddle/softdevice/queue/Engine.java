package io.heddle.softdevice.queue;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.NanoClock;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.transport.Counters;
import io.heddle.roce.transport.Pause;
import io.heddle.roce.transport.RegionTable;
import io.heddle.roce.transport.RingShares;
import io.heddle.softdevice.io.AsyncEvent;
import io.heddle.softdevice.io.NarrowPathWarning;
import io.heddle.softdevice.io.PacketGate;
import io.heddle.softdevice.io.PagePipe;
import io.heddle.softdevice.io.ReceiveSockets;
import io.heddle.softdevice.io.SendStage;
import io.heddle.softdevice.io.SystemCallFailures;
import io.heddle.softdevice.io.UdpSocket;
import io.heddle.verbs.AsyncEventListener;
import java.lang.foreign.Arena;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Data path of one open device, in rounds of progress. A round takes doorbells, receives, serves
 * timers and makes the queue pairs transmit. Everything but {@link #progress}, {@link #posted} and
 * the published deadline runs under the progress lock.
 */
final class Engine {
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
  final QueuePairTable queuePairs = new QueuePairTable();

  final NarrowPathWarning narrowPathWarning;

  final SendStage sendStage;

  final PacketDispatcher dispatcher;

  private final SystemCallFailures callFailures;
  private final NanoClock clock;
  private final ReceiveSockets sockets;
  private final PacketGate gate;
  private final Doorbells doorbells = new Doorbells(QueuePairTable.SLOTS);
  private final long[] active = new long[QueuePairTable.SLOTS / 64];
  private final PendingAcknowledgements waiting = new PendingAcknowledgements(queuePairs);
  private boolean callersIdle;
  private int firstWord;
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
    dispatcher = new PacketDispatcher(arena, queuePairs, gate, counters);
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
    while (doorbells.isAnyRung(queuePairs.usedWords()) && lock.tryLock()) {
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
      sendStage.endPost(queuePairs.count() > 1 && nowNs - lastCallNs < CALLERS_IDLE_NS, nowNs);
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
    work += dispatcher.releaseHeld(nowNs);
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
    int words = queuePairs.usedWords();
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
    int packets = sockets.receiveAll(dispatcher, nowNs);
    if (packets > 0) {
      counters.received(packets);
    }
    return packets;
  }

  /** Returns the longest time that the current packet may have waited in its socket. */
  long longestSocketWaitNs() {
    return sockets.longestSocketWaitNs();
  }

  private void serveTimers(long nowNs) {
    long begunNs = clock.nanoTime();
    long next = Pause.NEVER_NS;
    int words = queuePairs.usedWords();
    for (int i = 0; i < words * 64; i++) {
      SoftQueuePair qp = queuePairs.at(i);
      if (qp != null) {
        qp.onTimer(nowNs);
        next = Math.min(next, qp.dueNs());
      }
    }
    timers.end(begunNs, clock.nanoTime(), next);
  }

  /** Requests a round no later than this time. */
  void timerAt(long whenNs) {
    timers.requestAt(whenNs);
  }

  void activate(int slot) {
    active[slot >> 6] |= 1L << slot;
  }

  private int transmit(long nowNs) {
    int words = queuePairs.usedWords();
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
        SoftQueuePair qp = queuePairs.at(slot);
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

  /** Removes the queue pair in this slot from the table. */
  void remove(int slot) {
    queuePairs.remove(slot);
    active[slot >> 6] &= ~(1L << slot);
  }

  /* Methods of the control path that take the lock. */

  /** Receives from a socket from now on. */
  void startReceiving(int fd) {
    lock.lock();
    try {
      sockets.add(fd, clock.nanoTime());
    } finally {
      unlock();
    }
  }

  /** Receives no more from a socket. Called before the socket is closed. */
  void stopReceiving(int fd) {
    lock.lock();
    try {
      sockets.remove(fd);
    } finally {
      unlock();
    }
  }
}
