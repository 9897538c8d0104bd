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
 * Control thread: serves control channels and timers, and otherwise blocks in a selector. One per
 * process, a daemon; it holds no data-path state.
 *
 * <p>An exception in one connection's task ends that connection ({@link ControlTasks}), and the
 * thread goes on. If the connection can't be ended either, or if the loop itself fails repeatedly,
 * {@link #isLost} is set permanently, and everything that depends on the thread must fail.
 */
public final class ControlLoop implements AutoCloseable {
  /** Handler of a registered channel's readiness. */
  interface Handler {
    void onReady(SelectionKey key);

    /**
     * Handles the failure of {@link #onReady} by an exception or {@link Error}, which has been
     * logged.
     */
    void onBroken(SelectionKey key);
  }

  private static final int TASKS_OF_A_CHUNK = 64;

  /* Longest sleep while no timer is pending, so long that only input or a task ends it. */
  private static final long NO_LIMIT_NS = Long.MAX_VALUE / 4;

  /** Failure handler of a channel; one object, allocated before it is needed. */
  private static final class Unserved implements Consumer<Throwable> {
    private @Nullable Handler handler;
    private @Nullable SelectionKey key;

    @Override
    public void accept(Throwable thrown) {
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
  /*
   * Direct, since Java fills a heap buffer by reading into a temporary direct buffer and copying.
   */
  private final ByteBuffer arrivedBytes = ByteBuffer.allocateDirect(scratchFrame.capacity());
  /*
   * Spare descriptor for a connection that arrives when the process has no other descriptor left.
   */
  private @Nullable SocketChannel spareDescriptor;
  private final Log log;
  private final ResilientThread thread;
  private final UnauthenticatedChannels unauthenticated;
  private final Heartbeats heartbeats;
  private final LingeringConnections lingering = LingeringConnections.ofThisProcess();
  private final Consumer<Throwable> ignoreFailure = alreadyLogged -> {};
  private final Unserved unserved = new Unserved();
  private final Consumer<SelectionKey> dispatcher = this::dispatch;
  private boolean late;
  private volatile Runnable onLost = () -> {};
  private volatile boolean lost;
  private volatile boolean closed;

  /**
   * @param clock clock of the process; {@link #nanoTime} follows it, but pauses while the control
   *     thread is delayed
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
    every(UnauthenticatedChannels.SWEEP_PERIOD_NS, unauthenticated::evictExpired);
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
      // The selector's resources are gone either way.
    }
  }

  /**
   * Sets the action to run once this thread can't serve any more. It runs on this thread, and is
   * repeated until it succeeds. Then the thread closes all channels and ends.
   */
  public void onPersistentFailure(Runnable consequence) {
    onLost = consequence;
  }

  /** Returns whether this thread has stopped serving. Any thread. */
  public boolean isLost() {
    return lost;
  }

  /**
   * Returns an object through which a new owner runs tasks on this thread.
   *
   * @param broken handler of the tasks' exceptions. Its first step must need no memory, and must
   *     make the owner's callers fail
   */
  public ControlTasks tasksOf(Consumer<Throwable> broken) {
    return new ControlTasks(this, broken);
  }

  /** Runs a task on the control thread, soon. Any thread. */
  public void execute(Runnable task) {
    tasks.add(task);
    wake();
  }

  private void wake() {
    try {
      selector.wakeup();
    } catch (InternalError unusable) {
      lost = true; /* the thread logs the cause when its own select fails */
    }
  }

  /**
   * Returns the time by which timers and the silence of peers are measured; it pauses while this
   * thread is delayed. Control thread only.
   */
  public long nanoTime() {
    return time.nanoTime();
  }

  /**
   * Runs a task after a delay of {@link #nanoTime}, on the control thread. The task can't be
   * cancelled; tasks of {@link ControlTasks} can. Control thread only.
   */
  public void schedule(long delayNs, Runnable action) {
    timers.add(time.nanoTime() + delayNs, 0, action, ignoreFailure, null);
  }

  void schedule(long delayNs, Runnable action, Consumer<Throwable> broken, Timers.Owner owner) {
    timers.add(time.nanoTime() + delayNs, 0, action, broken, owner);
  }

  /** Cancels all timers of this owner. Control thread only. */
  void cancelAll(Timers.Owner owner) {
    timers.cancelAll(owner);
  }

  /** Runs a task on the control thread soon and then periodically, even after failures. */
  public void every(long periodNs, Runnable action) {
    execute(() -> timers.add(time.nanoTime(), periodNs, action, ignoreFailure, null));
  }

  SelectionKey register(SelectableChannel channel, int operations, Handler handler)
      throws IOException {
    return channel.register(selector, operations, handler);
  }

  private void reserveSpareDescriptor() {
    if (spareDescriptor == null) {
      try {
        spareDescriptor = SocketChannel.open();
      } catch (IOException noneLeft) {
        // The loop tries again in its next round.
        spareDescriptor = null;
      }
    }
  }

  /** Releases the spare descriptor; returns false where there is none. Control thread. */
  boolean releaseSpareDescriptor() {
    SocketChannel given = spareDescriptor;
    spareDescriptor = null;
    if (given != null) {
      closeQuietly(given);
    }
    return given != null;
  }

  /*
   * Waits for input and serves it. After a late wake-up, for example because the process was
   * stopped, the channels are polled once more before timers run.
   */
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
      onLost.run();
      closeAllQuietly();
      return false;
    }
    if (!closed) {
      try {
        serveChannels();
      } catch (IOException unusable) {
        /*
         * Code in this process has closed the plugin's descriptors. No later select would succeed.
         */
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

  /*
   * Closes all channels and the selector. Peers notice the end of this process by the close of
   * their channels; closing only the selector would leave the sockets open.
   */
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
      // The channels' descriptors are gone already, or close with the process.
    }
  }

  /** Serves a channel that is, or may be, ready. Control thread. */
  void dispatch(SelectionKey key) {
    late |= time.afterWake();
    if (!key.isValid()) {
      /* An earlier handler of the same round has closed the channel. */
      return;
    }
    Handler handler = (Handler) key.attachment();
    try {
      handler.onReady(key);
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      unserved.handler = handler;
      unserved.key = key;
      handleFault("serving a control channel failed", thrown, unserved);
    }
  }

  /** Closes a channel and ignores failures. */
  static void closeQuietly(SelectableChannel channel) {
    try {
      channel.close();
    } catch (IOException alreadyBroken) {
      // The descriptor is gone either way.
    }
  }

  /** Returns the shared input buffer; its contents aren't kept between reads. Control thread. */
  ByteBuffer arrivedBytes() {
    return arrivedBytes;
  }

  /** Returns the shared buffer for encoding a frame. Control thread. */
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

  /*
   * Reads the input that arrived while this thread was delayed, before timers check peers for
   * silence.
   */
  private void readPendingInput() throws IOException {
    if (time.afterWork()) {
      selector.selectNow(dispatcher);
    }
  }

  /** Runs a task and passes its exception to the owner's handler. Control thread. */
  void guarded(Runnable task, Consumer<Throwable> broken) {
    try {
      task.run();
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      handleFault("a control task failed", thrown, broken);
    }
  }

  /*
   * Passes the exception to the handler of the task's owner. If the handler fails as well, the
   * owner's callers would wait forever, so the whole loop counts as lost.
   */
  private void handleFault(String what, Throwable thrown, Consumer<Throwable> broken) {
    if (!thread.faults().reportAndHandle(what, thrown, broken)) {
      lost = true;
    }
  }

  /** Returns the process's clock, by which the age of unauthenticated channels is measured. */
  NanoClock clock() {
    return clock;
  }

  /** Returns the channels that haven't authenticated yet. Control thread. */
  UnauthenticatedChannels unauthenticated() {
    return unauthenticated;
  }

  /** Returns the heartbeats with peers. Control thread. */
  public Heartbeats heartbeats() {
    return heartbeats;
  }

  /** Returns the connections that are closed here and not yet at the peer. Control thread. */
  public LingeringConnections lingering() {
    return lingering;
  }

  private long nextDelayMs() {
    Timers.Timer first = timers.first();
    if (!tasks.isEmpty()) {
      return 1;
    }
    if (first == null) {
      return 0; // waits without limit: execute() wakes the selector
    }
    return Math.max(1, (first.dueNs() - time.nanoTime() + 999_999) / 1_000_000);
  }

  /**
   * Runs the queued tasks, closes every channel, and ends the thread. Any thread but the control
   * thread.
   */
  @Override
  public void close() {
    closed = true;
    wake();
    thread.join(5_000);
  }
}
