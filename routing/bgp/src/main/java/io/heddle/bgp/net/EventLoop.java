package io.heddle.bgp.net;

import io.heddle.platform.Errno;
import io.heddle.platform.FaultReporter;
import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.platform.ResilientThread;
import io.heddle.platform.SystemCallException;
import io.heddle.platform.WakeUp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.function.Consumer;
import org.agrona.collections.Int2ObjectHashMap;
import org.jctools.queues.atomic.unpadded.MpscUnboundedAtomicUnpaddedArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Event loop of a speaker, on one thread. It waits in epoll for sockets, timers and tasks, and runs
 * their handlers one after another. Handlers must not block.
 */
public final class EventLoop implements AutoCloseable {
  public static final int READABLE = 1;
  public static final int WRITABLE = 4;

  /** Handler of a registered descriptor. */
  @FunctionalInterface
  public interface Handler {
    /**
     * @param events epoll's bits: readable, writable, error 8, hang-up 16
     */
    void onReady(int events);

    /**
     * Ends the work of a descriptor after {@link #onReady} threw an exception or {@link Error},
     * which is logged already.
     *
     * @return false if the error isn't limited to this descriptor's work
     */
    default boolean onBroken(Throwable thrown) {
      return false;
    }
  }

  /**
   * Handler of an error that the loop's thread can't recover from; the handler ends the process.
   */
  @FunctionalInterface
  public interface FatalHandler {
    void end(Throwable thrown);
  }

  /** A task with a due time. For the loop's thread. */
  public static final class Timer implements Comparable<Timer> {
    private final long dueNs;
    private final long order;
    private final Runnable task;
    private boolean cancelled;

    private Timer(long dueNs, long order, Runnable task) {
      this.dueNs = dueNs;
      this.order = order;
      this.task = task;
    }

    public void cancel() {
      cancelled = true;
    }

    @Override
    public int compareTo(Timer other) {
      long difference = dueNs - other.dueNs;
      return difference == 0 ? Long.compare(order, other.order) : Long.signum(difference);
    }

    @Override
    public boolean equals(Object other) {
      return this == other;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(this);
    }
  }

  static final int SCRATCH_BYTES = 1 << 18;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLL_CTL_DEL = 2;
  private static final int EPOLL_CTL_MOD = 3;
  private static final int EVENTS = 64;
  private static final int TASKS_OF_A_CHUNK = 64;
  /* struct epoll_event is packed on x86-64 only. */
  private static final int EVENT_BYTES = System.getProperty("os.arch").equals("amd64") ? 12 : 16;
  private static final long CLOSE_LIMIT_MS = 5_000;

  private final Log log;
  private final Arena arena = Arena.ofShared();
  private final long events = Memory.allocate(arena, (long) EVENTS * EVENT_BYTES, 16);
  private final long oneEvent = Memory.allocate(arena, 16, 16);
  private final long scratch = Memory.allocate(arena, SCRATCH_BYTES, 64);
  private final int epollFd;
  private final WakeUp wakeUp;

  /*
   * Descriptor numbers are reused: an event for a number's previous owner must not reach its next
   * owner.
   */
  private record Registration(int generation, Handler handler) {}

  private final Int2ObjectHashMap<Registration> handlers = new Int2ObjectHashMap<>();
  private final PriorityQueue<Timer> timers = new PriorityQueue<>();
  private final Queue<Runnable> tasks =
      new MpscUnboundedAtomicUnpaddedArrayQueue<>(TASKS_OF_A_CHUNK);
  private final ResilientThread thread;
  private volatile FatalHandler fatalHandler = thrown -> {};

  /* Allocated in advance, since no memory may be left when a task throws. */
  private final Consumer<Throwable> onTaskFault = this::handleTaskFault;
  private final Consumer<Throwable> onHandlerFault = this::handleBroken;
  private @Nullable Handler servedHandler;
  private long timerOrder;
  private int generations;
  private volatile boolean closed;

  /**
   * @throws SystemCallException if no descriptors are left
   */
  public EventLoop(Log log) {
    this.log = log;
    thread =
        new ResilientThread("heddle-bgp", log, this::round).onPersistentFailure(this::endByFailure);
    try {
      wakeUp = new WakeUp(arena);
      epollFd = LinuxCalls.epollCreate();
      if (epollFd < 0) {
        throw new SystemCallException("epoll_create1", -epollFd);
      }
      LinuxCalls.closeWith(arena, epollFd);
      control(EPOLL_CTL_ADD, wakeUp.fd(), READABLE);
      thread.start();
    } catch (HeddleException refused) {
      arena.close();
      throw refused;
    }
  }

  public Log log() {
    return log;
  }

  /** Runs a task soon on the loop's thread. For any thread. */
  public void execute(Runnable task) {
    tasks.add(task);
    if (!thread.isCurrent() && !closed) {
      /* If the wake-up fails, the task waits for the next event, which is harmless. */
      wakeUp.wake();
    }
  }

  /** Returns whether the loop has ended. For any thread. */
  public boolean hasEnded() {
    return !thread.isAlive();
  }

  public boolean isLoopThread() {
    return thread.isCurrent();
  }

  /** Runs a task after a delay. For the loop's thread. */
  public Timer schedule(long delayNs, Runnable task) {
    Timer timer = new Timer(System.nanoTime() + delayNs, timerOrder++, task);
    timers.add(timer);
    return timer;
  }

  /** Calls the handler whenever the descriptor is ready. For the loop's thread. */
  public void register(int fd, int interest, Handler handler) {
    handlers.put(fd, new Registration(++generations, handler));
    control(EPOLL_CTL_ADD, fd, interest);
  }

  public void change(int fd, int interest) {
    control(EPOLL_CTL_MOD, fd, interest);
  }

  /** Removes a descriptor; call it before closing the descriptor. */
  public void unregister(int fd) {
    if (handlers.remove(fd) != null) {
      control(EPOLL_CTL_DEL, fd, 0);
    }
  }

  /** Returns the address of memory that any handler may use until it returns. */
  long scratch() {
    return scratch;
  }

  private void control(int operation, int fd, int interest) {
    Memory.ALL.set(Memory.NATIVE_INT, oneEvent, interest);
    Registration registration = handlers.get(fd);
    long generation = registration == null ? 0 : registration.generation;
    Memory.ALL.set(Memory.NATIVE_LONG, oneEvent + EVENT_BYTES - 8, generation << 32 | fd);
    int result = LinuxCalls.epollControl(epollFd, operation, fd, oneEvent);
    if (result < 0) {
      throw new SystemCallException("epoll_ctl(" + operation + ", " + fd + ")", -result);
    }
  }

  private boolean round() {
    if (closed) {
      runTasks();
      return false;
    }
    MemorySegment capture = LinuxCalls.errnoCapture();
    int ready = LinuxCalls.epollWait(capture, epollFd, events, EVENTS, nextDelayMs());
    if (ready < 0 && ready != -Errno.EINTR) {
      throw new SystemCallException("epoll_wait", -ready);
    }
    for (int i = 0; i < ready; i++) {
      long at = events + (long) i * EVENT_BYTES;
      dispatch(
          Memory.ALL.get(Memory.NATIVE_LONG, at + EVENT_BYTES - 8),
          Memory.ALL.get(Memory.NATIVE_INT, at));
    }
    runTasks();
    runTimers();
    return true;
  }

  /**
   * Sets the handler of an error that the loop's thread can't recover from. The handler runs on
   * that thread.
   */
  public void onPersistentFailure(FatalHandler end) {
    fatalHandler = end;
  }

  private void endByFailure() {
    fatalHandler.end(new IllegalStateException("every round of the BGP thread fails"));
  }

  private void dispatch(long token, int readyEvents) {
    int fd = (int) token;
    if (fd == wakeUp.fd()) {
      wakeUp.reset();
      return;
    }
    Registration registration = handlers.get(fd);
    if (registration != null && registration.generation == (int) (token >>> 32)) {
      try {
        registration.handler.onReady(readyEvents);
      } catch (Throwable thrown) {
        FaultReporter.releaseReserve();
        servedHandler = registration.handler;
        thread.faults().reportAndHandle("serving a descriptor failed", thrown, onHandlerFault);
      }
    }
  }

  private void runTasks() {
    for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
      guarded(task);
    }
  }

  private void runTimers() {
    long nowNs = System.nanoTime();
    for (Timer first = timers.peek();
        first != null && (first.cancelled || first.dueNs - nowNs <= 0);
        first = timers.peek()) {
      timers.remove();
      if (!first.cancelled) {
        guarded(first.task);
      }
    }
  }

  private void guarded(Runnable task) {
    try {
      task.run();
    } catch (Throwable thrown) {
      FaultReporter.releaseReserve();
      thread.faults().reportAndHandle("continues after", thrown, onTaskFault);
    }
  }

  private void handleBroken(Throwable thrown) {
    Handler handler = servedHandler;
    if (handler == null || !handler.onBroken(thrown)) {
      handleTaskFault(thrown);
    }
  }

  /*
   * Ends the process after an error that leaves the state unknown. Two kinds of error don't end it:
   * a HeddleException, which means that the system or Heddle has refused a request; and an
   * InternalError, which the JVM throws for an access to a mapped file that another process has
   * truncated.
   */
  private void handleTaskFault(Throwable thrown) {
    if (!(thrown instanceof HeddleException) && !(thrown instanceof InternalError)) {
      fatalHandler.end(thrown);
    }
  }

  private int nextDelayMs() {
    if (!tasks.isEmpty()) {
      return 0;
    }
    Timer first = timers.peek();
    if (first == null) {
      return -1;
    }
    long delayNs = first.dueNs - System.nanoTime();
    return delayNs <= 0 ? 0 : (int) Math.min(Integer.MAX_VALUE, (delayNs + 999_999) / 1_000_000);
  }

  /**
   * Runs the tasks that were passed to {@link #execute} before, then ends the thread. For any
   * thread but the loop's.
   */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    execute(() -> closed = true);
    thread.join(CLOSE_LIMIT_MS);
    if (!thread.isAlive()) {
      arena.close();
    }
  }
}
