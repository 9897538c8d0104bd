package io.heddle.spray;

/**
 * Detector of capacity that stays idle because the policy keeps to the weights.
 *
 * <p>Messages wait for a plane that is slower than its weight; here that plane is called late.
 * Meanwhile the other planes have nothing in flight; here they are called dry. If the planes share
 * a scarce resource, such as a port or a processor, the late plane uses what the dry planes leave,
 * and no capacity is lost. If the late plane is slow by itself, the dry planes' capacity is idle.
 *
 * <p>The detector compares two throughputs of all planes together: the throughput while some planes
 * are dry beside a late one, and that at other times. It reports idle capacity if, over enough
 * chunks, more than half of the dry planes' share is missing from the first throughput. The missing
 * part must also be noticeable in the total capacity, because planes that carry exactly their
 * weight are dry now and then, too: a link's shaper passes the beginning of a message at once, and
 * on a slow plane the beginning is a larger part of the message. A finding expires after some time
 * with chunks in flight. Then the detector measures again.
 *
 * <p>A chunk counts as carried during the period since its plane's previous completion, or since
 * the plane was last idle. If that period includes both kinds of time, the chunk's bytes are
 * divided in proportion. So a completion that is reported late doesn't distort the result.
 */
final class IdleCapacity {
  /**
   * Minimum amount of data that the dry planes must have been able to carry before idle capacity is
   * reported, in preferred chunks.
   */
  private static final int ENOUGH_CHUNKS = 16;

  /**
   * Minimum time for which planes must have been dry beside a late one before idle capacity is
   * reported, in ns. The time of each dry plane is multiplied by its share of the weights.
   */
  private static final double ENOUGH_NS = 1e6;

  /**
   * Smallest missing part of the total capacity that is reported. A shaper's burst or a busy
   * processor may cause a smaller part to be missing.
   */
  private static final double LEAST_MISSING = 1.0 / 8;

  /**
   * Shortest time over which the missing part of the total capacity is measured, in ns. Only time
   * with chunks in flight counts.
   */
  private static final double SPAN_NS = 200e6;

  /** Longest span over which the missing part is measured, as a multiple of {@link #SPAN_NS}. */
  private static final double MOST_SPANS = 2;

  /**
   * Minimum number of chunks carried while no plane was dry beside a late one, for the throughput
   * of that time to serve as the reference.
   */
  private static final int BUSY_CHUNKS = 16;

  private static final int MOST_BUSY_CHUNKS = 512;

  private static final long VALID_NS = 5_000_000_000L;

  private final double chunkBytes;

  /* State of the planes and the time, at the last poll. */
  private final boolean[] isBusy;
  private final int[] posted;
  private final long[] carriedBytes;
  private boolean isAnyBusy;
  private long polledAtNs;

  /*
   * Busy time of each plane since its last completion, in ns: all of it, the part with a late plane
   * and a dry plane at once (both terms: see the class), and the part without such a pair.
   */
  private final double[] sinceNs;
  private final double[] sinceLateNs;
  private final double[] sinceBusyNs;

  /*
   * Busy time in ns without a late plane or without a dry plane (both terms: see the class), and the
   * bytes carried in that time.
   */
  private double busyNs;
  private double busyBytes;

  /*
   * Recent time with chunks in flight, in ns; its part with dry planes beside a late one (terms:
   * see the class), in ns; the bytes carried in that part; and the dry planes' time in that part,
   * in ns, each multiplied by the plane's share of the weights.
   */
  private double spanNs;
  private double lateNs;
  private double lateBytes;
  private double idleNs;

  private boolean isFound;
  private long findingAgeNs;

  IdleCapacity(int planes, int preferredChunkBytes) {
    chunkBytes = preferredChunkBytes;
    isBusy = new boolean[planes];
    posted = new int[planes];
    carriedBytes = new long[planes];
    sinceNs = new double[planes];
    sinceLateNs = new double[planes];
    sinceBusyNs = new double[planes];
  }

  /** Returns whether idle capacity was found recently. */
  boolean isFound() {
    return isFound;
  }

  /** Forgets all measurements; called when the weights change. */
  void forget() {
    isFound = false;
    busyNs = 0;
    busyBytes = 0;
    forgetLate();
  }

  private void forgetLate() {
    spanNs = 0;
    lateNs = 0;
    lateBytes = 0;
    idleNs = 0;
  }

  /**
   * Measures the time since the last poll of the completion queues. The caller has just polled, has
   * reported all completions, and has posted nothing since.
   *
   * @return whether an earlier finding has just expired
   */
  boolean onPolled(PlaneLoads loads, PlaneWeights weights) {
    PlaneRates rates = loads.rates();
    if (!isAnyBusy && !rates.isAnyInFlight()) {
      /*
       * Nothing was in flight at the last poll, and nothing is now, so no plane was late. No plane
       * can be late at the next poll either: chunks posted now are not overdue by then.
       */
      polledAtNs = rates.nowNs();
      loads.copyCarriedBytes(carriedBytes);
      return false;
    }
    boolean wasAnyBusy = isAnyBusy;
    isAnyBusy = false;
    boolean isAnyBusyAllTheTime = false;
    boolean isAnyLate = false;
    long dry = 0;
    for (int plane = 0; plane < isBusy.length; plane++) {
      boolean isBusyNow = loads.inFlightBytes(plane) > 0;
      isAnyBusy |= isBusyNow;
      if (weights.weight(plane) > 0) {
        isAnyBusyAllTheTime |= isBusy[plane] && isBusyNow;
        isAnyLate |= isBusy[plane] && isBusyNow && rates.isLate(plane);
        dry += isBusy[plane] || posted[plane] != rates.posted(plane) ? 0 : weights.weight(plane);
      }
    }
    long tookNs = rates.nowNs() - polledAtNs;
    polledAtNs += tookNs;
    extendSpan(wasAnyBusy ? tookNs : 0);
    boolean isLate = isAnyLate && dry > 0;
    attributeBytes(loads, tookNs, isLate, !isLate && isAnyBusyAllTheTime);
    if (isLate) {
      lateNs += tookNs;
      idleNs += tookNs * (double) dry / weights.total();
      updateFinding();
    } else if (isAnyBusyAllTheTime) {
      busyNs += tookNs;
      if (busyBytes > MOST_BUSY_CHUNKS * chunkBytes) {
        busyNs /= 2;
        busyBytes /= 2;
      }
    }
    findingAgeNs += wasAnyBusy ? tookNs : 0;
    if (!isFound || findingAgeNs <= VALID_NS) {
      return false;
    }
    isFound = false;
    forgetLate();
    return true;
  }

  /*
   * Adds the bytes carried since the last poll to lateBytes and busyBytes. Bytes carried while some
   * planes were dry beside a late one belong to lateBytes, bytes of other busy time to busyBytes.
   */
  private void attributeBytes(PlaneLoads loads, long tookNs, boolean isLate, boolean isRest) {
    PlaneRates rates = loads.rates();
    for (int plane = 0; plane < isBusy.length; plane++) {
      int postedNow = rates.posted(plane);
      if (isBusy[plane] || posted[plane] != postedNow) {
        sinceNs[plane] += tookNs;
        sinceLateNs[plane] += isLate ? tookNs : 0;
        sinceBusyNs[plane] += isRest ? tookNs : 0;
      }
      isBusy[plane] = loads.inFlightBytes(plane) > 0;
      posted[plane] = postedNow;
      long bytes = loads.carriedBytes(plane) - carriedBytes[plane];
      if (bytes > 0) {
        carriedBytes[plane] += bytes;
        double since = sinceNs[plane];
        lateBytes += since > 0 ? bytes * sinceLateNs[plane] / since : isLate ? bytes : 0;
        busyBytes += since > 0 ? bytes * sinceBusyNs[plane] / since : isRest ? bytes : 0;
        sinceNs[plane] = 0;
        sinceLateNs[plane] = 0;
        sinceBusyNs[plane] = 0;
      }
    }
  }

  private void extendSpan(double ns) {
    spanNs += ns;
    if (spanNs > MOST_SPANS * SPAN_NS) {
      spanNs /= MOST_SPANS;
      lateNs /= MOST_SPANS;
      lateBytes /= MOST_SPANS;
      idleNs /= MOST_SPANS;
    }
  }

  private void updateFinding() {
    double bytesPerNs = busyBytes / busyNs;
    if (idleNs < ENOUGH_NS
        || busyBytes < BUSY_CHUNKS * chunkBytes
        || idleNs * bytesPerNs < ENOUGH_CHUNKS * chunkBytes) {
      return;
    }
    double missingNs = lateNs - lateBytes / bytesPerNs;
    if (missingNs > Math.max(idleNs / 2, LEAST_MISSING * Math.max(spanNs, SPAN_NS))) {
      isFound = true;
      findingAgeNs = 0;
      forgetLate();
    }
  }
}
