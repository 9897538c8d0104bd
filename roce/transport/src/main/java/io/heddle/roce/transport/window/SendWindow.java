package io.heddle.roce.transport.window;

/**
 * Congestion window of a requester, in packets: slow start, reduction by a quarter after a loss,
 * and a limit on queueing delay. Used under the progress lock.
 *
 * <p>A window that is large enough for a fast link would fill a slow link's queue for a third of a
 * second. So each round trip is compared with the shortest one. The excess is queueing in the
 * network, or waiting in a socket until the receiving process runs. That waiting says nothing about
 * the path, and dominates where processes share cores. Each end knows when it last found its socket
 * empty. The longest possible wait since then is subtracted. If the rest of the excess is above the
 * target, the window is reduced in proportion, once per round trip.
 */
public final class SendWindow {
  /** Number of packets of a train at path MTU 4096, plus one. */
  private static final int USUAL_TRAIN = 16;

  /**
   * Target queueing delay. So many queued packets keep the link busy while the process at one end
   * isn't running.
   */
  static final long TARGET_NS = 5_000_000;

  private static final int FIRST = 4;
  private static final int ROUNDS_AT_SMALLEST = 8;

  private int smallest = smallest(USUAL_TRAIN);
  private int limit = smallest;
  private int packets = smallest;
  private int threshold = smallest;
  private int ackedSinceGrowth;
  private boolean crowded;
  /*
   * Window and threshold before the last loss. Cleared when the window shrinks for another reason.
   */
  private int packetsBeforeLoss;
  private int thresholdBeforeLoss;

  private long shortestNs;
  private long reducedAtNs;
  /*
   * Shortest round trip measured while even the smallest window was too large, and the number of
   * such measurements.
   */
  private long shortestAtSmallestNs;
  private int roundsAtSmallest;

  /**
   * Returns the smallest useful window: two full trains, so that one is in flight while the next is
   * built.
   *
   * @param trainPackets number of packets of a full train, without a packet for the immediate
   */
  public static int smallest(int trainPackets) {
    return 2 * Math.min(trainPackets + 1, USUAL_TRAIN);
  }

  /** Resets the window, which then has between {@code least} and {@code most} packets. */
  public void reset(int most, int least, long nowNs) {
    limit = most;
    smallest = least;
    packets = Math.min(most, FIRST * least);
    threshold = most;
    ackedSinceGrowth = 0;
    crowded = false;
    forgetLoss();
    shortestNs = Long.MAX_VALUE;
    reducedAtNs = nowNs;
    forgetRounds();
  }

  public int packets() {
    return packets;
  }

  /** Returns the smallest useful window. */
  public int smallest() {
    return smallest;
  }

  /** Adapts to another packet size. The window keeps its size in bytes, but has other bounds. */
  public void refit(int most, int least) {
    threshold = threshold >= limit ? most : Math.min(most, threshold * least / smallest);
    packets = Math.clamp((long) packets * least / smallest, Math.min(most, least), most);
    limit = most;
    smallest = least;
    ackedSinceGrowth = 0;
    forgetLoss();
  }

  /**
   * Raises the window for acknowledged packets. Doesn't raise a window that wasn't filled, since
   * its acknowledgements don't show that the path carries more.
   *
   * @param count number of packets newly acknowledged
   * @param inFlight number of packets in flight before this acknowledgement
   */
  public void acknowledged(int count, int inFlight) {
    if (packets >= limit || crowded || 2 * inFlight < packets) {
      return;
    }
    if (packets < threshold) {
      packets = Math.min(limit, packets + count);
      return;
    }
    /* The window grows by one train for each acknowledged window. */
    ackedSinceGrowth += count;
    if (ackedSinceGrowth >= packets) {
      ackedSinceGrowth = 0;
      packets = Math.min(limit, packets + smallest / 2);
    }
  }

  /**
   * Processes a measured round trip.
   *
   * @param waitedNs longest time that the packet or its answer may have waited in a socket
   */
  public void measured(long sentAtNs, long nowNs, long waitedNs) {
    long roundTripNs = nowNs - sentAtNs;
    shortestNs = Math.min(shortestNs, roundTripNs);
    long targetNs = Math.max(TARGET_NS, shortestNs);
    long inNetworkNs = roundTripNs - waitedNs;
    crowded = inNetworkNs - shortestNs > targetNs / 2;
    if (inNetworkNs - shortestNs <= targetNs) {
      forgetRounds();
      return;
    }
    if (sentAtNs - reducedAtNs < 0) {
      return; /* this packet was sent before the last reduction */
    }
    reducedAtNs = nowNs;
    forgetLoss();
    if (packets > least()) {
      double share = (double) (shortestNs + targetNs) / inNetworkNs;
      packets = Math.max(least(), (int) (packets * share));
      threshold = packets;
      ackedSinceGrowth = 0;
      return;
    }
    /* The window can't shrink further, so the path itself has become longer. */
    shortestAtSmallestNs = Math.min(shortestAtSmallestNs, inNetworkNs);
    if (++roundsAtSmallest == ROUNDS_AT_SMALLEST) {
      shortestNs = shortestAtSmallestNs;
      forgetRounds();
    }
  }

  private void forgetRounds() {
    roundsAtSmallest = 0;
    shortestAtSmallestNs = Long.MAX_VALUE;
  }

  private int least() {
    return Math.min(limit, smallest);
  }

  /** Reduces the window after a loss; at most once per round trip. */
  public void lost() {
    packetsBeforeLoss = packets;
    thresholdBeforeLoss = threshold;
    threshold = Math.max(least(), packets - packets / 4);
    packets = threshold;
  }

  /** Undoes the reduction after a loss that proved spurious (RFC 4015, step 9). */
  public void undoLoss() {
    threshold = Math.min(limit, Math.max(threshold, thresholdBeforeLoss));
    packets = Math.min(limit, Math.max(packets, packetsBeforeLoss));
    forgetLoss();
  }

  private void forgetLoss() {
    packetsBeforeLoss = 0;
    thresholdBeforeLoss = 0;
  }

  /** Resets to the smallest window, because not even a probe was answered for a whole timeout. */
  public void silent() {
    forgetLoss();
    threshold = Math.max(least(), packets / 2);
    packets = least();
  }
}
