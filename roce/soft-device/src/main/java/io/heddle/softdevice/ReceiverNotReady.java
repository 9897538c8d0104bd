package io.heddle.softdevice;

/**
 * What a requester does about a responder that has no receive posted: it waits as long as that one
 * asks for, as often as its user allows. Under the progress lock.
 */
final class ReceiverNotReady {
  /** The user's word for "as often as you like". */
  private static final int UNLIMITED = 7;

  private final Pause pause = new Pause();
  private int limit;
  private int count;

  void start(int retries) {
    limit = retries;
    count = 0;
    pause.end();
  }

  boolean isWaiting() {
    return pause.isRunning();
  }

  long dueNs() {
    return pause.dueNs();
  }

  /** The responder said so. Returns whether the user's limit allows another wait. */
  boolean mayWait() {
    return limit == UNLIMITED || ++count <= limit;
  }

  void waitUntil(long overNs) {
    pause.begin(overNs);
  }

  boolean isOver(long nowNs) {
    return pause.endIfDue(nowNs);
  }

  /** Something was acknowledged: the count begins anew. */
  void news() {
    count = 0;
  }

  void stop() {
    pause.end();
  }
}
