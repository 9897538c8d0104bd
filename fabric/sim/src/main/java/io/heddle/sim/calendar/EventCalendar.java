package io.heddle.sim.calendar;

import java.util.Arrays;

/**
 * Calendar queue of events. It is a ring with one bucket per nanosecond, and a bitmap of the
 * buckets that aren't empty; each bucket is a list of event numbers. Events that are later than the
 * ring's length wait in a heap. Events of the same nanosecond are returned in the order in which
 * they entered the ring, so runs are reproducible. The caller assigns the numbers, and a number may
 * be in the calendar only once. The calendar allocates memory only when more events wait than ever
 * before.
 */
public final class EventCalendar {
  /** Result of {@link #next} when the calendar is empty. */
  public static final int NOTHING = -1;

  private static final int RING_BITS = 20;
  private static final int RING = 1 << RING_BITS;
  private static final int WORDS = RING / Long.SIZE;
  private static final int SUMMARY = WORDS / Long.SIZE;

  private final int[] first = new int[RING];
  private final int[] last = new int[RING];
  private final long[] busy = new long[WORDS];
  private final long[] busyWords = new long[SUMMARY];
  private int[] following;
  private int inRing;
  private final FarEvents far = new FarEvents();
  private long nowNs;

  /**
   * @param events exclusive upper bound of the event numbers
   */
  public EventCalendar(int events) {
    following = new int[events];
  }

  /** Makes room for event numbers below {@code events}. */
  public void grow(int events) {
    if (events > following.length) {
      following = Arrays.copyOf(following, events);
    }
  }

  /** Returns the time of the event that was removed last. */
  public long nowNs() {
    return nowNs;
  }

  /** Returns the number of waiting events. */
  public int waiting() {
    return inRing + far.size();
  }

  /**
   * Adds an event.
   *
   * @throws IllegalArgumentException if the time is in the past
   */
  public void schedule(long timeNs, int event) {
    if (timeNs < nowNs) {
      throw new IllegalArgumentException(timeNs + " ns is in the past; now is " + nowNs);
    }
    if (timeNs - nowNs >= RING) {
      far.add(timeNs, event);
    } else {
      put(timeNs, event);
    }
  }

  private void put(long timeNs, int event) {
    int bucket = (int) timeNs & RING - 1;
    int word = bucket >>> 6;
    if ((busy[word] >>> bucket & 1) == 0) {
      busy[word] |= 1L << bucket;
      busyWords[word >>> 6] |= 1L << word;
      first[bucket] = event;
    } else {
      following[last[bucket]] = event;
    }
    last[bucket] = event;
    following[event] = NOTHING;
    inRing++;
  }

  /**
   * Removes the earliest event and advances to its time; returns {@link #NOTHING} if none is left.
   */
  public int next() {
    if (inRing == 0) {
      if (far.size() == 0) {
        return NOTHING;
      }
      nowNs = far.earliestNs();
    } else {
      int at = (int) nowNs & RING - 1;
      nowNs += firstBusy(at) - at & RING - 1;
    }
    /*
     * Moves events that are now within the ring's length from the heap into the ring. All of them
     * are later than the ring's earliest event. If the ring was empty, the first of them is the
     * earliest event.
     */
    while (far.size() > 0 && far.earliestNs() - nowNs < RING) {
      long timeNs = far.earliestNs();
      put(timeNs, far.take());
    }
    int bucket = (int) nowNs & RING - 1;
    int event = first[bucket];
    inRing--;
    if (following[event] == NOTHING) {
      int word = bucket >>> 6;
      busy[word] &= ~(1L << bucket);
      if (busy[word] == 0) {
        busyWords[word >>> 6] &= ~(1L << word);
      }
    } else {
      first[bucket] = following[event];
    }
    return event;
  }

  /*
   * Returns the first non-empty bucket, searching from this bucket on around the ring. At least one
   * bucket must be non-empty.
   */
  private int firstBusy(int from) {
    int word = from >>> 6;
    long rest = busy[word] & -1L << from;
    if (rest != 0) {
      return (word << 6) + Long.numberOfTrailingZeros(rest);
    }
    int summary = word >>> 6;
    long words = busyWords[summary] & (word % Long.SIZE == Long.SIZE - 1 ? 0 : -1L << word + 1);
    while (words == 0) {
      summary = summary + 1 & SUMMARY - 1;
      words = busyWords[summary];
    }
    int found = (summary << 6) + Long.numberOfTrailingZeros(words);
    return (found << 6) + Long.numberOfTrailingZeros(busy[found]);
  }
}
