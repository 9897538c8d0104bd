package io.heddle.roce.transport;

/** Pause before a retry. Used under the progress lock. */
public final class Pause {
  /** Time that is never due; safe for comparison by subtraction. */
  public static final long NEVER_NS = Long.MAX_VALUE / 2;

  /** Length of the pause after a send that failed because the socket was full. */
  public static final long FULL_SOCKET_NS = 50_000;

  private long untilNs = NEVER_NS;

  public boolean isRunning() {
    return untilNs != NEVER_NS;
  }

  /** Returns the end of the pause; {@link #NEVER_NS} while there is none. */
  public long dueNs() {
    return untilNs;
  }

  public void begin(long overNs) {
    untilNs = overNs;
  }

  public void end() {
    untilNs = NEVER_NS;
  }

  /** Ends the pause if its end is due. Returns whether it was due. */
  public boolean endIfDue(long nowNs) {
    boolean due = isRunning() && nowNs - untilNs >= 0;
    if (due) {
      end();
    }
    return due;
  }
}
