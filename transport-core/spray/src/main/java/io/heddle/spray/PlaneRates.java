package io.heddle.spray;

/**
 * How fast each plane of a connection turns out to be. A chunk that was posted behind so many bytes
 * of its plane, its own included, and is acknowledged after such a time, has seen their quotient:
 * no queue but the plane's own is in it, and a caller that polls late is late for all planes.
 * Several queue pairs of a plane may overtake each other; their chunks count in order of posting
 * all the same, which is right in the mean.
 *
 * <p>Two things are known without an acknowledgement. A plane whose oldest chunk is overdue is
 * slower than it was. And an observation grows old where a plane has nothing to do: it counts for
 * less the longer that lasts, by the time that the observation took, so that a plane that was slow
 * is tried again, one that was very slow seldom.
 */
final class PlaneRates {
  /** Share of a new observation. */
  private static final double NEWEST = 1.0 / 8;

  /** A plane that was idle for as many times its last chunk's time counts as twice as fast. */
  private static final double AGES_AFTER = 8;

  private static final double LATENESS_FORGOTTEN_PER_NS = 1e-9;

  /** With so many chunks under way the shortest time may be found to have become longer, ... */
  private static final int SHORT_QUEUE_CHUNKS = 4;

  /** Chunks under way on a plane that there is room for before more are needed; a power of two. */
  private static final int FIRST_RING = 16;

  /** ... by this part each time. */
  private static final double LENGTHENS = 1.0 / 64;

  /* Chunks under way of each plane, in order of posting: a ring a plane. The counts wrap. */
  private int mask;
  private final int leastBytes;
  private long[] postedAtNs;
  private long[] bytesBefore;
  private final int[] posted;
  private final int[] finished;

  private final double[] bytesPerNs;
  /* Of those under way, the oldest ones, which tell of what the plane was like before. */
  private final int[] unheard;
  private final long[] lastTookNs;
  private final double[] shortestNs;
  private final long[] idleSinceNs;
  private int underWay;
  private double callerLateNs;
  private boolean isTimed;
  private boolean wasBusy;
  private long busySinceNs;
  private long nowNs;
  private long lookedAtNs;

  /* When the youngest chunk was posted of those that were acknowledged. */
  private long youngestHeardNs;

  /**
   * @param leastBytes what must be under way for its time to tell of a rate: for less it is the
   *     latency that counts
   */
  PlaneRates(int planes, int maxChunksPerPlane, int leastBytes) {
    this.leastBytes = leastBytes;
    mask = Math.min(FIRST_RING, Integer.highestOneBit(2 * Math.max(1, maxChunksPerPlane) - 1)) - 1;
    int ring = mask + 1;
    postedAtNs = new long[planes * ring];
    bytesBefore = new long[planes * ring];
    posted = new int[planes];
    finished = new int[planes];
    bytesPerNs = new double[planes];
    unheard = new int[planes];
    lastTookNs = new long[planes];
    shortestNs = new double[planes];
    idleSinceNs = new long[planes];
  }

  void at(long newNs) {
    if (isTimed && newNs <= nowNs) {
      return;
    }
    isTimed = true;
    nowNs = newNs;
  }

  /** Completions were looked for by now; those that there were have been told of. */
  void looked() {
    double before =
        callerLateNs * Math.max(0, 1 - (nowNs - lookedAtNs) * LATENESS_FORGOTTEN_PER_NS);
    callerLateNs = wasBusy ? Math.max(nowNs - Math.max(lookedAtNs, busySinceNs), before) : before;
    wasBusy = underWay > 0;
    lookedAtNs = nowNs;
  }

  /**
   * How long the caller stayed away lately while something was under way: what planes have queued
   * must last for that.
   */
  double callerLateNs() {
    return callerLateNs;
  }

  /** Whether anybody tells the time. */
  boolean isTimed() {
    return isTimed;
  }

  long nowNs() {
    return nowNs;
  }

  /** Whether a chunk has no acknowledgement yet. */
  boolean isAnyUnderWay() {
    return underWay > 0;
  }

  /** A chunk was given to the plane, which has so many bytes to carry now. */
  void started(int plane, long inFlightBytes) {
    if (posted[plane] - finished[plane] > mask) {
      grow();
    }
    int slot = plane * (mask + 1) + (posted[plane]++ & mask);
    postedAtNs[slot] = nowNs;
    bytesBefore[slot] = inFlightBytes;
    underWay++;
    if (!wasBusy) {
      wasBusy = true;
      busySinceNs = nowNs;
    }
  }

  /* More is under way on a plane than ever before. */
  private void grow() {
    int wide = 2 * (mask + 1);
    long[] times = new long[posted.length * wide];
    long[] bytes = new long[posted.length * wide];
    for (int plane = 0; plane < posted.length; plane++) {
      for (int number = finished[plane]; number != posted[plane]; number++) {
        int from = plane * (mask + 1) + (number & mask);
        int to = plane * wide + (number & wide - 1);
        times[to] = postedAtNs[from];
        bytes[to] = bytesBefore[from];
      }
    }
    postedAtNs = times;
    bytesBefore = bytes;
    mask = wide - 1;
  }

  /** The plane's oldest chunk was acknowledged. */
  void finished(int plane) {
    int number = finished[plane];
    if (number == posted[plane]) {
      return;
    }
    finished[plane] = number + 1;
    underWay--;
    idleSinceNs[plane] = nowNs;
    int slot = plane * (mask + 1) + (number & mask);
    long tookNs = nowNs - postedAtNs[slot];
    youngestHeardNs = Math.max(youngestHeardNs, postedAtNs[slot]);
    long bytes = bytesBefore[slot];
    if (unheard[plane] > 0) {
      unheard[plane]--;
    } else if (tookNs > 0 && bytes >= leastBytes) {
      double seen = bytes / (double) tookNs;
      double before = bytesPerNs[plane];
      bytesPerNs[plane] = before == 0 ? seen : before + (seen - before) * NEWEST;
      lastTookNs[plane] = tookNs;
      double shortest = shortestNs[plane];
      if (shortest == 0 || tookNs < shortest) {
        shortestNs[plane] = tookNs;
      } else if (bytes <= SHORT_QUEUE_CHUNKS * (long) leastBytes) {
        shortestNs[plane] = Math.min(tookNs, shortest * (1 + LENGTHENS));
      }
    }
  }

  /** Nothing is under way on the plane any more, nor known of it. */
  void lost(int plane) {
    underWay -= posted[plane] - finished[plane];
    finished[plane] = posted[plane];
    forget(plane);
  }

  /**
   * Nothing is known of the plane any more, and what is under way tells of what it was like before.
   */
  void forget(int plane) {
    bytesPerNs[plane] = 0;
    shortestNs[plane] = 0;
    unheard[plane] = posted[plane] - finished[plane];
  }

  /**
   * What the plane carries, bytes a nanosecond; 0 where nothing was observed yet.
   *
   * @param fastest of all planes; an observation that has grown old counts as no faster than that
   */
  double bytesPerNs(int plane, double fastest) {
    double rate = bytesPerNs[plane];
    if (rate == 0) {
      return 0;
    }
    if (finished[plane] == posted[plane]) {
      if (rate >= fastest) {
        return rate;
      }
      double aged = rate * (1 + (nowNs - idleSinceNs[plane]) / (AGES_AFTER * lastTookNs[plane]));
      return Math.min(aged, fastest);
    }
    int slot = plane * (mask + 1) + (finished[plane] & mask);
    if (!isOvertaken(plane)) {
      return rate;
    }
    long ageNs = lookedAtNs - postedAtNs[slot];
    long bytes = Math.max(bytesBefore[slot], leastBytes);
    return ageNs * rate > bytes ? bytes / (double) ageNs : rate;
  }

  /** Whether a chunk that was posted later than one of the plane's is through before it. */
  boolean isOvertaken(int plane) {
    int number = finished[plane];
    return number != posted[plane]
        && postedAtNs[plane * (mask + 1) + (number & mask)] < youngestHeardNs;
  }

  /**
   * Whether the plane is overtaken, and not just because of what it was given by weights that don't
   * hold any more.
   */
  boolean isLate(int plane) {
    return unheard[plane] == 0 && isOvertaken(plane);
  }

  /** Chunks that the plane was ever given; wraps. */
  int posted(int plane) {
    return posted[plane];
  }

  /** Whether this rate of the plane is more than what was observed of it. */
  boolean isTrial(int plane, double rate) {
    return rate > bytesPerNs[plane];
  }

  /**
   * The shortest time that the plane takes for a chunk with little before it; 0 where nothing was
   * observed yet.
   */
  double shortestNs(int plane) {
    return shortestNs[plane];
  }

  /** The highest rate that was observed of any plane; 0 where none was. */
  double fastest() {
    double fastest = 0;
    for (double rate : bytesPerNs) {
      fastest = Math.max(fastest, rate);
    }
    return fastest;
  }
}
