package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.qppool.PlaneQueuePair;
import io.heddle.verbs.DeviceAttributes;

/**
 * Depths of a connection's queues. A depth is the wanted number of work requests, or fewer if the
 * device has a smaller limit for a queue pair or for the shared completion queue.
 */
final class QueueSizing {
  private static final int WANTED_SENDS = 256;
  private static final int WANTED_RECEIVES = 512;

  /**
   * Minimum depth of a send queue. A connection would work with less, but with hardly more than one
   * request at a time.
   */
  private static final int LEAST_SENDS = 16;

  private static final int LEAST_RECEIVES = 2 * LEAST_SENDS;
  private static final int PARTS = (WANTED_SENDS + WANTED_RECEIVES) / WANTED_SENDS;

  private QueueSizing() {}

  /**
   * Returns the depths of each queue pair.
   *
   * @param device name of the device
   * @param queuePairs number of queue pairs of the connection
   * @param inlineBytes as in {@link PlaneQueuePair.QueueDepths}
   * @throws HeddleException where the device is too small for so many queue pairs
   */
  static PlaneQueuePair.QueueDepths of(
      String device, DeviceAttributes limits, int queuePairs, int inlineBytes) {
    int each = limits.maxCompletions() / queuePairs;
    int sends = Math.min(WANTED_SENDS, Math.min(limits.maxWorkRequests(), each / PARTS));
    int receives = Math.min(WANTED_RECEIVES, Math.min(limits.maxWorkRequests(), each - sends));
    if (sends < LEAST_SENDS || receives < LEAST_RECEIVES) {
      throw new HeddleException(
          ("device %s takes %s work requests in a queue (max_qp_wr) and %s completions in a queue"
               + " (max_cqe); a connection with %s queue pairs needs %s and %s: name fewer planes"
               + " with HEDDLE_PLANES, or set fewer queue pairs with NCCL_IB_QPS_PER_CONNECTION")
              .formatted(
                  device,
                  limits.maxWorkRequests(),
                  limits.maxCompletions(),
                  queuePairs,
                  LEAST_RECEIVES,
                  queuePairs * (LEAST_SENDS + LEAST_RECEIVES)));
    }
    return new PlaneQueuePair.QueueDepths(sends, receives, inlineBytes);
  }
}
