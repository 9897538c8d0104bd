package io.heddle.sim.calendar;

import java.util.Arrays;

/**
 * A calendar queue: a ring of one bucket a nanosecond, each a list of event numbers, with a bitmap
 * over the buckets that have something. What is further away than the ring is long waits in a heap.
 * Events of one nanosecond come in the order in which they were put into the ring, so a run repeats
 * itself. Numbers are the caller's; each may be in the calendar once. No allocation, but where more
 * events are waiting than ever before.
 */
public final class EventCalendar {
  /** Answer of {@link #next}: nothing is left. */
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
   * @param events numbers from 0 to below this may be put in
   */
  public EventCalendar(int events) {
    following = new int[events];
  }

  /** Makes room for more numbers. */
  public void grow(int events) {
    if (events > following.length) {
      following = Arrays.copyOf(following, events);
    }
  }

  /** The time of the event that came last. */
  public long nowNs() {
    return nowNs;
  }

  /** How many events wait. */
  public int waiting() {
    return inRing + far.size();
  }

  /**
   * Puts an event in.
   *
   * @throws IllegalArgumentException for a time that is past
   */
  public void at(long timeNs, int event) {
    if (timeNs < nowNs) {
      throw new IllegalArgumentException(timeNs + " ns is past, it is " + nowNs);
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

  /** Takes the earliest event out, and goes on to its time; {@link #NOTHING} where none is left. */
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
    /* What comes into the ring now lies behind the earliest, which was in the ring or is among these. */
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

  /* The first busy bucket from this one on, around the ring; there is one. */
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
