package io.heddle.roce.transport.window;

/**
 * How many packets a requester may have under way: slow start, a quarter less after a loss, and
 * never so many that they only stand in a queue. Under the progress lock.
 *
 * <p>A window that a fast link needs would fill the queue in front of a slow one with a third of a
 * second. So each measured round trip is held against the shortest one: what it took longer was
 * spent in queues of the network, or in a socket until its reader had a core. The latter says
 * nothing about the path and, where processes share cores, is the larger part by far; both ends
 * know when they last found their socket empty, and what a packet may have waited since then is
 * subtracted. What is left above the target makes the window smaller in proportion, once a round
 * trip.
 */
public final class SendWindow {
  /** Packets that a train at the path MTU of 4096 has, and one. */
  private static final int USUAL_TRAIN = 16;

  /** Queueing that is welcome: it keeps the link busy while an end is away from its core. */
  static final long TARGET_NS = 5_000_000;

  private static final int FIRST = 4;
  private static final int ROUNDS_AT_SMALLEST = 8;

  private int smallest = smallest(USUAL_TRAIN);
  private int limit = smallest;
  private int packets = smallest;
  private int threshold = smallest;
  private int ackedSinceGrowth;
  private boolean crowded;
  /* What a loss has taken away, until the window has shrunk for another reason. */
  private int packetsBeforeLoss;
  private int thresholdBeforeLoss;

  private long shortestNs;
  private long reducedAtNs;
  /* The shortest round trip while the smallest window was still too large, and for how many rounds. */
  private long shortestAtSmallestNs;
  private int roundsAtSmallest;

  /**
   * The smallest window that is of use: two full trains, so that one is under way while the next is
   * built.
   *
   * @param trainPackets that a full train has, without a closing one
   */
  public static int smallest(int trainPackets) {
    return 2 * Math.min(trainPackets + 1, USUAL_TRAIN);
  }

  /** Starts anew with at most {@code most} packets under way, and {@code least} if need be. */
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

  /** The smallest window that is of use. */
  public int smallest() {
    return smallest;
  }

  /** Packets are wider or narrower from now on: as many bytes, in other bounds. */
  public void refit(int most, int least) {
    threshold = threshold >= limit ? most : Math.min(most, threshold * least / smallest);
    packets = Math.clamp((long) packets * least / smallest, Math.min(most, least), most);
    limit = most;
    smallest = least;
    ackedSinceGrowth = 0;
    forgetLoss();
  }

  /**
   * @param inFlight packets that were under way before these came through: a window that nobody
   *     fills says nothing about the path, and isn't raised
   */
  public void acknowledged(int count, int inFlight) {
    if (packets >= limit || crowded || 2 * inFlight < packets) {
      return;
    }
    if (packets < threshold) {
      packets = Math.min(limit, packets + count);
      return;
    }
    /* One train more for each window that came through. */
    ackedSinceGrowth += count;
    if (ackedSinceGrowth >= packets) {
      ackedSinceGrowth = 0;
      packets = Math.min(limit, packets + smallest / 2);
    }
  }

  /**
   * A measured round trip.
   *
   * @param waitedNs how much of it the packet or its answer may have lain in a socket at most
   */
  public void measured(long sentAtNs, long nowNs, long waitedNs) {
    long roundTripNs = nowNs - sentAtNs;
    shortestNs = Math.min(shortestNs, roundTripNs);
    long targetNs = Math.max(TARGET_NS, shortestNs);
    long onTheWayNs = roundTripNs - waitedNs;
    crowded = onTheWayNs - shortestNs > targetNs / 2;
    if (onTheWayNs - shortestNs <= targetNs) {
      forgetRounds();
      return;
    }
    if (sentAtNs - reducedAtNs < 0) {
      return; /* it met the queue of the window as it was */
    }
    reducedAtNs = nowNs;
    forgetLoss();
    if (packets > least()) {
      double share = (double) (shortestNs + targetNs) / onTheWayNs;
      packets = Math.max(least(), (int) (packets * share));
      threshold = packets;
      ackedSinceGrowth = 0;
      return;
    }
    /* Less isn't possible, so the path itself must have become longer. */
    shortestAtSmallestNs = Math.min(shortestAtSmallestNs, onTheWayNs);
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

  /** A loss, at most once a round trip. */
  public void lost() {
    packetsBeforeLoss = packets;
    thresholdBeforeLoss = threshold;
    threshold = Math.max(least(), packets - packets / 4);
    packets = threshold;
  }

  /** What the last loss was told of wasn't lost (RFC 4015, step 9). */
  public void undoLoss() {
    threshold = Math.min(limit, Math.max(threshold, thresholdBeforeLoss));
    packets = Math.min(limit, Math.max(packets, packetsBeforeLoss));
    forgetLoss();
  }

  private void forgetLoss() {
    packetsBeforeLoss = 0;
    thresholdBeforeLoss = 0;
  }

  /** Not even a question was answered for a whole timeout. */
  public void silent() {
    forgetLoss();
    threshold = Math.max(least(), packets / 2);
    packets = least();
  }
}
