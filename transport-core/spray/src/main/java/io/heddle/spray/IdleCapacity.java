package io.heddle.spray;

/**
 * Whether it leaves capacity idle to keep to the weights.
 *
 * <p>A plane that is late holds messages up, and the others run dry. Where planes have something
 * scarce in common, as a port or a processor, the late one then takes what the others leave, and
 * nothing is lost. Where it is slow by itself, that is idle. So what all planes together carry
 * while some have nothing to do beside a late one is compared with what they carry at other times:
 * more than half of the dry planes' part must be missing, for as long as that is a good many
 * chunks, and noticeably much of all that was possible meanwhile. Planes that carry just what their
 * weights say are dry now and then, too: a link's shaper lets the beginning of a message through at
 * once, and that is more of the message on a slow plane. It is believed for a while in which
 * something is under way, then asked anew: what nobody uses changes no answer.
 *
 * <p>A chunk was carried since its plane's last one was through, or the plane had nothing to do. So
 * it counts for both kinds of time as far as these had part in that, whenever it is told of.
 */
final class IdleCapacity {
  /** What must be missing, if it is missing, until it is said, in preferred chunks ... */
  private static final int ENOUGH_CHUNKS = 16;

  /** ... and as long as this, in ns of all planes. */
  private static final double ENOUGH_NS = 1e6;

  /**
   * Less than this part of what all could have carried isn't told from shapers' bursts and from
   * processors that were busy elsewhere, ...
   */
  private static final double LEAST_MISSING = 1.0 / 8;

  /** ... over at least so long, in ns in which something is under way, ... */
  private static final double SPAN_NS = 200e6;

  /** ... and at most so many times that. */
  private static final double MOST_SPANS = 2;

  /** What must have been carried by busy planes to be compared with. */
  private static final int BUSY_CHUNKS = 16;

  private static final int MOST_BUSY_CHUNKS = 512;

  private static final long BELIEVED_NS = 5_000_000_000L;

  private final double chunkBytes;

  /* At the last look. */
  private final boolean[] isBusy;
  private final int[] posted;
  private final long[] carriedBytes;
  private boolean isAnyBusy;
  private long lookedAtNs;

  /* Of each plane's time since its last chunk was through and with something to do: all, and both kinds that matter. */
  private final double[] sinceNs;
  private final double[] sinceLateNs;
  private final double[] sinceBusyNs;

  /* The rest of the time in which anything was busy throughout. */
  private double busyNs;
  private double busyBytes;

  /* Of the last while in which something was under way: how long it was; of that, while some were dry beside a late one;
  their part of that. */
  private double spanNs;
  private double lateNs;
  private double lateBytes;
  private double dryNs;

  private boolean isFound;
  private long believedNs;

  IdleCapacity(int planes, int preferredChunkBytes) {
    chunkBytes = preferredChunkBytes;
    isBusy = new boolean[planes];
    posted = new int[planes];
    carriedBytes = new long[planes];
    sinceNs = new double[planes];
    sinceLateNs = new double[planes];
    sinceBusyNs = new double[planes];
  }

  /** Whether capacity was found idle lately. */
  boolean isFound() {
    return isFound;
  }

  /** Other weights hold. */
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
    dryNs = 0;
  }

  /**
   * All completions by now are told of, and nothing was posted since.
   *
   * @return whether what was found isn't believed any more from now on
   */
  boolean looked(PlaneLoads loads, PlaneWeights weights) {
    PlaneRates rates = loads.rates();
    if (!isAnyBusy && !rates.isAnyUnderWay()) {
      /* Nobody was late meanwhile, and nobody can be at the next look either: what was posted isn't asked for by then. */
      lookedAtNs = rates.nowNs();
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
    long tookNs = rates.nowNs() - lookedAtNs;
    lookedAtNs += tookNs;
    passed(wasAnyBusy ? tookNs : 0);
    boolean isLate = isAnyLate && dry > 0;
    carried(loads, tookNs, isLate, !isLate && isAnyBusyAllTheTime);
    if (isLate) {
      lateNs += tookNs;
      dryNs += tookNs * (double) dry / weights.total();
      judge();
    } else if (isAnyBusyAllTheTime) {
      busyNs += tookNs;
      if (busyBytes > MOST_BUSY_CHUNKS * chunkBytes) {
        busyNs /= 2;
        busyBytes /= 2;
      }
    }
    believedNs += wasAnyBusy ? tookNs : 0;
    if (!isFound || believedNs <= BELIEVED_NS) {
      return false;
    }
    isFound = false;
    forgetLate();
    return true;
  }

  /* What planes have carried meanwhile, and which kind of time that was. */
  private void carried(PlaneLoads loads, long tookNs, boolean isLate, boolean isRest) {
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

  private void passed(double ns) {
    spanNs += ns;
    if (spanNs > MOST_SPANS * SPAN_NS) {
      spanNs /= MOST_SPANS;
      lateNs /= MOST_SPANS;
      lateBytes /= MOST_SPANS;
      dryNs /= MOST_SPANS;
    }
  }

  private void judge() {
    double bytesPerNs = busyBytes / busyNs;
    if (dryNs < ENOUGH_NS
        || busyBytes < BUSY_CHUNKS * chunkBytes
        || dryNs * bytesPerNs < ENOUGH_CHUNKS * chunkBytes) {
      return;
    }
    double missingNs = lateNs - lateBytes / bytesPerNs;
    if (missingNs > Math.max(dryNs / 2, LEAST_MISSING * Math.max(spanNs, SPAN_NS))) {
      isFound = true;
      believedNs = 0;
      forgetLate();
    }
  }
}
