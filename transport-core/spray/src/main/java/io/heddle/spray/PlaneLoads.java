package io.heddle.spray;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What one connection has under way on each of its planes. Written and read by the thread that
 * drives the connection.
 *
 * <p>A plane's <em>virtual time</em> grows by bytes ÷ weight with every chunk it is given: giving
 * the next chunk to the plane that would have the lowest one hands out bytes in proportion to the
 * weights (weighted fair queueing, with the planes as the queues).
 */
public final class PlaneLoads {
  /** Virtual time of one byte at weight 1; leaves room for 2^47 bytes between two re-bases. */
  static final int SCALE = 1 << 16;

  /* Costs have so many bits more than virtual time, so that a division by a weight is a multiplication: 2^31 bytes at
  2^32 each are below 2^63. */
  private static final int COST_SHIFT = 16;

  /** An empty message costs its plane as much as this many bytes. */
  private static final int SMALLEST_CHARGE_BYTES = 64;

  /** A chunk is small up to this part of a preferred one. */
  private static final int SMALL_PART = 8;

  private static final long REBASE_AT = 1L << 61;

  private final long[] inFlightBytes;
  private final int[] inFlightChunks;
  private final long[] virtualTime;
  private final long[] carriedBytes;
  private final PlaneRates rates;
  private final IdleCapacity idle;
  private boolean isObserved;
  private long moves;
  private final int maxChunksPerPlane;
  private final long windowBytes;
  private final int preferredChunkBytes;

  /* What follows from the weights that were asked by last: of a byte on each plane, each plane's share of the window, how
  many chunks it takes, and by how much a plane's virtual time may lag behind. */
  private @Nullable PlaneWeights learnt;
  private final long[] cost;
  private final long[] shareBytes;
  private final int[] mostChunks;
  private long mostLag;
  private final long[] unlimited;

  /* Where small chunks go until another plane lags by a preferred chunk: each carries what acknowledges the one before;
  and the virtual time until which none did when all were looked at last. */
  private int usual;
  private long usualUntil;

  /* The virtual time at which planes that lag behind are looked for again. */
  private long limitAt;

  /**
   * @param planes how many planes the connection has
   * @param preferredChunkBytes length of a write that the device likes best
   * @param windowBytes bytes in flight over all planes together, shared out by weight
   * @param maxChunksPerPlane work requests in flight that a plane's queues allow
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
   * The time for all that follows, until it is told again. Where it is never told, nothing is
   * observed.
   */
  public void at(long nowNs) {
    isObserved = true;
    rates.at(nowNs);
  }

  /** Completions were looked for by now, and none are there that haven't been told. */
  public void looked() {
    rates.looked();
    PlaneWeights weights = learnt;
    if (weights != null && idle.looked(this, weights)) {
      forgetDebts();
    }
  }

  /** Whether keeping to the weights was found to leave capacity idle. */
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

  /** What the plane has carried so far. */
  long carriedBytes(int plane) {
    return carriedBytes[plane];
  }

  /** What each plane has carried so far, into an array with a number for each. */
  void copyCarriedBytes(long[] into) {
    System.arraycopy(carriedBytes, 0, into, 0, carriedBytes.length);
  }

  /** What was observed of the planes. */
  PlaneRates rates() {
    return rates;
  }

  /** Grows with every chunk that begins or ends. */
  long moves() {
    return moves;
  }

  /** Whether a chunk has no acknowledgement yet. */
  public boolean isAnyUnderWay() {
    return rates.isAnyUnderWay();
  }

  /** Virtual time that the plane would reach with this chunk. */
  long virtualFinish(int plane, int lengthBytes, PlaneWeights weights) {
    if (weights != learnt) {
      learn(weights);
    }
    return virtualTime[plane] + charge(lengthBytes, cost[plane]);
  }

  /** Whether the plane's queues take another chunk at all. */
  boolean hasQueueRoom(int plane) {
    return inFlightChunks[plane] < maxChunksPerPlane;
  }

  private void learn(PlaneWeights weights) {
    learnt = weights;
    usualUntil = 0;
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
   * The plane that would have the lowest virtual time with this chunk, of those whose queues and
   * share of the window take it; −1 where none does. A plane with nothing in flight takes any
   * chunk, and one with less than four preferred chunks takes another, so that a small weight never
   * starves. Small chunks stay on one plane until it is ahead by a preferred chunk of the others,
   * as they were when the last chunk went that was looked at all planes for.
   */
  int lowestVirtualFinish(int lengthBytes, PlaneWeights weights) {
    if (weights == learnt
        && isSmall(lengthBytes)
        && virtualTime[usual] + charge(lengthBytes, cost[usual]) <= usualUntil
        && takes(usual, lengthBytes, Long.MAX_VALUE)) {
      return usual;
    }
    return lowestVirtualFinish(lengthBytes, weights, unlimited);
  }

  private boolean isSmall(int lengthBytes) {
    return lengthBytes <= preferredChunkBytes / SMALL_PART;
  }

  /**
   * The same of planes that have no more than so much under way.
   *
   * @param mostInFlight bytes of each plane before the chunk; negative for a plane that takes none
   */
  int lowestVirtualFinish(int lengthBytes, PlaneWeights weights, long[] mostInFlight) {
    if (weights != learnt) {
      learn(weights);
    }
    int best = SprayPolicy.NO_PLANE;
    long bestFinish = Long.MAX_VALUE;
    for (int plane = 0; plane < virtualTime.length; plane++) {
      long finish = virtualTime[plane] + charge(lengthBytes, cost[plane]);
      if (finish < bestFinish && takes(plane, lengthBytes, mostInFlight[plane])) {
        bestFinish = finish;
        best = plane;
      }
    }
    if (!isSmall(lengthBytes) || best < 0) {
      return best;
    }
    usualUntil = bestFinish + charge(preferredChunkBytes, cost[usual]);
    if (virtualTime[usual] + charge(lengthBytes, cost[usual]) > usualUntil
        || !takes(usual, lengthBytes, mostInFlight[usual])) {
      usual = best;
      usualUntil = bestFinish;
    }
    return usual;
  }

  private boolean takes(int plane, int lengthBytes, long mostInFlight) {
    long inFlight = inFlightBytes[plane];
    return inFlight <= mostInFlight
        && inFlightChunks[plane] < mostChunks[plane]
        && (inFlight == 0 || inFlight + lengthBytes <= shareBytes[plane]);
  }

  /** A chunk was given to the plane. */
  public void started(int plane, int lengthBytes, PlaneWeights weights) {
    if (weights != learnt) {
      learn(weights);
    }
    inFlightBytes[plane] += lengthBytes;
    inFlightChunks[plane]++;
    moves++;
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
   * Other weights hold from now on: what a plane got under the old ones is no debt under the new,
   * and of a plane that weighs more or less than it did beside the heaviest one nothing is known
   * any more.
   */
  public void weightsChanged(PlaneWeights before, PlaneWeights now) {
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

  /* What a plane didn't carry before it needn't catch up with. */
  private void forgetDebts() {
    Arrays.fill(virtualTime, 0);
    usualUntil = 0;
    limitAt = 0;
  }

  /** A chunk is finished. */
  public void finished(int plane, int lengthBytes) {
    inFlightBytes[plane] -= lengthBytes;
    inFlightChunks[plane]--;
    moves++;
    carriedBytes[plane] += lengthBytes;
    if (isObserved) {
      rates.finished(plane);
    }
  }

  /** Nothing that the plane was given is under way any more. */
  public void lost(int plane) {
    inFlightBytes[plane] = 0;
    inFlightChunks[plane] = 0;
    moves++;
    rates.lost(plane);
  }

  /* A plane that was full or out of use may catch up by about one window, not by everything it ever missed. Every quarter
  of a window is often enough. */
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
    usualUntil = 0;
    limitAt = furthest - rebase + mostLag / 4;
  }
}
