package io.heddle.transport.control;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Timer queue: a binary heap whose entries know their indexes, so that adding and cancelling one
 * take logarithmic time. A cancelled timer is removed at once, with all that its action refers to.
 * Control thread.
 *
 * <p>Only {@link #add} may allocate; a periodic timer is reinserted without allocation.
 */
final class Timers {
  private static final int FIRST_CAPACITY = 64;
  private static final int NO_INDEX = -1;

  /** Action and the time at which it is due. */
  static final class Timer {
    private long dueNs;
    private long order;
    private int index = NO_INDEX;
    private final long periodNs; /* 0 for once */
    private final Runnable action;
    private final Consumer<Throwable> broken;

    /* Neighbours in the list of the owner's timers. */
    private final @Nullable Owner owner;
    private @Nullable Timer before;
    private @Nullable Timer after;

    private Timer(
        long periodNs, Runnable action, Consumer<Throwable> broken, @Nullable Owner owner) {
      this.periodNs = periodNs;
      this.action = action;
      this.broken = broken;
      this.owner = owner;
    }

    long dueNs() {
      return dueNs;
    }

    Runnable action() {
      return action;
    }

    /** Returns the handler of the action's exceptions. */
    Consumer<Throwable> broken() {
      return broken;
    }

    private boolean isBefore(Timer other) {
      long difference = dueNs - other.dueNs;
      return difference < 0 || difference == 0 && order - other.order < 0;
    }
  }

  /** Owner of timers that are cancelled together. */
  static final class Owner {
    private @Nullable Timer first;

    private void link(Timer timer) {
      Timer second = first;
      timer.after = second;
      if (second != null) {
        second.before = timer;
      }
      first = timer;
    }

    private void unlink(Timer timer) {
      Timer before = timer.before;
      Timer after = timer.after;
      timer.before = null;
      timer.after = null;
      if (before == null) {
        first = after;
      } else {
        before.after = after;
      }
      if (after != null) {
        after.before = before;
      }
    }
  }

  private @Nullable Timer[] heap = new @Nullable Timer[FIRST_CAPACITY];
  private int count;
  private long added;

  int count() {
    return count;
  }

  /**
   * Adds a timer.
   *
   * @param periodNs period of its repetition; 0 for none
   * @param owner owner that may cancel the timer; null for none
   */
  Timer add(
      long dueNs,
      long periodNs,
      Runnable action,
      Consumer<Throwable> broken,
      @Nullable Owner owner) {
    if (count == heap.length) {
      heap = Arrays.copyOf(heap, 2 * count);
    }
    Timer timer = new Timer(periodNs, action, broken, owner);
    insert(timer, dueNs);
    if (owner != null) {
      owner.link(timer);
    }
    return timer;
  }

  /** Returns the next timer; null where there is none. */
  @Nullable Timer first() {
    return count == 0 ? null : heap[0];
  }

  /**
   * Returns the next timer, if it is due. It is removed, or reinserted if it is periodic, before
   * this returns, so a failure of its action has no effect on the queue.
   */
  @Nullable Timer takeDue(long nowNs) {
    Timer timer = first();
    if (timer == null || timer.dueNs - nowNs > 0) {
      return null;
    }
    if (timer.periodNs > 0) {
      remove(timer);
      insert(timer, nowNs + timer.periodNs);
    } else {
      cancel(timer);
    }
    return timer;
  }

  /** Removes a timer, if it is still pending. */
  void cancel(Timer timer) {
    if (timer.index != NO_INDEX) {
      remove(timer);
      Owner owner = timer.owner;
      if (owner != null) {
        owner.unlink(timer);
      }
    }
  }

  /** Removes all timers of an owner. */
  void cancelAll(Owner owner) {
    for (Timer timer = owner.first; timer != null; timer = owner.first) {
      cancel(timer);
    }
  }

  private void insert(Timer timer, long dueNs) {
    timer.dueNs = dueNs;
    timer.order = added++;
    rise(timer, count++);
  }

  private void remove(Timer timer) {
    int hole = timer.index;
    timer.index = NO_INDEX;
    Timer last = at(--count);
    heap[count] = null;
    if (last != timer) {
      sink(last, hole);
      rise(last, last.index);
    }
  }

  private Timer at(int index) {
    Timer there = heap[index];
    if (there == null) {
      throw new IllegalStateException("no timer at " + index + " of " + count);
    }
    return there;
  }

  private void put(Timer timer, int index) {
    heap[index] = timer;
    timer.index = index;
  }

  private void rise(Timer timer, int from) {
    int index = from;
    while (index > 0) {
      int parent = (index - 1) >>> 1;
      Timer above = at(parent);
      if (!timer.isBefore(above)) {
        break;
      }
      put(above, index);
      index = parent;
    }
    put(timer, index);
  }

  private void sink(Timer timer, int from) {
    int index = from;
    for (int child = 2 * index + 1; child < count; child = 2 * index + 1) {
      if (child + 1 < count && at(child + 1).isBefore(at(child))) {
        child++;
      }
      Timer below = at(child);
      if (!below.isBefore(timer)) {
        break;
      }
      put(below, index);
      index = child;
    }
    put(timer, index);
  }
}
