package io.heddle.roce.transport.window;

/**
 * Detector of paths that lose trains. A train is one datagram that the kernel or the NIC segments
 * into packets. A faulty hop may drop every long train but pass the same packets one by one, and
 * count no drop. The evidence is several rounds in which trains were lost whole while the link
 * answered, and no train of equal length arrived. Then packets are sent singly. After pauses that
 * double, one train is sent as a trial. Used under the progress lock.
 *
 * <p>A round begins with the loss of a train sent after the previous round. It ends with an answer
 * to something sent on the link after that train. So a burst lost by a full socket or queue is one
 * round, however many trains it has.
 */
public final class TrainPath {
  /** Number of rounds without an arriving train after which packets are sent singly. */
  static final int ROUNDS = 6;

  /**
   * Minimum time from the first round to the last: longer than a peer's thread waits for a core.
   */
  static final long LEAST_NS = 100_000_000;

  static final long FIRST_PAUSE_NS = 1_000_000_000;
  static final long LONGEST_PAUSE_NS = 32_000_000_000L;

  private static final long NONE = -1;

  private boolean isSinglePackets;
  private int rounds;
  private boolean open;
  private long firstAtNs;
  private long lostSentAtNs;
  private long endedAtNs;
  private int shortestLost;
  private long pauseNs;
  private long trialAtNs;
  private long trialSlot;

  public void start(long nowNs) {
    isSinglePackets = false;
    endedAtNs = nowNs;
    pauseNs = FIRST_PAUSE_NS;
    trialSlot = NONE;
    forget();
  }

  private void forget() {
    rounds = 0;
    open = false;
    shortestLost = Integer.MAX_VALUE;
  }

  /** Returns whether packets are sent singly. */
  public boolean sendsSinglePackets() {
    return isSinglePackets;
  }

  /** Returns whether retransmissions are sent singly, since the path may lose trains. */
  public boolean isInDoubt() {
    return isSinglePackets || rounds > 0;
  }

  /** Returns whether this slot's packets are sent as a train, as the next trial. */
  public boolean beginTrial(long slot, int bytes, long nowNs) {
    if (trialSlot != NONE || nowNs - trialAtNs < 0 || bytes < shortestLost) {
      return false;
    }
    trialSlot = slot;
    return true;
  }

  /**
   * Records that all packets of a train were lost.
   *
   * @param sentAtNs send time of the train
   */
  public void lost(long slot, int bytes, long sentAtNs, long nowNs) {
    if (isSinglePackets) {
      endTrial(slot, nowNs);
    } else if (!open && sentAtNs - endedAtNs >= 0) {
      open = true;
      lostSentAtNs = sentAtNs;
      firstAtNs = rounds == 0 ? nowNs : firstAtNs;
      shortestLost = Math.min(shortestLost, bytes);
    }
  }

  private void endTrial(long slot, long nowNs) {
    if (slot == trialSlot) {
      trialSlot = NONE;
      pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
      trialAtNs = nowNs + pauseNs;
    }
  }

  /**
   * Records an answer to something sent on the link.
   *
   * @return whether packets are sent singly from now on
   */
  public boolean answered(long sentAtNs, long nowNs) {
    if (!open || sentAtNs - lostSentAtNs <= 0) {
      return false;
    }
    open = false;
    endedAtNs = nowNs;
    rounds++;
    if (rounds < ROUNDS || nowNs - firstAtNs < LEAST_NS) {
      return false;
    }
    isSinglePackets = true;
    trialSlot = NONE;
    trialAtNs = nowNs + pauseNs;
    return true;
  }

  /** Records a train that arrived whole at the first transmission. */
  public void carried(long slot, int bytes) {
    if (isSinglePackets && slot == trialSlot) {
      isSinglePackets = false;
      pauseNs = FIRST_PAUSE_NS;
      trialSlot = NONE;
      forget();
    } else if (!isSinglePackets && bytes >= shortestLost) {
      forget();
    }
  }

  /** Ends the trial if it uses this slot, because the slot is freed. */
  public void removed(long slot, long nowNs) {
    endTrial(slot, nowNs);
  }
}
