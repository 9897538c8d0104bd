package io.heddle.softdevice;

/** A time until which something isn't tried again. Under the progress lock. */
final class Pause {
  /** How long a full socket is left alone. */
  static final long FULL_SOCKET_NS = 50_000;

  private long untilNs = Requester.NEVER_NS;

  boolean isRunning() {
    return untilNs != Requester.NEVER_NS;
  }

  /** When it is over; {@link Requester#NEVER_NS} while there is none. */
  long dueNs() {
    return untilNs;
  }

  void begin(long overNs) {
    untilNs = overNs;
  }

  void end() {
    untilNs = Requester.NEVER_NS;
  }

  /** Ends it where its time has come, and says whether it has. */
  boolean endIfDue(long nowNs) {
    boolean due = isRunning() && nowNs - untilNs >= 0;
    if (due) {
      end();
    }
    return due;
  }
}
