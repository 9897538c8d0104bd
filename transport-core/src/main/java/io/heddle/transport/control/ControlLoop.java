package io.heddle.transport.control;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The control thread: serves control channels and timers, blocked in a selector otherwise. One per
 * process, a daemon; it holds no state of the data path.
 */
public final class ControlLoop implements AutoCloseable {
  /** What a registered channel does when it is ready. */
  interface Handler {
    void onReady(SelectionKey key);

    /** {@link #onReady} ended with an exception, which has been told. */
    void onBroken(SelectionKey key);
  }

  private record Timer(long dueNs, long order, Runnable action) implements Comparable<Timer> {
    @Override
    public int compareTo(Timer other) {
      long difference = dueNs - other.dueNs;
      return difference == 0 ? Long.compare(order, other.order) : Long.signum(difference);
    }
  }

  /* Where no timer is due a sleep ends by what comes. */
  private static final long FOR_EVER_NS = Long.MAX_VALUE / 4;

  private final Selector selector;
  private final OwnTime time = new OwnTime(NanoClock.SYSTEM);
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final ByteBuffer scratchFrame = ControlCodec.newFrame();
  /* Outside the heap: into an array a read goes by way of such a buffer. */
  private final ByteBuffer arrivedBytes = ByteBuffer.allocateDirect(scratchFrame.capacity());
  /* A descriptor that nobody uses, for the call that comes when there is none left. */
  private @Nullable SocketChannel spare;
  private final Log log;
  private final Thread thread;
  private final Consumer<SelectionKey> dispatcher = this::dispatch;
  private boolean late;
  private long timerOrder;
  private volatile boolean closed;

  public ControlLoop(Log log) {
    this.log = log;
    try {
      selector = Selector.open();
    } catch (IOException failure) {
      throw new HeddleException("the control thread can't open a selector", failure);
    }
    thread = new Thread(this::run, "heddle-control");
    thread.setDaemon(true);
    thread.start();
  }

  /** Runs something on the control thread, soon. Any thread. */
  public void execute(Runnable task) {
    tasks.add(task);
    selector.wakeup();
  }

  /**
   * The time by which timers are due and silence is judged: it stands still while this thread is
   * kept from its processor. Control thread only.
   */
  public long nanoTime() {
    return time.nanoTime();
  }

  /**
   * Runs something on the control thread after a delay of {@link #nanoTime}. Control thread only.
   */
  public void schedule(long delayNs, Runnable action) {
    timers.add(new Timer(time.nanoTime() + delayNs, timerOrder++, action));
  }

  SelectionKey register(SelectableChannel channel, int operations, Handler handler)
      throws IOException {
    return channel.register(selector, operations, handler);
  }

  private void run() {
    while (!closed) {
      try {
        serveChannels();
        runTasks();
        runTimers();
        keepSpare();
      } catch (IOException | RuntimeException failure) {
        log.warn("the control thread goes on after %s", failure);
      }
    }
    runTasks();
    giveSpare();
    try {
      /* Peers learn of our end by that of their channel; closing the selector alone would leave all sockets open. */
      for (SelectionKey key : selector.keys()) {
        key.channel().close();
      }
      selector.close();
    } catch (IOException failure) {
      log.warn("closing the control thread's channels: %s", failure);
    }
  }

  private void keepSpare() {
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
  boolean giveSpare() {
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
    time.sleeps(delayMs == 0 ? FOR_EVER_NS : delayMs * 1_000_000);
    selector.select(dispatcher, delayMs);
    late |= time.wakes();
    if (late) {
      late = false;
      selector.selectNow(dispatcher);
    }
  }

  private void dispatch(SelectionKey key) {
    late |= time.wakes();
    if (!key.isValid()) {
      /* Closed by what was served before it in the same round. */
      return;
    }
    Handler handler = (Handler) key.attachment();
    try {
      handler.onReady(key);
    } catch (RuntimeException failure) {
      log.warn("serving a control channel failed: %s", failure);
      handler.onBroken(key);
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
      guarded(task);
    }
  }

  private void runTimers() throws IOException {
    hearWhatCame();
    long now = time.nanoTime();
    for (Timer first = timers.peek();
        first != null && first.dueNs - now <= 0;
        first = timers.peek()) {
      timers.remove();
      guarded(first.action);
      hearWhatCame();
    }
  }

  /* What is judged here next may have been said while this thread was away. */
  private void hearWhatCame() throws IOException {
    if (time.works()) {
      selector.selectNow(dispatcher);
    }
  }

  private void guarded(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException failure) {
      log.warn("a control task failed: %s", failure);
    }
  }

  private long nextDelayMs() {
    Timer first = timers.peek();
    if (!tasks.isEmpty()) {
      return 1;
    }
    if (first == null) {
      return 0; // for ever: execute() wakes the selector
    }
    return Math.max(1, (first.dueNs - time.nanoTime() + 999_999) / 1_000_000);
  }

  /**
   * Runs what was given to {@link #execute} before, closes every channel, and ends the thread. Any
   * thread but the control thread.
   */
  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      thread.join(5_000);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
