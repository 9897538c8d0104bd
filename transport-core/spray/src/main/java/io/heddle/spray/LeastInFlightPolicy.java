package io.heddle.spray;

/**
 * Each chunk to the plane that has the fewest bytes under way, whatever planes weigh; among equals
 * by weight. It learns nothing and needs no announcement, but pays for a slow plane with a queue on
 * it that is as long as the others'.
 */
final class LeastInFlightPolicy implements SprayPolicy {
  @Override
  public String name() {
    return "least-in-flight";
  }

  @Override
  public int choose(
      long message,
      int chunk,
      int chunks,
      int lengthBytes,
      PlaneLoads loads,
      PlaneWeights weights) {
    int best = NO_PLANE;
    long least = Long.MAX_VALUE;
    long finish = Long.MAX_VALUE;
    for (int plane = 0; plane < loads.planes(); plane++) {
      if (weights.weight(plane) == 0 || !loads.hasQueueRoom(plane)) {
        continue;
      }
      long bytes = loads.inFlightBytes(plane);
      long own = loads.virtualFinish(plane, lengthBytes, weights);
      if (bytes < least || bytes == least && own < finish) {
        best = plane;
        least = bytes;
        finish = own;
      }
    }
    return best;
  }
}
