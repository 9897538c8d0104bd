package io.heddle.roce.transport.window;

/**
 * Judge of whether the path of a link carries trains of packets, which leave as one datagram that
 * the kernel or the card cuts. A fault behind may lose every long one and carry the same packets
 * singly, and no counter says so. Trains that are lost whole while the link answers, round after
 * round, and none as long that arrives, are the evidence. Then packets go singly, and after pauses
 * that double one train is sent as a trial. Under the progress lock.
 *
 * <p>A round begins with the loss of a train that was sent after the last round had ended. It ends
 * with an answer to something that was sent by the link after that train. So one burst that a full
 * socket or queue loses is one round, however many trains it has.
 */
public final class TrainPath {
  /** Rounds without a train that arrives. */
  static final int ROUNDS = 6;

  /**
   * From the first of them to the last, at the least: longer than a peer's thread waits for a core.
   */
  static final long LEAST_NS = 100_000_000;

  static final long FIRST_PAUSE_NS = 1_000_000_000;
  static final long LONGEST_PAUSE_NS = 32_000_000_000L;

  private static final long NONE = -1;

  private boolean singly;
  private int rounds;
  private boolean open;
  private long firstAtNs;
  private long lostSentAtNs;
  private long endedAtNs;
  private int shortestLost;
  private long pauseNs;
  private long trialAtNs;
  private long trial;

  public void start(long nowNs) {
    singly = false;
    endedAtNs = nowNs;
    pauseNs = FIRST_PAUSE_NS;
    trial = NONE;
    forget();
  }

  private void forget() {
    rounds = 0;
    open = false;
    shortestLost = Integer.MAX_VALUE;
  }

  /** Whether packets go singly by it. */
  public boolean isSingly() {
    return singly;
  }

  /** Whether what is sent again goes singly: it may be a train that the path loses. */
  public boolean isInDoubt() {
    return singly || rounds > 0;
  }

  /** Whether this slot's packets are to go as a train though others go singly: the next trial. */
  public boolean tries(long slot, int bytes, long nowNs) {
    if (trial != NONE || nowNs - trialAtNs < 0 || bytes < shortestLost) {
      return false;
    }
    trial = slot;
    return true;
  }

  /**
   * All packets of a train have to be sent again.
   *
   * @param sentAtNs when the train had left
   */
  public void lost(long slot, int bytes, long sentAtNs, long nowNs) {
    if (singly) {
      endTrial(slot, nowNs);
    } else if (!open && sentAtNs - endedAtNs >= 0) {
      open = true;
      lostSentAtNs = sentAtNs;
      firstAtNs = rounds == 0 ? nowNs : firstAtNs;
      shortestLost = Math.min(shortestLost, bytes);
    }
  }

  private void endTrial(long slot, long nowNs) {
    if (slot == trial) {
      trial = NONE;
      pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
      trialAtNs = nowNs + pauseNs;
    }
  }

  /**
   * Something that was sent by the link has been answered.
   *
   * @return whether packets go singly from now on
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
    singly = true;
    trial = NONE;
    trialAtNs = nowNs + pauseNs;
    return true;
  }

  /** All of a train has arrived at the first attempt. */
  public void carried(long slot, int bytes) {
    if (singly && slot == trial) {
      singly = false;
      pauseNs = FIRST_PAUSE_NS;
      trial = NONE;
      forget();
    } else if (!singly && bytes >= shortestLost) {
      forget();
    }
  }

  /** The slot is free again: what its trial showed is known. */
  public void removed(long slot, long nowNs) {
    endTrial(slot, nowNs);
  }
}
