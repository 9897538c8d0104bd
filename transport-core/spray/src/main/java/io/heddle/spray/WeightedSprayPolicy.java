package io.heddle.spray;

/**
 * Policy that gives each chunk to the plane with the lowest resulting virtual time ({@link
 * PlaneLoads}), so that bytes follow the weights exactly. A chunk waits while its plane's queue is
 * full ({@link PlaneQueues}).
 *
 * <p>If that leaves capacity idle ({@link IdleCapacity}), other planes take the chunk instead. A
 * plane slower than its weight then gets chunks only at its actual rate. Such a plane later catches
 * up by at most one window of bytes in flight.
 */
final class WeightedSprayPolicy implements SprayPolicy {
  private final PlaneQueues queues = new PlaneQueues();

  @Override
  public String name() {
    return "spray";
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
    int plane = loads.lowestVirtualFinish(lengthBytes, weights);
    if (plane == NO_PLANE || queues.hasRoom(plane, lengthBytes, loads, weights)) {
      return plane;
    }
    return loads.isCapacityIdle()
        ? loads.lowestVirtualFinish(lengthBytes, weights, queues.mostInFlight())
        : NO_PLANE;
  }
}
