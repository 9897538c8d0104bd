package io.heddle.softdevice.queue;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import io.heddle.platform.ResilientThread;
import io.heddle.platform.WakeUp;
import io.heddle.roce.transport.Pause;
import io.heddle.softdevice.io.Epoll;
import java.lang.foreign.Arena;
import java.util.concurrent.locks.LockSupport;

/**
 * Thread that makes progress while no caller polls. While callers poll, it only checks periodically
 * that they still poll. Once they have stopped, it blocks in epoll until a packet arrives or a
 * timer is due. It never spins.
 *
 * <p>Pairing: this thread stores {@code sleepsUntil} (volatile) and then reads the published
 * deadline; a lock holder publishes the deadline (volatile) and then reads {@code sleepsUntil}. One
 * of them sees the other's value, so no deadline is missed.
 */
final class ProgressThread {
  private static final long CALLERS_FORGOTTEN_NS = 20_000_000;
  private static final long TURN_NS = 50_000;
  private static final long PAUSE_NS = 500_000;
  private static final long SHORTEST_CHECK_NS = 50_000;
  /*
   * Longest interval between two checks whether callers still poll. Each check is a context switch
   * on a core that a caller may need: checks every 200 µs took 30 % of the caller's time.
   */
  private static final long LONGEST_CHECK_NS = 2_000_000;
  private static final long AWAKE = Long.MIN_VALUE;
  private static final int STACK_BYTES = 256 << 10;

  private final Engine engine;
  private final Log log;
  private final Epoll epoll;
  private final WakeUp wakeUp;
  private final ResilientThread thread;
  private long checkNs = SHORTEST_CHECK_NS;
  private volatile long sleepsUntil = AWAKE;
  private volatile boolean stopping;
  private volatile boolean wakeFailed; /* logged once */

  /**
   * @param arena must outlive the thread; its close closes the descriptors
   */
  ProgressThread(Engine engine, Arena arena, Log log, String name) {
    this.engine = engine;
    this.log = log;
    wakeUp = new WakeUp(arena);
    epoll = new Epoll(arena);
    watch(wakeUp.fd());
    thread =
        new ResilientThread(name, STACK_BYTES, log, this::round)
            .onPersistentFailure(engine::reportFatalError);
  }

  void start() {
    thread.start();
  }

  /** Watches this socket from now on. Called on the control path. */
  void watch(int fd) {
    epoll.add(fd, fd);
  }

  /** Wakes the thread for an earlier deadline. Called after the deadline is published. */
  void wakeBefore(long deadlineNs) {
    if (deadlineNs < sleepsUntil) {
      sleepsUntil = AWAKE; /* one wake-up is enough */
      wake();
    }
  }

  private void wake() {
    int result = wakeUp.wake();
    if (result < 0 && !wakeFailed) {
      wakeFailed = true;
      log.warn(
          "soft0: the progress thread can't be woken: write to its eventfd failed: %s",
          Errno.describe(-result));
    }
  }

  /** Ends the thread and waits for it. */
  void stop() {
    stopping = true;
    wake();
    thread.unpark();
    thread.joinUninterruptibly();
  }

  private boolean round() {
    if (stopping) {
      return false;
    }
    if (engine.hasRecentCallers()) {
      LockSupport.parkNanos(checkNs);
      checkNs = Math.min(2 * checkNs, LONGEST_CHECK_NS);
      return true;
    }
    sleep();
    if (engine.nowNs() - engine.lastCallNs() > CALLERS_FORGOTTEN_NS) {
      checkNs = SHORTEST_CHECK_NS;
    }
    if (!stopping && !engine.hasRecentCallers()) {
      takeOver();
    }
    return true;
  }

  private void takeOver() {
    long beganNs = engine.nowNs();
    long lastCallNs = engine.lastCallNs();
    while (!stopping && engine.lastCallNs() == lastCallNs) {
      int work = engine.runBackgroundRound();
      if (work == 0) {
        return;
      }
      long nowNs = engine.nowNs();
      if (work < 0 || nowNs - lastCallNs < CALLERS_FORGOTTEN_NS && nowNs - beganNs > TURN_NS) {
        /*
         * A caller may seem idle, even while it holds the lock, only because this thread uses the
         * caller's core. Waiting in epoll would not free the core, since sockets stay readable.
         * Without this pause, both threads would alternate on the core by whole time slices.
         */
        LockSupport.parkNanos(PAUSE_NS);
        return;
      }
    }
  }

  private void sleep() {
    long deadline = engine.publishedDue();
    sleepsUntil = deadline;
    long again = engine.publishedDue();
    if (again < deadline) {
      deadline = again;
    }
    int timeoutMs = -1;
    if (deadline != Pause.NEVER_NS) {
      long left = deadline - engine.nowNs();
      timeoutMs = left <= 0 ? 0 : (int) Math.min(60_000, (left + 999_999) / 1_000_000);
    }
    int ready = epoll.await(timeoutMs);
    sleepsUntil = AWAKE;
    if (ready < 0 && ready != -Errno.EINTR) {
      engine.onPermanentError("epoll_wait", epoll.fd(), -ready);
      LockSupport.parkNanos(LONGEST_CHECK_NS);
    }
    for (int i = 0; i < ready; i++) {
      if (epoll.number(i) == wakeUp.fd()) {
        wakeUp.reset();
      }
    }
  }
}
