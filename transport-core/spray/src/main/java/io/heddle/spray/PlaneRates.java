package io.heddle.spray;

/**
 * Observed rate of each plane of a connection. An acknowledged chunk yields one observation: bytes
 * in flight divided by time. The bytes are those on the plane when the chunk was posted, its own
 * included; the time ends with the acknowledgement. So only the plane's own queue counts, and a
 * caller that polls late is late for all planes alike. Queue pairs of one plane may overtake each
 * other. An acknowledgement is nevertheless taken for that of the plane's oldest chunk, which is
 * right on average.
 *
 * <p>Two facts need no acknowledgement. A plane whose oldest chunk is overdue is slower than
 * observed. And an observation ages while its plane is idle: the assumed rate rises with the idle
 * time, in units of the time that the last chunk took. So a slow plane is tried again, and a very
 * slow one seldom.
 */
final class PlaneRates {
  /** Weight of a new observation in the moving average. */
  private static final double NEWEST = 1.0 / 8;

  /** Idle time, in units of the last chunk's time, after which a plane counts as twice as fast. */
  private static final double AGES_AFTER = 8;

  private static final double LATENESS_FORGOTTEN_PER_NS = 1e-9;

  /** Longest queue, in chunks, with which an observation may raise {@link #shortestNs}. */
  private static final int SHORT_QUEUE_CHUNKS = 4;

  /** Initial capacity of a plane's ring of chunks in flight; a power of two. */
  private static final int FIRST_RING = 16;

  /** Largest fraction by which one observation with a short queue raises {@link #shortestNs}. */
  private static final double LENGTHENS = 1.0 / 64;

  /*
   * Rings of the chunks in flight in order of posting, one ring per plane. The numbers of posted
   * and finished chunks wrap.
   */
  private int mask;
  private final int leastBytes;
  private long[] postedAtNs;
  private long[] bytesBefore;
  private final int[] posted;
  private final int[] finished;

  private final double[] bytesPerNs;
  /* Number of each plane's chunks in flight that were posted before its rate was forgotten. */
  private final int[] ignoredInFlight;
  private final long[] lastTookNs;
  private final double[] shortestNs;
  private final long[] idleSinceNs;
  private int inFlight;
  private double callerPollIntervalNs;
  private boolean isTimed;
  private boolean wasBusy;
  private long busySinceNs;
  private long nowNs;
  private long polledAtNs;

  /* Posting time of the youngest acknowledged chunk. */
  private long youngestAckedPostNs;

  /**
   * @param leastBytes minimum number of bytes in flight for a chunk's time to yield a rate; with
   *     fewer, latency dominates
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
    ignoredInFlight = new int[planes];
    lastTookNs = new long[planes];
    shortestNs = new double[planes];
    idleSinceNs = new long[planes];
  }

  void setTime(long newNs) {
    if (isTimed && newNs <= nowNs) {
      return;
    }
    isTimed = true;
    nowNs = newNs;
  }

  /** Records that the caller polled completions now, and has reported all of them. */
  void onPolled() {
    double before =
        callerPollIntervalNs * Math.max(0, 1 - (nowNs - polledAtNs) * LATENESS_FORGOTTEN_PER_NS);
    callerPollIntervalNs =
        wasBusy ? Math.max(nowNs - Math.max(polledAtNs, busySinceNs), before) : before;
    wasBusy = inFlight > 0;
    polledAtNs = nowNs;
  }

  /**
   * Returns the caller's longest recent polling interval with chunks in flight, in ns. The planes'
   * queues must last that long.
   */
  double callerPollIntervalNs() {
    return callerPollIntervalNs;
  }

  /** Returns whether the caller has ever set the time; until then no rate is observed. */
  boolean isTimed() {
    return isTimed;
  }

  long nowNs() {
    return nowNs;
  }

  /** Returns whether a chunk is still unacknowledged. */
  boolean isAnyInFlight() {
    return inFlight > 0;
  }

  /** Records that a chunk was given to the plane, which now has this many bytes in flight. */
  void started(int plane, long inFlightBytes) {
    if (posted[plane] - finished[plane] > mask) {
      grow();
    }
    int slot = plane * (mask + 1) + (posted[plane]++ & mask);
    postedAtNs[slot] = nowNs;
    bytesBefore[slot] = inFlightBytes;
    inFlight++;
    if (!wasBusy) {
      wasBusy = true;
      busySinceNs = nowNs;
    }
  }

  /* Makes room for more chunks in flight on a plane. */
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

  /** Records that the plane's oldest chunk was acknowledged. */
  void finished(int plane) {
    int number = finished[plane];
    if (number == posted[plane]) {
      return;
    }
    finished[plane] = number + 1;
    inFlight--;
    idleSinceNs[plane] = nowNs;
    int slot = plane * (mask + 1) + (number & mask);
    long tookNs = nowNs - postedAtNs[slot];
    youngestAckedPostNs = Math.max(youngestAckedPostNs, postedAtNs[slot]);
    long bytes = bytesBefore[slot];
    if (ignoredInFlight[plane] > 0) {
      ignoredInFlight[plane]--;
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

  /** Drops the plane's chunks in flight and all observations of it. */
  void lost(int plane) {
    inFlight -= posted[plane] - finished[plane];
    finished[plane] = posted[plane];
    forget(plane);
  }

  /** Drops all observations of the plane. The chunks in flight now won't be observed. */
  void forget(int plane) {
    bytesPerNs[plane] = 0;
    shortestNs[plane] = 0;
    ignoredInFlight[plane] = posted[plane] - finished[plane];
  }

  /**
   * Returns the plane's rate in bytes per nanosecond; 0 if none was observed yet.
   *
   * @param fastest highest rate of all planes; an aged observation never exceeds it
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
    long ageNs = polledAtNs - postedAtNs[slot];
    long bytes = Math.max(bytesBefore[slot], leastBytes);
    return ageNs * rate > bytes ? bytes / (double) ageNs : rate;
  }

  /**
   * Returns whether the oldest chunk in flight on this plane is overtaken: a chunk that was posted
   * later is acknowledged already.
   */
  boolean isOvertaken(int plane) {
    int number = finished[plane];
    return number != posted[plane]
        && postedAtNs[plane * (mask + 1) + (number & mask)] < youngestAckedPostNs;
  }

  /**
   * Returns whether the plane's oldest chunk is overtaken. Always false while a chunk is in flight
   * that was posted before the plane's rate was forgotten.
   */
  boolean isLate(int plane) {
    return ignoredInFlight[plane] == 0 && isOvertaken(plane);
  }

  /** Returns the number of chunks given to the plane so far; wraps. */
  int posted(int plane) {
    return posted[plane];
  }

  /**
   * Returns whether this rate is higher than the plane's observed rate because the observation has
   * aged.
   */
  boolean isProbeRate(int plane, double rate) {
    return rate > bytesPerNs[plane];
  }

  /**
   * Returns the plane's shortest time for a chunk with little in flight before it; 0 if none was
   * observed yet.
   */
  double shortestNs(int plane) {
    return shortestNs[plane];
  }

  /** Returns the highest rate observed on any plane; 0 if there is none. */
  double fastest() {
    double fastest = 0;
    for (double rate : bytesPerNs) {
      fastest = Math.max(fastest, rate);
    }
    return fastest;
  }
}
