package io.heddle.transport.control;

import io.heddle.platform.FaultReporter;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.OpenFiles;
import io.heddle.platform.ResilientThread;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Queue;
import java.util.function.Consumer;
import org.jctools.queues.atomic.unpadded.MpscUnboundedAtomicUnpaddedArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * The control thread: serves control channels and timers, blocked in a selector otherwise. One per
 * process, a daemon; it holds no state of the data path.
 *
 * <p>What it does for one connection and can't finish ends that connection ({@link ControlTasks}),
 * and it goes on. Where that fails as well, or its own loop does again and again, {@link #isLost}
 * says so for good, and everything that depends on it has to fail.
 */
public final class ControlLoop implements AutoCloseable {
  /** What a registered channel does when it is ready. */
  interface Handler {
    void onReady(SelectionKey key);

    /** {@link #onReady} ended with an exception or {@link Error}, which has been told. */
    void onBroken(SelectionKey key);
  }

  private static final int TASKS_OF_A_CHUNK = 64;

  /* Where no timer is due a sleep ends by what comes. */
  private static final long NO_LIMIT_NS = Long.MAX_VALUE / 4;

  /** The channel that met a fault. One object, made before it is needed. */
  private static final class Unserved implements Consumer<Throwable> {
    private @Nullable Handler handler;
    private @Nullable SelectionKey key;

    @Override
    public void accept(Throwable told) {
      if (handler != null && key != null) {
        handler.onBroken(key);
      }
    }
  }

  private final Selector selector;
  private final NanoClock clock;
  private final PausingClock time;
  private final Queue<Runnable> tasks =
      new MpscUnboundedAtomicUnpaddedArrayQueue<>(TASKS_OF_A_CHUNK);
  private final Timers timers = new Timers();
  private final ByteBuffer scratchFrame = ControlCodec.newFrame();
  /* Outside the heap: into an array a read goes by way of such a buffer. */
  private final ByteBuffer arrivedBytes = ByteBuffer.allocateDirect(scratchFrame.capacity());
  /* A descriptor that nobody uses, for the call that comes when there is none left. */
  private @Nullable SocketChannel spare;
  private final Log log;
  private final ResilientThread thread;
  private final UnauthenticatedChannels unauthenticated;
  private final Heartbeats heartbeats;
  private final LingeringConnections lingering = LingeringConnections.ofThisProcess();
  private final Consumer<Throwable> ignoreFailure = alreadyLogged -> {};
  private final Unserved unserved = new Unserved();
  private final Consumer<SelectionKey> dispatcher = this::dispatch;
  private boolean late;
  private volatile Runnable whenLost = () -> {};
  private volatile boolean lost;
  private volatile boolean closed;

  /**
   * @param clock the process's; {@link #nanoTime} is this thread's own time by it
   */
  public ControlLoop(NanoClock clock, Log log) {
    this.clock = clock;
    time = new PausingClock(clock);
    unauthenticated = new UnauthenticatedChannels(clock);
    heartbeats = new Heartbeats(time::nanoTime);
    this.log = log;
    try {
      selector = Selector.open();
    } catch (IOException failure) {
      throw new HeddleException(
          "the control thread can't open a selector: " + OpenFiles.explain(failure), failure);
    }
    every(UnauthenticatedChannels.SWEEP_PERIOD_NS, unauthenticated::judge);
    every(Heartbeats.BEAT_NS, heartbeats::beat);
    thread =
        new ResilientThread("heddle-control", log, this::round)
            .onPersistentFailure(() -> lost = true);
    try {
      thread.start();
    } catch (HeddleException noThread) {
      closeSelector();
      throw noThread;
    }
  }

  private void closeSelector() {
    try {
      selector.close();
    } catch (IOException alreadyBroken) {
      // What it held is gone either way.
    }
  }

  /** What to do where this thread can't serve anybody any more; on it, until it succeeds. */
  public void onPersistentFailure(Runnable consequence) {
    whenLost = consequence;
  }

  /** Whether this thread serves nobody any more. Any thread. */
  public boolean isLost() {
    return lost;
  }

  /**
   * @param broken hears what ends a task of this owner. The first thing that it does needs no
   *     memory, and is what makes its callers fail
   */
  public ControlTasks tasksOf(Consumer<Throwable> broken) {
    return new ControlTasks(this, broken);
  }

  /** Runs something on the control thread, soon. Any thread. */
  public void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  private void wake() {
    try {
      selector.wakeup();
    } catch (InternalError unusable) {
      lost = true; /* the thread tells why, where its own look at the channels fails */
    }
  }

  /**
   * The time by which timers are due and silence is judged: it stands still while this thread is
   * kept from its processor. Control thread only.
   */
  public long nanoTime() {
    return time.nanoTime();
  }

  /**
   * Runs something on the control thread after a delay of {@link #nanoTime}, whatever happens until
   * then; {@link ControlTasks} can cancel. Control thread only.
   */
  public void schedule(long delayNs, Runnable action) {
    timers.add(time.nanoTime() + delayNs, 0, action, ignoreFailure, null);
  }

  void schedule(long delayNs, Runnable action, Consumer<Throwable> broken, Timers.Owner owner) {
    timers.add(time.nanoTime() + delayNs, 0, action, broken, owner);
  }

  /** Nothing that this owner has scheduled will run. Control thread only. */
  void cancelAll(Timers.Owner owner) {
    timers.cancelAll(owner);
  }

  /** Runs something on the control thread soon, and again and again, whatever becomes of it. */
  public void every(long periodNs, Runnable action) {
    execute(() -> timers.add(time.nanoTime(), periodNs, action, ignoreFailure, null));
  }

  SelectionKey register(SelectableChannel channel, int operations, Handler handler)
      throws IOException {
    return channel.register(selector, operations, handler);
  }

  private void reserveSpareDescriptor() {
    if (spare == null) {
      try {
        spare = SocketChannel.open();
      } catch (IOException noneLeft) {
        // It is asked for again in the next round.
        spare = null;
      }
    }
  }

  /** Gives up the descriptor that is kept; false where there is none. Control thread. */
  boolean releaseSpareDescriptor() {
    SocketChannel given = spare;
    spare = null;
    if (given != null) {
      closeQuietly(given);
    }
    return given != null;
  }

  /* A sleep that a stop of the process cut short ends without a look at the channels. */
  private void serveChannels() throws IOException {
    long delayMs = nextDelayMs();
    time.beforeSleep(delayMs == 0 ? NO_LIMIT_NS : delayMs * 1_000_000);
    selector.select(dispatcher, delayMs);
    late |= time.afterWake();
    if (late) {
      late = false;
      selector.selectNow(dispatcher);
    }
  }

  private boolean round() throws IOException {
    if (lost) {
      whenLost.run();
      closeAllQuietly();
      return false;
    }
    if (!closed) {
      try {
        serveChannels();
      } catch (IOException unusable) {
        /* Something in this process has closed the plugin's files. No later look would do better. */
        lost = true;
        throw unusable;
      }
      runTasks();
      runTimers();
      reserveSpareDescriptor();
      return true;
    }
    runTasks();
    closeAll();
    return false;
  }

  /* Peers learn of our end by that of their channel; closing the selector alone would leave all sockets open. */
  private void closeAll() throws IOException {
    releaseSpareDescriptor();
    for (SelectionKey key : selector.keys()) {
      closeQuietly(key.channel());
    }
    selector.close();
  }

  private void closeAllQuietly() {
    try {
      closeAll();
    } catch (IOException | ClosedSelectorException | InternalError unusable) {
      // Its descriptors are gone already, or go with the process.
    }
  }

  /** Serves a channel that is, or may be, ready. Control thread. */
  void dispatch(SelectionKey key) {
    late |= time.afterWake();
    if (!key.isValid()) {
      /* Closed by what was served before it in the same round. */
      return;
    }
    Handler handler = (Handler) key.attachment();
    try {
      handler.onReady(key);
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      unserved.handler = handler;
      unserved.key = key;
      deal("serving a control channel failed", thrown, unserved);
    }
  }

  /** Closes what is of no use any more; that this fails changes nothing. */
  static void closeQuietly(SelectableChannel channel) {
    try {
      channel.close();
    } catch (IOException alreadyBroken) {
      // The descriptor is gone either way.
    }
  }

  /** What a channel reads into; nothing in it is a channel's for longer. Control thread. */
  ByteBuffer arrivedBytes() {
    return arrivedBytes;
  }

  /** Where a channel puts a frame together. Control thread. */
  ByteBuffer scratchFrame() {
    return scratchFrame;
  }

  Log log() {
    return log;
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      guarded(task, ignoreFailure);
    }
  }

  private void runTimers() throws IOException {
    readPendingInput();
    long now = time.nanoTime();
    for (Timers.Timer due = timers.takeDue(now); due != null; due = timers.takeDue(now)) {
      guarded(due.action(), due.broken());
      readPendingInput();
    }
  }

  /* What is judged here next may have been said while this thread was away. */
  private void readPendingInput() throws IOException {
    if (time.afterWork()) {
      selector.selectNow(dispatcher);
    }
  }

  /** Runs something whose owner hears of what it threw. Control thread. */
  void guarded(Runnable task, Consumer<Throwable> broken) {
    try {
      task.run();
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      deal("a control task failed", thrown, broken);
    }
  }

  /* Who couldn't be made to fail would be waited for: then everybody fails. */
  private void deal(String what, Throwable thrown, Consumer<Throwable> broken) {
    if (!thread.faults().reportAndHandle(what, thrown, broken)) {
      lost = true;
    }
  }

  /** Which the time of strangers goes by. */
  NanoClock clock() {
    return clock;
  }

  /** Who has connected and not shown that it is a peer. Control thread. */
  UnauthenticatedChannels unauthenticated() {
    return unauthenticated;
  }

  /** By which it is seen that peers live. Control thread. */
  public Heartbeats heartbeats() {
    return heartbeats;
  }

  /** Connections that were closed here and aren't yet at the other end. Control thread. */
  public LingeringConnections lingering() {
    return lingering;
  }

  private long nextDelayMs() {
    Timers.Timer first = timers.first();
    if (!tasks.isEmpty()) {
      return 1;
    }
    if (first == null) {
      return 0; // for ever: execute() wakes the selector
    }
    return Math.max(1, (first.dueNs() - time.nanoTime() + 999_999) / 1_000_000);
  }

  /**
   * Runs what was given to {@link #execute} before, closes every channel, and ends the thread. Any
   * thread but the control thread.
   */
  @Override
  public void close() {
    closed = true;
    wake();
    thread.join(5_000);
  }
}
