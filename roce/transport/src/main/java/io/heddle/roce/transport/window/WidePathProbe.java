package io.heddle.roce.transport.window;

/**
 * Whether the way of a link is known to carry packets wider than RoCEv2's, where both ends have
 * agreed on them. Nobody tells of a switch in between that takes less: it drops them. So the way is
 * asked, by a packet of that size that carries nothing, and until the answer writes are cut by the
 * path MTU. It is asked again after pauses that double, since a question may be lost by chance, and
 * at once where wide packets stop coming through: routes change. Under the progress lock.
 */
public final class WidePathProbe {
  static final long FIRST_PAUSE_NS = 10_000_000;
  static final long LONGEST_PAUSE_NS = 4_000_000_000L;

  /**
   * Questions in vain that are no chance any more; the last of them is 0.3 s after the first. A
   * question is in vain when something that was sent after it has been answered and it has not: a
   * peer that waits for its core answers none.
   */
  public static final int TELLING = 6;

  /* Trains in a row of which some packet was lost: as many by chance are rare, and cost a question. */
  private static final int MOST_LOST = 4;

  private boolean agreed;
  private boolean passes;
  private int lost;
  private int inVain;
  private boolean isOpen;
  private long askedAtNs;
  private long pauseNs;
  private long askAtNs;
  private long answeredAtNs;

  public void start(boolean isAgreed, long nowNs) {
    agreed = isAgreed;
    passes = false;
    inVain = 0;
    isOpen = false;
    pauseNs = FIRST_PAUSE_NS;
    askAtNs = nowNs;
    answeredAtNs = nowNs;
  }

  /** Whether wide packets may go by it. */
  public boolean passes() {
    return passes;
  }

  public boolean isProbeDue(long nowNs) {
    return agreed && !passes && nowNs - askAtNs >= 0;
  }

  /**
   * A question is due.
   *
   * @param leaves whether it does: nothing is known yet that stands against it
   */
  public void asked(boolean leaves, long nowNs) {
    askAtNs = nowNs + pauseNs;
    pauseNs = Math.min(2 * pauseNs, LONGEST_PAUSE_NS);
    askedAtNs = nowNs;
    isOpen = leaves;
  }

  /**
   * Something that was sent then by the link has been answered.
   *
   * @return whether with that {@link #TELLING} questions in a row have been in vain
   */
  public boolean overtaken(long sentAtNs) {
    if (!isOpen || sentAtNs - askedAtNs <= 0) {
      return false;
    }
    isOpen = false;
    return ++inVain == TELLING;
  }

  public void answered(long nowNs) {
    passes = true;
    lost = 0;
    inVain = 0;
    isOpen = false;
    answeredAtNs = nowNs;
  }

  /** All of a wide train has arrived at the first attempt. */
  public void carried() {
    lost = 0;
  }

  /**
   * Some of a wide train has to be sent again.
   *
   * @return whether that puts the way in doubt
   */
  public boolean lost(long nowNs) {
    if (!passes || ++lost < MOST_LOST) {
      return false;
    }
    passes = false;
    if (nowNs - answeredAtNs > LONGEST_PAUSE_NS) {
      pauseNs = FIRST_PAUSE_NS;
      askAtNs = nowNs;
    } else {
      askAtNs = nowNs + pauseNs; /* it answers, and carries nothing */
    }
    return true;
  }
}
