package io.heddle.spray;

/**
 * Baseline policy that imitates equal-cost multipath. A connection has as many flows as planes;
 * each flow is hashed to a plane once, and chunks are striped over the flows. Weights are ignored.
 * Two flows may share a plane while another plane stays empty.
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

  /* Returns the value's hash, by the finaliser of SplitMix64. */
  static long mix(long value) {
    long z = value * 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
