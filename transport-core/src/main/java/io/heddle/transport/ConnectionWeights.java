package io.heddle.transport;

import io.heddle.qppool.PlaneQueuePair;
import io.heddle.transport.spray.PlaneWeights;
import io.heddle.transport.stats.PlaneCounters;
import java.util.Arrays;

/**
 * The weights of one connection: those of the routes, cut down to the planes that are up, drained
 * or coming back. The data path reads one volatile field.
 */
final class ConnectionWeights {
  /** The share of a plane that is fully in use. */
  static final int FULL_SHARE = 8;

  private PlaneWeights routed;
  private final int[] shares;
  private PlaneCounters[] counters = {};

  /* Written under the monitor by the control and the routes thread, read by the thread that drives the communicator. */
  private volatile PlaneWeights current;

  ConnectionWeights(PlaneWeights initial) {
    routed = initial;
    current = initial;
    shares = new int[initial.planes()];
    Arrays.fill(shares, FULL_SHARE);
  }

  /** What to send by. */
  PlaneWeights current() {
    return current;
  }

  /** What the routes, or the operator, say of planes that are up. */
  synchronized PlaneWeights routed() {
    return routed;
  }

  synchronized void setRouted(PlaneWeights next) {
    routed = next;
    renew();
  }

  /**
   * @param eighths of its weight that the plane carries; 0 takes it out
   */
  synchronized void setShare(int plane, int eighths) {
    if (shares[plane] != eighths) {
      shares[plane] = eighths;
      renew();
    }
  }

  /** The counters that show the weights. */
  synchronized void setCounters(PlaneCounters[] shown) {
    counters = shown;
    tell();
  }

  /** The counters end; they may be another connection's soon. */
  synchronized void forgetCounters() {
    counters = new PlaneCounters[0];
  }

  /** Adds what this queue pair has sent again to its plane's counters. */
  synchronized void tellResent(int plane, PlaneQueuePair pair) {
    if (counters.length > 0) {
      counters[plane].resent(pair.newlyResent());
    }
  }

  /** Counts that the plane was left. */
  synchronized void tellFailover(int plane) {
    if (counters.length > 0) {
      counters[plane].failover();
    }
  }

  private void renew() {
    current = routed.shared(shares);
    tell();
  }

  private void tell() {
    PlaneWeights now = current;
    for (int i = 0; i < counters.length; i++) {
      counters[i].setWeight(now.weight(i), now.isOut(i) ? "out of use" : now.source());
    }
  }
}
