package io.heddle.sim.calendar;

import java.util.Arrays;

/**
 * Binary heap of events by time. Events of the same nanosecond are ordered by their arrival in the
 * heap.
 */
final class FarEvents {
  private long[] timeNs = new long[64];
  private long[] order = new long[64];
  private int[] event = new int[64];
  private int size;
  private long orders;

  int size() {
    return size;
  }

  /** Returns the time of the earliest event. The heap must not be empty. */
  long earliestNs() {
    return timeNs[0];
  }

  void add(long atNs, int number) {
    if (size == event.length) {
      timeNs = Arrays.copyOf(timeNs, 2 * size);
      order = Arrays.copyOf(order, 2 * size);
      event = Arrays.copyOf(event, 2 * size);
    }
    int hole = size++;
    long own = orders++;
    while (hole > 0 && isBefore(atNs, own, hole - 1 >>> 1)) {
      move(hole - 1 >>> 1, hole);
      hole = hole - 1 >>> 1;
    }
    set(hole, atNs, own, number);
  }

  /** Removes the earliest event and returns its number. The heap must not be empty. */
  int take() {
    int taken = event[0];
    size--;
    long atNs = timeNs[size];
    long own = order[size];
    int number = event[size];
    int hole = 0;
    while (2 * hole + 1 < size) {
      int child = 2 * hole + 1;
      if (child + 1 < size && isBefore(timeNs[child + 1], order[child + 1], child)) {
        child++;
      }
      if (isBefore(atNs, own, child)) {
        break;
      }
      move(child, hole);
      hole = child;
    }
    set(hole, atNs, own, number);
    return taken;
  }

  private boolean isBefore(long atNs, long own, int other) {
    return atNs < timeNs[other] || atNs == timeNs[other] && own < order[other];
  }

  private void move(int from, int to) {
    set(to, timeNs[from], order[from], event[from]);
  }

  private void set(int at, long atNs, long own, int number) {
    timeNs[at] = atNs;
    order[at] = own;
    event[at] = number;
  }
}
