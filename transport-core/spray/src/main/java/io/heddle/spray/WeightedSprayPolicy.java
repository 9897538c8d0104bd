package io.heddle.spray;

/**
 * Chunks of the device's size, each to the plane that would have the lowest virtual time with it,
 * so that bytes follow the weights exactly. A chunk waits for its plane where that one's queue is
 * at its end ({@link PlaneQueues}).
 *
 * <p>Only where that was found to leave capacity idle ({@link IdleCapacity}) others take the chunk
 * instead: a plane that is slower than its weight says gets what it carries then, whether or not
 * anybody has announced it. What it missed meanwhile it catches up by a window at most.
 */
final class WeightedSprayPolicy implements SprayPolicy {
  private final PlaneQueues queues = new PlaneQueues();

  @Override
  public String name() {
    return "spray";
  }

  @Override
  public boolean observes() {
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
    int plane = loads.lowestVirtualFinish(lengthBytes, weights);
    if (plane == NO_PLANE || queues.hasRoom(plane, lengthBytes, loads, weights)) {
      return plane;
    }
    return loads.isCapacityIdle()
        ? loads.lowestVirtualFinish(lengthBytes, weights, queues.mostInFlight())
        : NO_PLANE;
  }
}
