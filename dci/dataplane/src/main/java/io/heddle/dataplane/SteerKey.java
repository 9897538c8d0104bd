package io.heddle.dataplane;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * Whose packets a steer moves. A queue pair's number is unique for its destination only.
 *
 * @param queuePair 2 to 2^24 − 1: QP 0 and QP 1 are management's and never steered
 * @param source null for any
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
              + "; 0 and 1 are management's and never steered");
    }
  }
}
