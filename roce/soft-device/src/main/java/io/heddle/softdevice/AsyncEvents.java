package io.heddle.softdevice;

import io.heddle.verbs.AsyncEventListener;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Asynchronous events from the lock holder to the control thread. When it is full the newest are
 * dropped: the states of the queue pairs say the same.
 *
 * <p>Pairing: {@link #add} releases {@code tail} after filling the row, {@link #poll} acquires it;
 * {@code poll} releases {@code head} after reading, {@code add} acquires it.
 */
final class AsyncEvents {
  private static final int SIZE = 1024;
  private static final AsyncEventListener.Kind[] KINDS = AsyncEventListener.Kind.values();
  private static final VarHandle TAIL = index("tail");
  private static final VarHandle HEAD = index("head");

  private final int[] kinds = new int[SIZE];
  private final int[] queuePairs = new int[SIZE];

  @SuppressWarnings("unused") /* by TAIL */
  private volatile long tail;

  @SuppressWarnings("unused") /* by HEAD */
  private volatile long head;

  private static VarHandle index(String field) {
    try {
      return MethodHandles.lookup().findVarHandle(AsyncEvents.class, field, long.class);
    } catch (ReflectiveOperationException impossible) {
      throw new ExceptionInInitializerError(impossible);
    }
  }

  /** Under the progress lock. */
  void add(AsyncEventListener.Kind kind, int queuePairNumber) {
    long at = (long) TAIL.get(this);
    if (at - (long) HEAD.getAcquire(this) == SIZE) {
      return;
    }
    kinds[(int) at & SIZE - 1] = kind.ordinal();
    queuePairs[(int) at & SIZE - 1] = queuePairNumber;
    TAIL.setRelease(this, at + 1);
  }

  /** Control thread. */
  synchronized int poll(AsyncEventListener listener) {
    int count = 0;
    for (long at = (long) HEAD.get(this); at < (long) TAIL.getAcquire(this); at++) {
      AsyncEventListener.Kind kind = KINDS[kinds[(int) at & SIZE - 1]];
      int queuePair = queuePairs[(int) at & SIZE - 1];
      HEAD.setRelease(this, at + 1);
      listener.onAsyncEvent(kind, queuePair);
      count++;
    }
    return count;
  }
}
