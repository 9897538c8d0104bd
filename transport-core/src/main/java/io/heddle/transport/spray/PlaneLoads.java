package io.heddle.transport.spray;

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

  /** An empty message costs its plane as much as this many bytes. */
  private static final int SMALLEST_CHARGE_BYTES = 64;

  private static final long REBASE_AT = 1L << 61;

  private final long[] inFlightBytes;
  private final int[] inFlightChunks;
  private final long[] virtualTime;
  private final int maxChunksPerPlane;
  private final long windowBytes;
  private final int preferredChunkBytes;

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
    this.preferredChunkBytes = preferredChunkBytes;
    this.windowBytes = windowBytes;
    this.maxChunksPerPlane = maxChunksPerPlane;
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

  /** Whether the plane's queues take another chunk at all. */
  boolean hasQueueRoom(int plane) {
    return inFlightChunks[plane] < maxChunksPerPlane;
  }

  /**
   * Whether the plane's share of the window takes this chunk. A plane with nothing in flight takes
   * any chunk, and one with less than four preferred chunks takes another, so that a small weight
   * never starves.
   */
  boolean hasWindowRoom(int plane, int lengthBytes, PlaneWeights weights) {
    long inFlight = inFlightBytes[plane];
    long share =
        Math.max(windowBytes * weights.weight(plane) / weights.total(), 4L * preferredChunkBytes);
    return inFlight == 0 || inFlight + lengthBytes <= share;
  }

  /** Virtual time that the plane would reach with this chunk. */
  long virtualFinish(int plane, int lengthBytes, PlaneWeights weights) {
    return virtualTime[plane] + charge(lengthBytes, weights.weight(plane));
  }

  private static long charge(int lengthBytes, int weight) {
    return (long) Math.max(lengthBytes, SMALLEST_CHARGE_BYTES) * SCALE / weight;
  }

  /** A chunk was given to the plane. */
  public void started(int plane, int lengthBytes, PlaneWeights weights) {
    inFlightBytes[plane] += lengthBytes;
    inFlightChunks[plane]++;
    virtualTime[plane] += charge(lengthBytes, Math.max(weights.weight(plane), 1));
    limitLag(weights);
  }

  /**
   * Other weights hold from now on: what a plane got under the old ones is no debt under the new.
   */
  public void weightsChanged() {
    java.util.Arrays.fill(virtualTime, 0);
  }

  /** A chunk is finished. */
  public void finished(int plane, int lengthBytes) {
    inFlightBytes[plane] -= lengthBytes;
    inFlightChunks[plane]--;
  }

  /** Nothing that the plane was given is under way any more. */
  public void lost(int plane) {
    inFlightBytes[plane] = 0;
    inFlightChunks[plane] = 0;
  }

  /* A plane that was full or out of use may catch up by one window, not by everything it ever missed. */
  private void limitLag(PlaneWeights weights) {
    long furthest = Long.MIN_VALUE;
    for (long time : virtualTime) {
      furthest = Math.max(furthest, time);
    }
    long floor = furthest - windowBytes * SCALE / Math.max(1, weights.total());
    long rebase = furthest > REBASE_AT ? REBASE_AT : 0;
    for (int plane = 0; plane < virtualTime.length; plane++) {
      virtualTime[plane] = Math.max(virtualTime[plane], floor) - rebase;
    }
  }
}
