package io.heddle.gateway.dataplane;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Key of a steer, which assigns the packets to one queue pair to a segment list. A queue pair's
 * number is unique only per destination.
 *
 * @param queuePair number of the queue pair, 2 to 2^24 − 1: QP 0 and QP 1 belong to management and
 *     are never steered
 * @param source source of the packets; null for any
 */
public record SteerKey(InetAddress destination, int queuePair, @Nullable InetAddress source) {
  public static final int LEAST_QUEUE_PAIR = 2;
  public static final int MOST_QUEUE_PAIR = 0xffffff;

  public SteerKey {
    if (queuePair < LEAST_QUEUE_PAIR || queuePair > MOST_QUEUE_PAIR) {
      throw new IllegalArgumentException(
          "queue pair "
              + queuePair
              + " is not in "
              + LEAST_QUEUE_PAIR
              + " to "
              + MOST_QUEUE_PAIR
              + "; 0 and 1 belong to management and are never steered");
    }
  }
}
