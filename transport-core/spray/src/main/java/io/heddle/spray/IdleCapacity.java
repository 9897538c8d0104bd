package io.heddle.spray;

/**
 * Detector of capacity that stays idle because the policy keeps to the weights.
 *
 * <p>A late plane delays messages, and the other planes run dry. If the planes share a scarce
 * resource, such as a port or a processor, the late plane uses the rest of it, and nothing is lost.
 * If the late plane is slow by itself, that capacity is idle.
 *
 * <p>The detector compares two throughputs of all planes together: while some planes are dry beside
 * a late one, and at other times. It reports idle capacity if, over enough chunks, more than half
 * of the dry planes' share is missing. The missing part must also be noticeable in the total
 * capacity. Planes that carry exactly their weight run dry now and then, too. A link's shaper
 * passes the beginning of a message at once, and on a slow plane the beginning is a larger part of
 * the message. A result is valid for a limited time, which counts only while chunks are in flight.
 * Then the detector measures again.
 *
 * <p>A chunk is carried during the time since its plane's previous completion, or since the plane
 * was last idle. Its bytes are split in proportion between both kinds of time, however late its
 * completion is reported.
 */
final class IdleCapacity {
  /** Missing capacity at which idleness is reported, in preferred chunks. */
  private static final int ENOUGH_CHUNKS = 16;

  /** Missing capacity at which idleness is reported, in ns of all planes together. */
  private static final double ENOUGH_NS = 1e6;

  /**
   * Smallest missing part of the total capacity that is reported. A shaper's burst or a busy
   * processor may cause less.
   */
  private static final double LEAST_MISSING = 1.0 / 8;

  /** Shortest span over which the missing part is measured, in ns with chunks in flight. */
  private static final double SPAN_NS = 200e6;

  /** Longest such span, as a multiple of the shortest. */
  private static final double MOST_SPANS = 2;

  /** Chunks carried by busy planes before their rate serves as the reference. */
  private static final int BUSY_CHUNKS = 16;

  private static final int MOST_BUSY_CHUNKS = 512;

  private static final long VALID_NS = 5_000_000_000L;

  private final double chunkBytes;

  /* State at the last poll. */
  private final boolean[] isBusy;
  private final int[] posted;
  private final long[] carriedBytes;
  private boolean isAnyBusy;
  private long polledAtNs;

  /*
   * Busy time of each plane since its last completion: all of it, the part beside dry planes, and
   * the part with all planes busy.
   */
  private final double[] sinceNs;
  private final double[] sinceLateNs;
  private final double[] sinceBusyNs;

  /*
   * Time in which planes were busy and no plane was dry beside a late one, and the bytes carried in
   * that time.
   */
  private double busyNs;
  private double busyBytes;

  /*
   * The recent span with chunks in flight, and its part with dry planes beside a late one. For that
   * part: the bytes carried in it, and the dry planes' share of it.
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

  /** Returns whether idle capacity was found lately. */
  boolean isFound() {
    return isFound;
  }

  /** Forgets all measurements, since other weights apply. */
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
   * Accounts for a poll. The caller has reported all completions up to now, and has posted nothing
   * since.
   *
   * @return whether an earlier finding has just expired
   */
  boolean onPolled(PlaneLoads loads, PlaneWeights weights) {
    PlaneRates rates = loads.rates();
    if (!isAnyBusy && !rates.isAnyInFlight()) {
      /*
       * No plane was late since the last poll. No plane can be late at the next poll either: chunks
       * posted now are not overdue by then.
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

  /* Attributes the bytes carried since the last poll to the kind of time in which they were carried. */
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
