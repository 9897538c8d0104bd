package io.heddle.softdevice.queue;

import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.WorkCompletion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Consumer;

/**
 * Ring of completions with one producer, the holder of the progress lock, and one consumer, the
 * polling thread.
 *
 * <p>Pairings: {@link #push} releases {@code tail} after it has filled an entry, and {@link #poll}
 * acquires {@code tail} before it reads the entry. {@code poll} releases {@code head} after it has
 * read, and {@code push} acquires {@code head} before it overwrites an entry. The first pairing
 * also makes data visible to the poller that the device placed before it pushed the completion.
 */
final class SoftCompletionQueue implements CompletionQueue {
  private static final VarHandle TAIL = index("tail");
  private static final VarHandle HEAD = index("head");
  private static final WorkCompletion.Kind[] KINDS = WorkCompletion.Kind.values();

  /*
   * Layout of an entry (row), with lengths in bytes: id (8) | immediate (4) | length (4) | facts
   * (4). The facts' low 17 bits: has immediate (1 bit) | kind (8 bits) | status (8 bits). Untouched
   * entries take no memory pages.
   */
  private static final int ROW_BYTES = 32;
  private static final int IMMEDIATE = 8;
  private static final int LENGTH = 12;
  private static final int FACTS = 16;

  private final DeviceContext context;
  private final Consumer<SoftCompletionQueue> onClose;
  private final int mask;
  private final long rows;

  @SuppressWarnings("unused") /* by TAIL */
  private volatile long tail;

  private long producerHead; /* value of head that the lock's holder last read */

  @SuppressWarnings("unused") /* by HEAD */
  private volatile long head;

  private volatile long arrivalsAddress; /* 0 if no address is published */
  private volatile boolean overrun;
  private boolean closed;
  private int users; /* number of attached queue pairs; guarded by the progress lock */

  /**
   * @param rows mapped memory of the entries, {@link #bytes} long; the queue unmaps it
   * @param onClose called before the queue closes; it throws an exception to refuse that
   */
  SoftCompletionQueue(
      DeviceContext context, int capacity, long rows, Consumer<SoftCompletionQueue> onClose) {
    this.context = context;
    this.onClose = onClose;
    this.rows = rows;
    mask = rows(capacity) - 1;
  }

  private static int rows(int capacity) {
    return Integer.highestOneBit(Math.max(2, capacity) - 1) << 1;
  }

  /** Returns the memory size in bytes of a queue of this capacity. */
  static long bytes(int capacity) {
    return (long) rows(capacity) * ROW_BYTES;
  }

  private long row(long index) {
    return rows + (index & mask) * ROW_BYTES;
  }

  private static VarHandle index(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(SoftCompletionQueue.class, field, long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  /**
   * Adds a completion. The caller holds the progress lock. Returns false if the queue is full: it
   * has then overrun.
   */
  boolean push(
      long id,
      WorkCompletion.Status status,
      WorkCompletion.Kind kind,
      int lengthBytes,
      boolean hasImmediate,
      int immediate) {
    long at = (long) TAIL.get(this);
    if (at - producerHead > mask) {
      producerHead = (long) HEAD.getAcquire(this);
      if (at - producerHead > mask) {
        overrun = true;
        return false;
      }
    }
    long row = row(at);
    Memory.setLong(row, id);
    Memory.setInt(row + IMMEDIATE, immediate);
    Memory.setInt(row + LENGTH, lengthBytes);
    Memory.setInt(row + FACTS, (hasImmediate ? 1 << 16 : 0) | kind.ordinal() << 8 | status.code());
    TAIL.setRelease(this, at + 1);
    long counterAddress = arrivalsAddress;
    if (counterAddress != 0) {
      Memory.setLongRelease(counterAddress, at + 1);
    }
    return true;
  }

  @Override
  public boolean publishArrivalsAt(long address) {
    arrivalsAddress = address;
    return true;
  }

  @Override
  public int poll(WorkCompletion[] completions) {
    long from = (long) HEAD.get(this);
    int ready = (int) Math.min(completions.length, (long) TAIL.getAcquire(this) - from);
    if (ready == 0) {
      return overrun ? -Errno.ENOSPC : 0;
    }
    for (int i = 0; i < ready; i++) {
      long row = row(from + i);
      int fact = Memory.getInt(row + FACTS);
      WorkCompletion to = completions[i];
      to.workRequestId = Memory.getLong(row);
      to.status = WorkCompletion.Status.fromCode(fact & 0xff);
      to.kind = KINDS[fact >>> 8 & 0xff];
      to.hasImmediate = (fact >>> 16 & 1) != 0;
      to.lengthBytes = Memory.getInt(row + LENGTH);
      to.immediate = Memory.getInt(row + IMMEDIATE);
    }
    HEAD.setRelease(this, from + ready);
    return ready;
  }

  boolean isOverrun() {
    return overrun;
  }

  void attach() {
    users++;
  }

  void detach() {
    users--;
  }

  int users() {
    return users;
  }

  @Override
  public void close() {
    if (!closed) {
      onClose.accept(this);
      closed = true;
      free();
    }
  }

  /* Frees the entries' memory. Later polls find nothing. */
  private void free() {
    HEAD.setRelease(this, (long) TAIL.getAcquire(this));
    MemoryCalls.unmapMemory(rows, (mask + 1L) * ROW_BYTES);
  }
}
