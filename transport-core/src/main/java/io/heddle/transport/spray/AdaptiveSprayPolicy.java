package io.heddle.transport.spray;

/**
 * Chunks of the device's size, in proportion to the weights as far as planes keep up with them.
 *
 * <p>Of the planes whose queues aren't at their end ({@link PlaneQueues}) the one with the lowest
 * virtual time takes the next chunk, so that bytes follow the weights exactly while every plane
 * keeps up. A plane that is slower than its weight says gets what it carries, whether or not
 * anybody has announced it. What it missed meanwhile it catches up by a window at most.
 */
final class AdaptiveSprayPolicy implements SprayPolicy {
  private final PlaneQueues queues = new PlaneQueues();

  @Override
  public String name() {
    return "adaptive";
  }

  @Override
  public boolean cutsByWeight() {
    return false;
  }

  @Override
  public boolean observes() {
    return true;
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
    int plane = loads.lowestVirtualFinish(lengthBytes, weights);
    return plane == NO_PLANE || queues.hasRoom(plane, lengthBytes, loads, weights)
        ? plane
        : loads.lowestVirtualFinish(lengthBytes, weights, queues.mostInFlight());
  }
}
