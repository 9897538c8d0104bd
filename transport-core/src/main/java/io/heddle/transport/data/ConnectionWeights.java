package io.heddle.transport.data;

import io.heddle.qppool.PlaneQueuePair;
import io.heddle.spray.PlaneWeights;
import io.heddle.stats.PlaneCounters;
import io.heddle.verbs.Gid;
import io.heddle.verbs.LinkCounts;
import java.util.Arrays;
import java.util.List;

/**
 * Weights of one connection's planes: the weights from the routes, reduced for planes that are
 * down, drained or ramping up. The data path reads one volatile field.
 */
public final class ConnectionWeights {
  /** Share of a plane that is fully in use, in eighths. */
  public static final int FULL_SHARE = 8;

  /** Bits for the requester of a drain: the operator at this end, or the operator at the peer. */
  public static final int LOCAL = 1;

  public static final int REMOTE = 2;

  private PlaneWeights routed;
  private final int[] shares;
  private final int[] drainedBy;
  private PlaneCounters[] counters = {};
  private boolean sends;
  private Runnable onChange = () -> {};

  /*
   * Written under the monitor by the control thread and the thread heddle-routes; read by the
   * thread that drives the communicator.
   */
  private volatile PlaneWeights current;

  public ConnectionWeights(PlaneWeights initial) {
    routed = initial;
    current = initial;
    shares = new int[initial.planes()];
    drainedBy = new int[shares.length];
    Arrays.fill(shares, FULL_SHARE);
  }

  /**
   * Returns the weights in effect: those of the routes, reduced by the planes' shares and drains.
   */
  public PlaneWeights current() {
    return current;
  }

  /** Returns the weights that the routes, or the operator, set for planes that are up. */
  public synchronized PlaneWeights routed() {
    return routed;
  }

  public synchronized void setRouted(PlaneWeights next) {
    routed = next;
    renew();
  }

  /**
   * Sets a plane's share.
   *
   * @param eighths part of its weight that the plane carries, in eighths; 0 takes the plane out of
   *     use
   */
  public synchronized void setShare(int plane, int eighths) {
    if (shares[plane] != eighths) {
      shares[plane] = eighths;
      renew();
    }
  }

  /**
   * Drains a plane: it gets no new chunks, regardless of its share, while others are left.
   *
   * @param by {@link #LOCAL} or {@link #REMOTE}
   * @return whether this changed anything
   */
  public synchronized boolean drain(int plane, int by, boolean on) {
    int next = on ? drainedBy[plane] | by : drainedBy[plane] & ~by;
    if (next == drainedBy[plane]) {
      return false;
    }
    drainedBy[plane] = next;
    renew();
    return true;
  }

  /**
   * Sets an action that runs at each change, under the monitor. Called before other threads know
   * these weights.
   */
  public void onChange(Runnable action) {
    onChange = action;
  }

  /**
   * Sets the counters that publish the weights.
   *
   * @param sending whether this end sends
   */
  public synchronized void setCounters(PlaneCounters[] shown, boolean sending) {
    counters = shown;
    sends = sending;
    publish();
  }

  /** Publishes new addresses of both ends in the counters. */
  public synchronized void publishAddresses(List<Gid> local, List<Gid> remote) {
    for (int i = 0; i < counters.length; i++) {
      counters[i].setAddresses(local.get(i).toBytes(), remote.get(i).toBytes());
    }
  }

  /** Detaches the counters, which may soon be another connection's. */
  public synchronized void forgetCounters() {
    counters = new PlaneCounters[0];
  }

  /** Adds this queue pair's retransmissions to its plane's counters. */
  synchronized void countResent(int plane, PlaneQueuePair pair) {
    if (counters.length > 0) {
      counters[plane].resent(pair.resentSinceLastCall());
    }
  }

  /** Adds new counts of the link over this plane to the plane's counters. */
  synchronized void countLink(int plane, LinkCounts newly) {
    if (counters.length > 0) {
      counters[plane].addLinkCounts(newly, sends);
    }
  }

  /** Counts a failover of the plane. */
  public synchronized void countFailover(int plane) {
    if (counters.length > 0) {
      counters[plane].failover();
    }
  }

  private void renew() {
    current = routed.scaledBy(sharesInUse());
    onChange.run();
    publish();
  }

  /*
   * Returns the shares, 0 for drained planes. If the operator has drained every plane that is up,
   * drains are ignored, so that the job continues.
   */
  private int[] sharesInUse() {
    int[] left = shares.clone();
    boolean any = false;
    for (int i = 0; i < left.length; i++) {
      left[i] = drainedBy[i] == 0 ? left[i] : 0;
      any |= left[i] > 0;
    }
    return any ? left : shares;
  }

  private void publish() {
    PlaneWeights now = current;
    for (int i = 0; i < counters.length; i++) {
      counters[i].setWeight(now.weight(i), reasonOf(now, i));
    }
  }

  private String reasonOf(PlaneWeights now, int plane) {
    return !now.isOutOfUse(plane) ? now.source() : drainedBy[plane] == 0 ? "out of use" : "drained";
  }
}
