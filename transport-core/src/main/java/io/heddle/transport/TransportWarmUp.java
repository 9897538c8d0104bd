package io.heddle.transport;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.heddle.platform.FaultReporter;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.NanoClock;
import io.heddle.platform.ResilientThread;
import io.heddle.stats.DistinctErrors;
import io.heddle.transport.connection.Connector;
import io.heddle.transport.connection.CounterSource;
import io.heddle.transport.connection.ListenComm;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.data.RecvComm;
import io.heddle.transport.data.RequestLines;
import io.heddle.transport.data.SendComm;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.device.TransportResult;
import java.lang.foreign.Arena;

/**
 * Warm-up: a connection of this process with itself, over its own device, with messages that let
 * the JVM compile the data path before NCCL's first message. Planes of this connection are also
 * failed on purpose. With uncompiled code, a job's first failover would take some 30 ms longer,
 * which is most of the time that the job would stand still.
 *
 * <p>Runs on the calling thread, or on a thread of its own. Leaves only compiled code and a freshly
 * collected heap.
 */
final class TransportWarmUp implements Runnable {
  private static final String NAME = "heddle-warm-up";
  private static final String FAILURE_MESSAGE =
      "the warm-up failed, so the first messages will be slower";
  private static final int LARGEST_BYTES = 1 << 20;
  private static final int[] SIZES = {64, 4096, 64 << 10, LARGEST_BYTES};
  private static final int HOST_MEMORY = 1;
  private static final int TAG = 1;
  private static final long GIVE_UP_NS = 1_000_000_000;

  /** Number of plane failures: after the second failure the code runs at its final speed. */
  private static final int PLANE_FAILURES = 2;

  /* Offsets of irecv's arguments for one buffer, from the start of the arrays. */
  private static final int SIZE_AT = 8;
  private static final int TAG_AT = 16;
  private static final int HANDLE_AT = 24;

  private final Connector connector;
  private final NetDevice device;
  private final NanoClock clock;
  private final Log log;
  private final long budgetNs;
  private final FaultReporter faults;
  private final Thread thread = new Thread(this, NAME);
  private volatile boolean stopped;

  TransportWarmUp(Connector connector, NetDevice device, NanoClock clock, Log log, long budgetNs) {
    this.clock = clock;
    this.connector = connector;
    this.device = device;
    this.log = log;
    this.budgetNs = budgetNs;
    faults = new FaultReporter(NAME, log);
  }

  void start() {
    thread.setDaemon(true);
    try {
      ResilientThread.start(thread);
    } catch (HeddleException noThread) {
      faults.report(FAILURE_MESSAGE, noThread);
    }
  }

  boolean isRunning() {
    return thread.isAlive();
  }

  /** Stops the thread and waits for its end, which takes at most the time of one message. */
  void stop() {
    stopped = true;
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void run() {
    try {
      warmUp();
    } catch (HeddleException failure) {
      log.info("%s: %s", FAILURE_MESSAGE, String.valueOf(failure.getMessage()));
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      faults.report(FAILURE_MESSAGE, thrown);
    }
  }

  private void warmUp() {
    long giveUpNs = clock.nanoTime() + GIVE_UP_NS;
    /*
     * If a handshake or message stays unfinished, the arena is never freed, since its memory may
     * still be accessed.
     */
    Arena arena = Arena.ofShared();
    CounterSource counters = CounterSource.unpublished(arena);
    long handle = Memory.allocate(arena, ConnectionHandle.BYTES, Long.BYTES);
    SendComm sender = null;
    RecvComm receiver = null;
    boolean whole = false;
    /* Discards the warm-up's log lines after they were formatted. */
    Log unread = new DistinctErrors((level, sentence) -> {});
    try (ListenComm listener = connector.listen(device, handle, counters, unread)) {
      while ((sender == null || receiver == null) && !stopped && clock.nanoTime() - giveUpNs < 0) {
        sender =
            sender == null ? connector.connect(device, -1, handle, counters, unread, true) : sender;
        receiver = receiver == null ? connector.accept(listener, true) : receiver;
        Thread.onSpinWait();
      }
      if (sender != null && receiver != null) {
        whole = exchange(arena, sender, receiver, clock.nanoTime() + budgetNs);
      }
    } finally {
      if (sender != null) {
        sender.close();
      }
      if (receiver != null) {
        receiver.close();
      }
      if (whole) {
        arena.close();
      }
      if (!stopped) {
        collectGarbage();
      }
    }
  }

  /*
   * Collects the garbage of the start and moves survivors to the old generation now, while no
   * request is in flight. Otherwise the first collection would stop a job's calls for milliseconds.
   * Later collections find little garbage.
   */
  private static void collectGarbage() {
    System.gc();
  }

  /*
   * Exchanges messages until the deadline, then simulates plane failures. Returns false where a
   * message is still in flight.
   */
  private boolean exchange(Arena arena, SendComm sender, RecvComm receiver, long deadlineNs) {
    Exchange exchange = new Exchange(clock, arena, sender, receiver);
    long messages = 0;
    boolean whole = true;
    while (whole && !stopped && clock.nanoTime() - deadlineNs < 0) {
      whole = exchange.message(SIZES[(int) (messages++ % SIZES.length)]);
    }
    int most = Math.min(sender.carriers() - 1, PLANE_FAILURES);
    int fallen = 0;
    while (whole && !stopped && fallen < most) {
      whole = exchange.messageDuringPlaneFailure(fallen++);
    }
    if (!whole) {
      log.info("the warm-up ended with message %d in flight", messages);
      return false;
    }
    exchange.deregister();
    log.info("warmed up with %d messages and %d simulated plane failures", messages, fallen);
    return true;
  }

  /**
   * Exchange of messages from one end to the other, one at a time. Its methods return false on a
   * timeout.
   */
  private static final class Exchange {
    private final NanoClock clock;
    private final SendComm sender;
    private final RecvComm receiver;
    private final long from;
    private final long fromHandle;
    private final long toHandle;
    private final long arrays;

    /* State of the message in flight. */
    private long receive;
    private long send;
    private long giveUpNs;

    Exchange(NanoClock clock, Arena arena, SendComm sender, RecvComm receiver) {
      this.clock = clock;
      this.sender = sender;
      this.receiver = receiver;
      from = Memory.allocate(arena, LARGEST_BYTES, 4096);
      fromHandle = sender.registerMemory(from, LARGEST_BYTES, HOST_MEMORY);
      long to = Memory.allocate(arena, LARGEST_BYTES, 4096);
      toHandle = receiver.registerMemory(to, LARGEST_BYTES, HOST_MEMORY);
      arrays = Memory.allocate(arena, 32, 8);
      Memory.ALL.set(Memory.NATIVE_LONG, arrays, to);
      Memory.ALL.set(Memory.NATIVE_LONG, arrays + SIZE_AT, LARGEST_BYTES);
      Memory.ALL.set(JAVA_INT, arrays + TAG_AT, TAG);
      Memory.ALL.set(Memory.NATIVE_LONG, arrays + HANDLE_AT, toHandle);
    }

    void deregister() {
      sender.deregisterMemory(fromHandle);
      receiver.deregisterMemory(toHandle);
    }

    boolean message(int bytes) {
      return post(bytes) && finish(send) && finish(receive);
    }

    /*
     * Sends a message while this plane fails, and waits until the plane is out of use: the message
     * may complete before.
     */
    boolean messageDuringPlaneFailure(int plane) {
      if (!post(LARGEST_BYTES)) {
        return false;
      }
      sender.failCarrier(plane, "to warm up");
      return finish(send) && finish(receive) && awaitOutOfUse(plane);
    }

    private boolean post(int bytes) {
      giveUpNs = clock.nanoTime() + GIVE_UP_NS;
      receive = 0;
      while (receive == 0 && clock.nanoTime() - giveUpNs < 0) {
        receive = receiver.irecv(1, arrays, arrays + SIZE_AT, arrays + TAG_AT, arrays + HANDLE_AT);
      }
      send = 0;
      while (send == 0 && clock.nanoTime() - giveUpNs < 0) {
        send = sender.isend(from, bytes, TAG, fromHandle);
      }
      return receive > 0 && send > 0;
    }

    private boolean finish(long request) {
      while (Memory.getIntAcquire(request) == RequestLines.PENDING) {
        if (!progress()) {
          return false;
        }
      }
      Memory.setIntRelease(request, RequestLines.RELEASED);
      return true;
    }

    private boolean awaitOutOfUse(int plane) {
      while (!sender.isOutOfUse(plane) || !receiver.isOutOfUse(plane)) {
        if (!progress()) {
          return false;
        }
      }
      return true;
    }

    private boolean progress() {
      return clock.nanoTime() - giveUpNs < 0
          && sender.progress() == TransportResult.SUCCESS
          && receiver.progress() == TransportResult.SUCCESS;
    }
  }
}
