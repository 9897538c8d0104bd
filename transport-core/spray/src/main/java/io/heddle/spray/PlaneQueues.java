package io.heddle.spray;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Limits on each plane's bytes in flight, derived from the rates observed on all planes ({@link
 * PlaneRates}).
 *
 * <p>A plane is late if its next chunk would finish noticeably later than on the first plane to
 * finish. Differences shorter than the caller's polling interval don't count. While capacity is
 * idle ({@link IdleCapacity}), a late plane gets no chunk. Each queue is also limited to the bytes
 * that the plane carries in some milliseconds, or in the caller's polling interval. Limits help
 * since an unassigned chunk can go to any plane with room; a queued chunk can't move. With a single
 * usable plane there is no limit.
 *
 * <p>Planes that share a scarce resource, such as one processor, carry in proportion to their bytes
 * in flight. Limits by rate alone would preserve any shares once established. So while the planes
 * together have room for another chunk, a plane may exceed its own limit, as long as its queue
 * doesn't take noticeably longer than the first plane to finish needs for the chunk.
 *
 * <p>A slow plane that has been idle is probed with one chunk.
 *
 * <p>The limits are computed again after {@link #MOMENT_NS}, or when a plane has no room under the
 * old limits. Otherwise a choice only compares the bytes in flight with the limit.
 */
final class PlaneQueues {
  /**
   * Tolerated lag behind the first plane to finish, as a fraction of that plane's time; a plane
   * with a larger lag is late.
   */
  private static final double TOLERANCE = 0.25;

  /**
   * Number of chunks whose time, at the rate of the first plane to finish, is added to the
   * tolerated lag. The caller's polling interval is added, too.
   */
  private static final int TOLERATED_CHUNKS = 2;

  /** Limit of a plane's queue, in ns. The largest of this limit and the next three applies. */
  private static final double QUEUE_NS = 10e6;

  /** Limit of a plane's queue, as a multiple of the caller's polling interval. */
  private static final double QUEUE_TIMES_LATE = 1.5;

  /**
   * Limit of a plane's queue, as a multiple of the shortest time of a chunk on the plane. This
   * limit keeps a path with a long delay filled.
   */
  private static final double QUEUE_TIMES_SHORTEST = 2;

  /** Limit of a plane's queue, in chunks, scaled by its weight relative to the heaviest. */
  private static final int LEAST_QUEUE_CHUNKS = 4;

  /**
   * Limit of a plane's queue while its rate is unknown, in chunks, scaled by its weight relative to
   * the heaviest.
   */
  private static final int FIRST_CHUNKS = 8;

  private static final long MOMENT_NS = 20_000;

  private long[] mostInFlight = {};
  private double[] rate = {};
  private double[] lateBytes = {};
  private double[] endBytes = {};
  private double firstNs;
  private double firstRate;

  /* Inputs of the latest {@link #update}. */
  private @Nullable PlaneWeights seenWeights;
  private long chunkBytes;
  private long seenChangeCount;
  private long atNs;
  private boolean isTimed;

  /**
   * Returns whether the plane may get a chunk of this length in addition to its bytes in flight.
   */
  boolean hasRoom(int plane, int lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    if (weights != seenWeights
        || !isTimed
        || Math.max(lengthBytes, loads.preferredChunkBytes()) != chunkBytes
        || loads.rates().nowNs() - atNs >= MOMENT_NS) {
      update(lengthBytes, loads, weights);
    }
    if (loads.inFlightBytes(plane) > mostInFlight[plane]
        && (loads.changeCount() != seenChangeCount || loads.rates().nowNs() != atNs)) {
      update(lengthBytes, loads, weights);
    }
    return loads.inFlightBytes(plane) <= mostInFlight[plane];
  }

  /**
   * Returns the limit on each plane's bytes in flight before another chunk, for the chunk length
   * that was last passed to {@link #hasRoom}. Negative for a plane that gets no chunk.
   */
  long[] mostInFlight() {
    return mostInFlight;
  }

  private void update(int lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    int planes = loads.planes();
    if (mostInFlight.length != planes) {
      mostInFlight = new long[planes];
      rate = new double[planes];
      lateBytes = new double[planes];
      endBytes = new double[planes];
    }
    seenWeights = weights;
    chunkBytes = Math.max(lengthBytes, loads.preferredChunkBytes());
    seenChangeCount = loads.changeCount();
    atNs = loads.rates().nowNs();
    isTimed = loads.rates().isTimed();
    if (isTimed && usable(weights) > 1) {
      findFirst(loads, weights);
      findEnds(loads, weights);
      limit(loads, weights);
    } else {
      Arrays.fill(mostInFlight, Long.MAX_VALUE);
    }
  }

  private static int usable(PlaneWeights weights) {
    int usable = 0;
    for (int plane = 0; plane < weights.planes(); plane++) {
      usable += weights.weight(plane) > 0 ? 1 : 0;
    }
    return usable;
  }

  /* Finds the time at which the next chunk would finish on the best plane. */
  private void findFirst(PlaneLoads loads, PlaneWeights weights) {
    PlaneRates rates = loads.rates();
    double fastest = rates.fastest();
    firstNs = Double.POSITIVE_INFINITY;
    firstRate = 1;
    for (int plane = 0; plane < rate.length; plane++) {
      rate[plane] = weights.weight(plane) == 0 ? 0 : rates.bytesPerNs(plane, fastest);
      double throughNs = (loads.inFlightBytes(plane) + chunkBytes) / rate[plane];
      if (throughNs < firstNs) {
        firstNs = throughNs;
        firstRate = rate[plane];
      }
    }
  }

  /*
   * Computes two limits on each plane's bytes in flight before the next chunk: with more bytes, the
   * chunk would finish late, or the queue would be full.
   */
  private void findEnds(PlaneLoads loads, PlaneWeights weights) {
    PlaneRates rates = loads.rates();
    double preferred = loads.preferredChunkBytes();
    double callerNs = rates.callerPollIntervalNs();
    double lateNs = firstNs * (1 + TOLERANCE) + TOLERATED_CHUNKS * preferred / firstRate + callerNs;
    double queueNs = Math.max(QUEUE_NS, QUEUE_TIMES_LATE * callerNs);
    double heaviest = weights.heaviest();
    for (int plane = 0; plane < rate.length; plane++) {
      double own = rate[plane];
      double part = weights.weight(plane) / heaviest;
      if (own > 0) {
        double ownQueueNs = Math.max(queueNs, QUEUE_TIMES_SHORTEST * rates.shortestNs(plane));
        endBytes[plane] =
            Math.max(
                ownQueueNs * own - chunkBytes, Math.max(1, LEAST_QUEUE_CHUNKS * part) * preferred);
        double ownChunkNs = Math.min(chunkBytes / own, firstNs);
        double late = (lateNs + ownChunkNs) * own - chunkBytes;
        lateBytes[plane] = rates.isProbeRate(plane, own) ? Math.min(1, late) : late;
        if (!loads.isCapacityIdle()) {
          lateBytes[plane] = Double.POSITIVE_INFINITY;
        }
      } else {
        endBytes[plane] = Math.max(1, FIRST_CHUNKS * part) * preferred;
        lateBytes[plane] = Double.POSITIVE_INFINITY;
      }
    }
  }

  private void limit(PlaneLoads loads, PlaneWeights weights) {
    double leftBytes = 0;
    for (int plane = 0; plane < rate.length; plane++) {
      if (weights.weight(plane) > 0) {
        double most = Math.min(endBytes[plane], lateBytes[plane]) + chunkBytes;
        leftBytes += Math.max(0, most - loads.inFlightBytes(plane));
      }
    }
    double hardlyLaterNs = leftBytes < chunkBytes ? 0 : firstNs * (1 + TOLERANCE);
    for (int plane = 0; plane < rate.length; plane++) {
      double end = Math.max(endBytes[plane], rate[plane] > 0 ? hardlyLaterNs * rate[plane] : 0);
      mostInFlight[plane] = Math.max(-1, (long) Math.min(end, lateBytes[plane]) - 1);
    }
  }
}
