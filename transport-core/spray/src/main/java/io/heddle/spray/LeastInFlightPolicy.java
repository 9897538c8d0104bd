package io.heddle.spray;

/**
 * Policy that gives each chunk to the plane with the fewest bytes in flight, regardless of weights.
 * Among planes with equally many bytes in flight, the weights decide. The policy needs neither
 * measurements nor announced weights. A slow plane gets as long a queue as a fast one.
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
