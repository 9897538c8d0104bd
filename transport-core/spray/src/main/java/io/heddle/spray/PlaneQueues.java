package io.heddle.spray;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * How much each plane may have under way, by what was observed of all of them ({@link PlaneRates}).
 *
 * <p>A plane is late where its next chunk would be through noticeably later than on the plane that
 * is through first; differences that are shorter than the caller stays away mean nothing. It is
 * given nothing then. And its queue ends after some milliseconds of what the plane carries, or as
 * long as the caller may stay away: what has no plane yet can go to one that has room, what stands
 * in a queue can't leave it. Where there is nothing to choose it ends nowhere.
 *
 * <p>Planes that share what is scarce, as one processor, carry in proportion to what each has under
 * way: their rates would hold any shares once they have come about. So a plane that weights name
 * may have as much beyond its end as others leave below theirs, while it is hardly later than they
 * are.
 *
 * <p>A plane that was slow and has been idle is tried with one chunk.
 *
 * <p>All that is looked at anew after a moment, or where a plane has no room by what was seen then;
 * a choice between costs no more than a comparison.
 */
final class PlaneQueues {
  /** Late is who is behind the first by more than this share of its time, ... */
  private static final double TOLERANCE = 0.25;

  /** ... the time that the first one takes for so many chunks, and the caller's lateness. */
  private static final int TOLERATED_CHUNKS = 2;

  /** What a plane may have before it, ns, at least ... */
  private static final double QUEUE_NS = 10e6;

  /** ... and as many times as long as the caller stays away, ... */
  private static final double QUEUE_TIMES_LATE = 1.5;

  /** ... and as the plane takes at the least, so that a long way is filled, ... */
  private static final double QUEUE_TIMES_SHORTEST = 2;

  /** ... but so many chunks in any case, ... */
  private static final int LEAST_QUEUE_CHUNKS = 4;

  /** ... and no more than these while nothing is known of it. */
  private static final int FIRST_CHUNKS = 8;

  private static final long MOMENT_NS = 20_000;

  private long[] mostInFlight = {};
  private double[] rate = {};
  private double[] lateBytes = {};
  private double[] endBytes = {};
  private double firstNs;
  private double firstRate;

  /* What was looked at. */
  private @Nullable PlaneWeights of;
  private long chunkBytes;
  private long moves;
  private long atNs;
  private boolean isTimed;

  /** Whether the plane may be given a chunk of this length behind what it has under way. */
  boolean hasRoom(int plane, int lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    if (weights != of
        || !isTimed
        || Math.max(lengthBytes, loads.preferredChunkBytes()) != chunkBytes
        || loads.rates().nowNs() - atNs >= MOMENT_NS) {
      look(lengthBytes, loads, weights);
    }
    if (loads.inFlightBytes(plane) > mostInFlight[plane]
        && (loads.moves() != moves || loads.rates().nowNs() != atNs)) {
      look(lengthBytes, loads, weights);
    }
    return loads.inFlightBytes(plane) <= mostInFlight[plane];
  }

  /**
   * Bytes that each plane may have under way before it is given a chunk of the length that was
   * asked for last; negative for one that is given none.
   */
  long[] mostInFlight() {
    return mostInFlight;
  }

  private void look(int lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    int planes = loads.planes();
    if (mostInFlight.length != planes) {
      mostInFlight = new long[planes];
      rate = new double[planes];
      lateBytes = new double[planes];
      endBytes = new double[planes];
    }
    of = weights;
    chunkBytes = Math.max(lengthBytes, loads.preferredChunkBytes());
    moves = loads.moves();
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

  /* When the next chunk would be through on the best plane. */
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

  /* Where planes are late, and where their queues end, in bytes before the chunk. */
  private void findEnds(PlaneLoads loads, PlaneWeights weights) {
    PlaneRates rates = loads.rates();
    double preferred = loads.preferredChunkBytes();
    double callerNs = rates.callerLateNs();
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
        lateBytes[plane] = rates.isTrial(plane, own) ? Math.min(1, late) : late;
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
