package io.heddle.spray;

/**
 * SprayLink policy of H3C's white paper (6W100) for switches and network cards, with inputs that a
 * host can measure. Every {@link #INTERVAL_NS}, each plane's load and queue enter moving averages,
 * and the planes are sorted by a score of these averages. A hash picks a plane of the less loaded
 * half. If the chunk would finish noticeably earlier on another plane, the plane with the earliest
 * finish gets the chunk.
 */
final class SprayLinkPolicy implements SprayPolicy {
  /* Values that the paper leaves open. */
  private static final long INTERVAL_NS = 500_000;
  private static final double NEWEST = 0.25;
  private static final double SAME_SCORE = 1e-3;
  private static final double MOVED_BEHIND_CHUNKS = 0.5;

  private final long connectionSeed;
  private double[] load = {};
  private double[] queue = {};
  private double[] score = {};
  private double[] rate = {};
  private long[] carriedBefore = {};
  private int[] sorted = {};
  private int members;
  private long detectedAtNs;

  SprayLinkPolicy(long connectionSeed) {
    this.connectionSeed = connectionSeed;
  }

  @Override
  public String name() {
    return "spraylink";
  }

  @Override
  public boolean needsTimes() {
    return true;
  }

  @Override
  public int choose(
      long message,
      int chunk,
      int chunks,
      int lengthBytes,
      PlaneLoads loads,
      PlaneWeights weights) {
    detect(loads, weights);
    int picked = NO_PLANE;
    if (members > 0) {
      /*
       * In the paper, size is a field of the switch's table. It stores the number of members minus
       * one.
       */
      int size = members - 1;
      long hash = HashPolicy.mix(connectionSeed + message * MAX_CHUNKS + chunk);
      picked = sorted[(int) ((hash & 0xffff) % (size + 1)) & 0x3ff];
    }
    findRates(loads, weights);
    int best = NO_PLANE;
    double least = Double.MAX_VALUE;
    for (int plane = 0; plane < loads.planes(); plane++) {
      if (weights.weight(plane) > 0 && loads.hasQueueRoom(plane)) {
        double delay = delay(plane, lengthBytes, loads);
        if (delay < least) {
          least = delay;
          best = plane;
        }
      }
    }
    if (best == NO_PLANE
        || picked == NO_PLANE
        || weights.weight(picked) == 0
        || !loads.hasQueueRoom(picked)) {
      return best;
    }
    double behind = delay(picked, lengthBytes, loads) - least;
    return behind > MOVED_BEHIND_CHUNKS * lengthBytes / rate[best] ? best : picked;
  }

  private double delay(int plane, int lengthBytes, PlaneLoads loads) {
    return (loads.inFlightBytes(plane) + lengthBytes) / rate[plane];
  }

  /*
   * Finds the rates of the planes: the observed ones if every plane has one, else the weights.
   * Weights suffice, because the rates are only compared with each other.
   */
  private void findRates(PlaneLoads loads, PlaneWeights weights) {
    double fastest = loads.rates().fastest();
    boolean areKnown = true;
    for (int plane = 0; plane < rate.length; plane++) {
      rate[plane] = loads.rates().bytesPerNs(plane, fastest);
      areKnown &= rate[plane] > 0 || weights.weight(plane) == 0;
    }
    for (int plane = 0; plane < rate.length && !areKnown; plane++) {
      rate[plane] = weights.weight(plane);
    }
  }

  private void detect(PlaneLoads loads, PlaneWeights weights) {
    int planes = loads.planes();
    if (load.length != planes) {
      load = new double[planes];
      queue = new double[planes];
      score = new double[planes];
      rate = new double[planes];
      carriedBefore = new long[planes];
      sorted = new int[planes];
    } else if (members > 0 && loads.rates().nowNs() - detectedAtNs < INTERVAL_NS) {
      return;
    }
    detectedAtNs = loads.rates().nowNs();
    double allLoads = 0;
    double queues = 0;
    for (int plane = 0; plane < planes; plane++) {
      long carried = loads.carriedBytes(plane) - carriedBefore[plane];
      carriedBefore[plane] += carried;
      double capacity = Math.max(weights.weight(plane), 1);
      load[plane] += (carried / capacity - load[plane]) * NEWEST;
      queue[plane] += (loads.inFlightBytes(plane) - queue[plane]) * NEWEST;
      allLoads += load[plane];
      queues += queue[plane];
    }
    members = 0;
    for (int plane = 0; plane < planes; plane++) {
      score[plane] =
          (allLoads > 0 ? load[plane] / allLoads : 0) / 2
              + (queues > 0 ? queue[plane] / queues : 0) / 2;
      if (weights.weight(plane) > 0) {
        insert(plane);
      }
    }
    int better = (members + 1) / 2;
    while (better < members && score[sorted[better]] <= score[sorted[0]] + SAME_SCORE) {
      better++;
    }
    members = better;
  }

  /* Inserts the plane into the list sorted by score, lowest first. */
  private void insert(int plane) {
    int at = members++;
    while (at > 0 && score[sorted[at - 1]] > score[plane]) {
      sorted[at] = sorted[at - 1];
      at--;
    }
    sorted[at] = plane;
  }
}
