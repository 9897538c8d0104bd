package io.heddle.transport.spray;

/**
 * Chunks of the device's size, each to the plane that would have the lowest virtual time with it,
 * as long as the plane's share of the window takes it: bytes follow the weights exactly while every
 * plane keeps up, and a plane that doesn't is given what it can carry.
 */
final class WeightedSprayPolicy implements SprayPolicy {
  @Override
  public String name() {
    return "spray";
  }

  @Override
  public boolean cutsByWeight() {
    return false;
  }

  @Override
  public int chunks(long lengthBytes, PlaneLoads loads, PlaneWeights weights) {
    return UniformChunks.count(lengthBytes, loads.preferredChunkBytes());
  }

  @Override
  public long chunkStart(
      long lengthBytes, int chunk, int chunks, PlaneLoads loads, PlaneWeights weights) {
    return UniformChunks.start(lengthBytes, chunk, loads.preferredChunkBytes());
  }

  @Override
  public int choose(
      long message,
      int chunk,
      int chunks,
      int lengthBytes,
      PlaneLoads loads,
      PlaneWeights weights) {
    return loads.lowestVirtualFinish(lengthBytes, weights);
  }
}
