package io.heddle.bridge;

import io.heddle.bridge.config.BridgeConfig;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.limit.Limiter;
import io.heddle.platform.DatagramCalls;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.ResilientThread;
import io.heddle.platform.ThreadAffinity;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The only thread that forwards packets. It polls both fabrics in turn, and sleeps when neither has
 * packets, unless it has a processor of its own to spin on.
 */
final class DataThread {
  private static final int POLLFD_BYTES = 8;
  private static final short POLLIN = 1;

  /** Maximum duration of a sleep. */
  static final long SLEEP_NS = 20_000_000;

  private static final long CHECK_MS = 100;
  /* Rounds per call of run. */
  private static final int ROUNDS = 64;

  private final Forwarder[] forwarders;
  private final Limiter limiter;
  private final FabricOutlet exit;
  private final int core;
  private final long pollfds;
  private final long timespec;
  private final ResilientThread thread;
  private final AtomicLong beats = new AtomicLong();
  private @Nullable MemorySegment capture;
  private volatile boolean ending;
  /* Written by the threads that change the configuration or the ownership of groups. */
  private volatile BridgeTables next;
  private BridgeTables current;

  /**
   * @param descriptors file descriptors of both fabrics, to poll
   * @param tables initial tables
   * @param core processor to spin on; {@link BridgeConfig#NO_CORE} to sleep
   * @param whenLost runs when rounds keep failing
   */
  DataThread(
      Arena arena,
      Forwarder[] forwarders,
      Limiter limiter,
      FabricOutlet exit,
      int[] descriptors,
      BridgeTables tables,
      int core,
      Log log,
      Runnable whenLost) {
    next = tables;
    current = tables;
    this.forwarders = forwarders;
    this.limiter = limiter;
    this.exit = exit;
    this.core = core;
    pollfds = Memory.allocate(arena, 2L * POLLFD_BYTES, 8);
    timespec = Memory.allocate(arena, 16, 8);
    for (int i = 0; i < descriptors.length; i++) {
      Memory.setInt(pollfds + (long) i * POLLFD_BYTES, descriptors[i]);
      Memory.ALL.set(Memory.NATIVE_SHORT, pollfds + (long) i * POLLFD_BYTES + 4, POLLIN);
    }
    thread =
        new ResilientThread("heddle-bridge-data", log, this::run).onPersistentFailure(whenLost);
  }

  /** Returns a number that changes with each round. */
  long beats() {
    return beats.getOpaque();
  }

  /**
   * Checks that this process may run on a processor.
   *
   * @param core number of the processor; {@link BridgeConfig#NO_CORE} for none
   * @throws HeddleException if this process may not run there
   */
  static void requireProcessor(int core) {
    BitSet allowed = ThreadAffinity.allowed();
    if (core != BridgeConfig.NO_CORE && !allowed.get(core)) {
      throw new HeddleException(
          "core = "
              + core
              + " isn't a processor that the bridge may run on; allowed are "
              + allowed);
    }
  }

  void start() {
    thread.start();
  }

  /** Sets the tables that the data thread uses from its next round on. */
  void setTables(BridgeTables tables) {
    next = tables;
  }

  /** Waits until the data thread uses the newest tables, or has ended. */
  void awaitTablesInUse() {
    CountDownLatch inUse = next.inUse();
    boolean interrupted = false;
    boolean waits = true;
    while (waits) {
      try {
        waits = !inUse.await(CHECK_MS, TimeUnit.MILLISECONDS) && thread.isAlive();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean run() {
    if (capture == null) {
      capture = LinuxCalls.errnoCapture();
      if (core != BridgeConfig.NO_CORE) {
        ThreadAffinity.pinThisThread(core);
      }
    }
    MemorySegment errno = capture;
    try {
      /*
       * Checks before each round whether the thread must end, so that it ends even if its rounds
       * keep failing.
       */
      for (int i = 0; i < ROUNDS && !ending; i++) {
        round(errno);
      }
    } catch (RuntimeException | Error failed) {
      /* Packets that weren't flushed lie in the receive buffers, which the next round reuses. */
      exit.discard();
      limiter.flushed();
      throw failed;
    }
    return !ending;
  }

  private void round(MemorySegment errno) {
    beats.setOpaque(beats.getPlain() + 1);
    BridgeTables tables = next;
    if (tables != current) {
      adopt(tables);
      current = tables;
      tables.inUse().countDown();
    }
    int trains = 0;
    for (int side = 0; side < forwarders.length; side++) {
      trains += forwarders[side].forward(tables);
    }
    if (limiter.advance(System.nanoTime()) > 0) {
      exit.flush();
      limiter.flushed();
    } else if (trains == 0 && !ending) {
      sleep(errno);
    }
  }

  /*
   * Sleeps until a packet arrives, or a queued packet may be sent. With a processor to spin on,
   * returns at once.
   */
  private void sleep(MemorySegment errno) {
    if (core != BridgeConfig.NO_CORE) {
      Thread.onSpinWait();
      return;
    }
    for (Forwarder each : forwarders) {
      if (!each.maySleep()) {
        return;
      }
    }
    long wait = limiter.waitNs(System.nanoTime());
    if (wait != 0) {
      Memory.setLong(timespec, 0);
      Memory.setLong(timespec + 8, wait < 0 ? SLEEP_NS : Math.min(wait, SLEEP_NS));
      DatagramCalls.poll(errno, pollfds, 2, timespec);
    }
  }

  /* Applies new tables. Rare: after a change of the configuration or of the ownership of groups. */
  private void adopt(BridgeTables tables) {
    long now = System.nanoTime();
    for (int side = 0; side < tables.links().size(); side++) {
      limiter.setLink(side, tables.links().get(side), now);
    }
    for (BridgedGroup old : tables.retired()) {
      BridgedGroup heir = tables.replacementOf(old);
      if (tables.pgm() != null && (heir == null || heir.pgm() == null)) {
        tables.pgm().forget(old.slot());
      }
      for (int side = 0; side < forwarders.length; side++) {
        LimitedFlow flow = old.flowFrom(side);
        if (flow != null) {
          limiter.retire(flow, heir == null ? null : heir.flowFrom(side), now);
        }
      }
    }
  }

  /** Ends the thread and waits for its end. */
  void end() {
    ending = true;
    thread.unpark();
    thread.joinUninterruptibly();
  }
}
