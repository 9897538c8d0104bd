package io.heddle.spray;

/**
 * What equal-cost multipath would do, kept as the honest baseline: as many flows as there are
 * planes, each hashed to a plane once per connection, chunks striped over the flows. Weights don't
 * matter; two flows may share a plane while another stays empty.
 */
final class HashPolicy implements SprayPolicy {
  private final long connectionSeed;

  HashPolicy(long connectionSeed) {
    this.connectionSeed = connectionSeed;
  }

  @Override
  public String name() {
    return "hash";
  }

  @Override
  public int choose(
      long message,
      int chunk,
      int chunks,
      int lengthBytes,
      PlaneLoads loads,
      PlaneWeights weights) {
    int planes = loads.planes();
    long flow = (message + chunk) % planes;
    int plane = (int) Long.remainderUnsigned(mix(connectionSeed + flow), planes);
    return loads.hasQueueRoom(plane) ? plane : NO_PLANE;
  }

  /* The finaliser of SplitMix64. */
  static long mix(long value) {
    long z = value * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
