package io.heddle.roce.transport;

/** A time until which something isn't tried again. Under the progress lock. */
public final class Pause {
  /** Never due. Far enough away for compare by subtraction. */
  public static final long NEVER_NS = Long.MAX_VALUE / 2;

  /** How long a full socket is left alone. */
  public static final long FULL_SOCKET_NS = 50_000;

  private long untilNs = NEVER_NS;

  public boolean isRunning() {
    return untilNs != NEVER_NS;
  }

  /** When it is over; {@link #NEVER_NS} while there is none. */
  public long dueNs() {
    return untilNs;
  }

  public void begin(long overNs) {
    untilNs = overNs;
  }

  public void end() {
    untilNs = NEVER_NS;
  }

  /** Ends it where its time has come, and says whether it has. */
  public boolean endIfDue(long nowNs) {
    boolean due = isRunning() && nowNs - untilNs >= 0;
    if (due) {
      end();
    }
    return due;
  }
}
