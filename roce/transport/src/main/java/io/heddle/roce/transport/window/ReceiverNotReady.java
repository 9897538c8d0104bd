package io.heddle.roce.transport.window;

import io.heddle.roce.transport.Pause;

/**
 * What a requester does about a responder that has no receive posted: it waits as long as that one
 * asks for, as often as its user allows. Under the progress lock.
 */
public final class ReceiverNotReady {
  /** The user's word for "as often as you like". */
  private static final int UNLIMITED = 7;

  private final Pause pause = new Pause();
  private int limit;
  private int count;

  public void start(int retries) {
    limit = retries;
    count = 0;
    pause.end();
  }

  public boolean isWaiting() {
    return pause.isRunning();
  }

  public long dueNs() {
    return pause.dueNs();
  }

  /** The responder said so. Returns whether the user's limit allows another wait. */
  public boolean mayWait() {
    return limit == UNLIMITED || ++count <= limit;
  }

  public void waitUntil(long overNs) {
    pause.begin(overNs);
  }

  public boolean isOver(long nowNs) {
    return pause.endIfDue(nowNs);
  }

  /** Something was acknowledged: the count begins anew. */
  public void news() {
    count = 0;
  }

  public void stop() {
    pause.end();
  }
}
