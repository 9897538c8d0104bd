package io.heddle.spray;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Loads of one connection's planes: bytes and chunks in flight, and virtual times. Written and read
 * by the thread that drives the connection.
 *
 * <p>A plane's <em>virtual time</em> grows by bytes ÷ weight with each chunk. The next chunk goes
 * to the plane whose virtual time would be the lowest with the chunk added. This shares bytes in
 * proportion to the weights: weighted fair queueing, with the planes as the queues.
 */
public final class PlaneLoads {
  /**
   * Virtual time of one byte at weight 1; leaves room for 2^47 bytes before all virtual times are
   * lowered.
   */
  static final int SCALE = 1 << 16;

  /*
   * Fraction bits of a byte's cost in virtual time. They let a multiplication replace the division
   * by a weight. 2^31 bytes at a cost of 2^32 each fit into a long.
   */
  private static final int COST_SHIFT = 16;

  /** Bytes charged to a plane for an empty message. */
  private static final int SMALLEST_CHARGE_BYTES = 64;

  /** Divisor of the preferred chunk length; chunks up to the quotient count as small. */
  private static final int SMALL_PART = 8;

  private static final long REBASE_AT = 1L << 61;

  private final long[] inFlightBytes;
  private final int[] inFlightChunks;
  private final long[] virtualTime;
  private final long[] carriedBytes;
  private final PlaneRates rates;
  private final IdleCapacity idle;
  private boolean isObserved;
  private long changeCount;
  private final int maxChunksPerPlane;
  private final long windowBytes;
  private final int preferredChunkBytes;

  /*
   * Latest weights and the values derived from them: for each plane the virtual time of a byte, the
   * share of the window and the limit on chunks; and the largest lag of a virtual time.
   */
  private @Nullable PlaneWeights derivedFrom;
  private final long[] cost;
  private final long[] shareBytes;
  private final int[] mostChunks;
  private long mostLag;
  private final long[] unlimited;

  /*
   * Plane that takes small chunks until another plane lags by a preferred chunk. Staying on one
   * plane lets the acknowledgement of a chunk travel with the next packet.
   */
  private int smallChunkPlane;
  /*
   * Virtual time up to which {@code smallChunkPlane} takes small chunks, as of the last comparison
   * of all planes.
   */
  private long smallChunkUntil;

  /* Virtual time of a plane at which {@link #limitLag} runs again. */
  private long limitAt;

  /**
   * @param planes number of planes of the connection
   * @param preferredChunkBytes length of a write that suits the device best
   * @param windowBytes limit on the bytes in flight over all planes together, shared out by weight
   * @param maxChunksPerPlane maximum number of work requests in flight on a plane
   */
  public PlaneLoads(int planes, int preferredChunkBytes, long windowBytes, int maxChunksPerPlane) {
    this.inFlightBytes = new long[planes];
    this.inFlightChunks = new int[planes];
    this.virtualTime = new long[planes];
    this.carriedBytes = new long[planes];
    this.rates = new PlaneRates(planes, maxChunksPerPlane, preferredChunkBytes);
    this.idle = new IdleCapacity(planes, preferredChunkBytes);
    this.cost = new long[planes];
    this.shareBytes = new long[planes];
    this.mostChunks = new int[planes];
    this.unlimited = new long[planes];
    Arrays.fill(unlimited, Long.MAX_VALUE);
    this.preferredChunkBytes = preferredChunkBytes;
    this.windowBytes = windowBytes;
    this.maxChunksPerPlane = maxChunksPerPlane;
  }

  /**
   * Sets the present time, which applies until the next call. Before the first call, no rates are
   * observed.
   */
  public void setTime(long nowNs) {
    isObserved = true;
    rates.setTime(nowNs);
  }

  /** Records that the caller polled completions now, and has reported all of them. */
  public void onPolled() {
    rates.onPolled();
    PlaneWeights weights = derivedFrom;
    if (weights != null && idle.onPolled(this, weights)) {
      forgetDebts();
    }
  }

  /** Returns whether the detector found that keeping to the weights leaves capacity idle. */
  boolean isCapacityIdle() {
    return idle.isFound();
  }

  public int planes() {
    return inFlightBytes.length;
  }

  public int preferredChunkBytes() {
    return preferredChunkBytes;
  }

  public long inFlightBytes(int plane) {
    return inFlightBytes[plane];
  }

  /** Returns the bytes that the plane has carried so far. */
  long carriedBytes(int plane) {
    return carriedBytes[plane];
  }

  /** Copies the bytes that each plane has carried so far into the array. */
  void copyCarriedBytes(long[] into) {
    System.arraycopy(carriedBytes, 0, into, 0, carriedBytes.length);
  }

  /** Returns the rates observed on the planes. */
  PlaneRates rates() {
    return rates;
  }

  /** Returns the number of changes to the planes' bytes in flight so far. */
  long changeCount() {
    return changeCount;
  }

  /** Returns whether a chunk is still unacknowledged. */
  public boolean isAnyInFlight() {
    return rates.isAnyInFlight();
  }

  /** Returns the virtual time that the plane would reach with this chunk. */
  long virtualFinish(int plane, int lengthBytes, PlaneWeights weights) {
    if (weights != derivedFrom) {
      deriveFrom(weights);
    }
    return virtualTime[plane] + charge(lengthBytes, cost[plane]);
  }

  /** Returns whether the plane's queues take another chunk at all. */
  boolean hasQueueRoom(int plane) {
    return inFlightChunks[plane] < maxChunksPerPlane;
  }

  private void deriveFrom(PlaneWeights weights) {
    derivedFrom = weights;
    smallChunkUntil = 0;
    long total = Math.max(weights.total(), 1);
    for (int plane = 0; plane < cost.length; plane++) {
      int weight = weights.weight(plane);
      cost[plane] = ((long) SCALE << COST_SHIFT) / Math.max(weight, 1);
      shareBytes[plane] = Math.max(windowBytes * weight / total, 4L * preferredChunkBytes);
      mostChunks[plane] = weight == 0 ? 0 : maxChunksPerPlane;
    }
    mostLag = windowBytes * SCALE / total;
  }

  private static long charge(int lengthBytes, long cost) {
    return Math.max(lengthBytes, SMALLEST_CHARGE_BYTES) * cost >>> COST_SHIFT;
  }

  /**
   * Returns the plane with the lowest virtual time after this chunk; −1 if no plane has room. A
   * plane has room if its queues and its share of the window can take the chunk; with nothing in
   * flight, the share doesn't count. Each share is at least four preferred chunks, so that a plane
   * with a small weight never starves. Small chunks stay on one plane until that plane is a
   * preferred chunk ahead of the others, as of the last full comparison.
   */
  int lowestVirtualFinish(int lengthBytes, PlaneWeights weights) {
    if (weights == derivedFrom
        && isSmall(lengthBytes)
        && virtualTime[smallChunkPlane] + charge(lengthBytes, cost[smallChunkPlane])
            <= smallChunkUntil
        && hasRoomFor(smallChunkPlane, lengthBytes, Long.MAX_VALUE)) {
      return smallChunkPlane;
    }
    return lowestVirtualFinish(lengthBytes, weights, unlimited);
  }

  private boolean isSmall(int lengthBytes) {
    return lengthBytes <= preferredChunkBytes / SMALL_PART;
  }

  /**
   * Returns the plane with the lowest virtual time after this chunk, among planes with room and at
   * most the given bytes in flight.
   *
   * @param mostInFlight limit of each plane before the chunk; negative for a plane that takes none
   */
  int lowestVirtualFinish(int lengthBytes, PlaneWeights weights, long[] mostInFlight) {
    if (weights != derivedFrom) {
      deriveFrom(weights);
    }
    int best = SprayPolicy.NO_PLANE;
    long bestFinish = Long.MAX_VALUE;
    for (int plane = 0; plane < virtualTime.length; plane++) {
      long finish = virtualTime[plane] + charge(lengthBytes, cost[plane]);
      if (finish < bestFinish && hasRoomFor(plane, lengthBytes, mostInFlight[plane])) {
        bestFinish = finish;
        best = plane;
      }
    }
    if (!isSmall(lengthBytes) || best < 0) {
      return best;
    }
    smallChunkUntil = bestFinish + charge(preferredChunkBytes, cost[smallChunkPlane]);
    if (virtualTime[smallChunkPlane] + charge(lengthBytes, cost[smallChunkPlane]) > smallChunkUntil
        || !hasRoomFor(smallChunkPlane, lengthBytes, mostInFlight[smallChunkPlane])) {
      smallChunkPlane = best;
      smallChunkUntil = bestFinish;
    }
    return smallChunkPlane;
  }

  private boolean hasRoomFor(int plane, int lengthBytes, long mostInFlight) {
    long inFlight = inFlightBytes[plane];
    return inFlight <= mostInFlight
        && inFlightChunks[plane] < mostChunks[plane]
        && (inFlight == 0 || inFlight + lengthBytes <= shareBytes[plane]);
  }

  /** Records that a chunk was given to the plane. */
  public void started(int plane, int lengthBytes, PlaneWeights weights) {
    if (weights != derivedFrom) {
      deriveFrom(weights);
    }
    inFlightBytes[plane] += lengthBytes;
    inFlightChunks[plane]++;
    changeCount++;
    if (isObserved) {
      rates.started(plane, inFlightBytes[plane]);
    }
    long time = virtualTime[plane] + charge(lengthBytes, cost[plane]);
    virtualTime[plane] = time;
    if (time >= limitAt) {
      limitLag();
    }
  }

  /**
   * Applies changed weights. All virtual times start again from 0. A plane's observed rate is
   * dropped if its weight relative to the heaviest plane changed.
   */
  public void onWeightsChanged(PlaneWeights before, PlaneWeights now) {
    forgetDebts();
    idle.forget();
    long heaviestBefore = before.heaviest();
    long heaviest = now.heaviest();
    for (int plane = 0; plane < virtualTime.length; plane++) {
      if (before.weight(plane) * heaviest != now.weight(plane) * heaviestBefore) {
        rates.forget(plane);
      }
    }
  }

  /* Sets all virtual times equal, so that no plane catches up with bytes that it missed. */
  private void forgetDebts() {
    Arrays.fill(virtualTime, 0);
    smallChunkUntil = 0;
    limitAt = 0;
  }

  /** Records that a chunk is finished. */
  public void finished(int plane, int lengthBytes) {
    inFlightBytes[plane] -= lengthBytes;
    inFlightChunks[plane]--;
    changeCount++;
    carriedBytes[plane] += lengthBytes;
    if (isObserved) {
      rates.finished(plane);
    }
  }

  /** Records that none of the plane's chunks is in flight any more. */
  public void lost(int plane) {
    inFlightBytes[plane] = 0;
    inFlightChunks[plane] = 0;
    changeCount++;
    rates.lost(plane);
  }

  /*
   * Limits the lag of each virtual time to about one window. So a plane that was full or out of use
   * doesn't catch up with all bytes that it missed. Called each time the furthest virtual time has
   * grown by a quarter of a window, which is often enough.
   */
  private void limitLag() {
    long furthest = Long.MIN_VALUE;
    for (long time : virtualTime) {
      furthest = Math.max(furthest, time);
    }
    long floor = furthest - mostLag;
    long rebase = furthest > REBASE_AT ? REBASE_AT : 0;
    for (int plane = 0; plane < virtualTime.length; plane++) {
      virtualTime[plane] = Math.max(virtualTime[plane], floor) - rebase;
    }
    smallChunkUntil = 0;
    limitAt = furthest - rebase + mostLag / 4;
  }
}
