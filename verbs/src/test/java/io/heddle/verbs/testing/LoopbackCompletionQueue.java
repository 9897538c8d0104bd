package io.heddle.verbs.testing;

import io.heddle.platform.Errno;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;

/** Ring of completions; an overrun is permanent, as in hardware. */
final class LoopbackCompletionQueue extends LoopbackProvider.Owned implements CompletionQueue {
  private final LoopbackProvider.Context context;
  private final WorkCompletion[] ring;
  private long head;
  private long tail;
  private boolean overrun;
  private int users;

  LoopbackCompletionQueue(LoopbackProvider.Context context, int capacity) {
    super(context.ledger(), context);
    this.context = context;
    this.ring = WorkCompletion.batch(capacity);
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  /**
   * Adds a completion with this id and status, and returns it for the caller to fill; null if the
   * queue is full. The caller holds the fabric's monitor.
   */
  WorkCompletion push(long id, WorkCompletion.Status status) {
    if (tail - head == ring.length) {
      overrun = true;
      return null;
    }
    WorkCompletion wc = ring[(int) (tail++ % ring.length)];
    wc.workRequestId = id;
    wc.status = status;
    wc.lengthBytes = 0;
    wc.hasImmediate = false;
    return wc;
  }

  @Override
  public int poll(WorkCompletion[] completions) {
    synchronized (context.fabric()) {
      int count = 0;
      while (count < completions.length && head != tail) {
        WorkCompletion from = ring[(int) (head++ % ring.length)];
        WorkCompletion to = completions[count++];
        to.workRequestId = from.workRequestId;
        to.status = from.status;
        to.kind = from.kind;
        to.lengthBytes = from.lengthBytes;
        to.hasImmediate = from.hasImmediate;
        to.immediate = from.immediate;
      }
      return count == 0 && overrun ? -Errno.ENOSPC : count;
    }
  }

  void attach() {
    users++;
  }

  void detach() {
    users--;
  }

  @Override
  public void close() {
    synchronized (context.fabric()) {
      if (users > 0) {
        throw new VerbsException("destroy_cq", users + " uses by queue pairs", Errno.EBUSY);
      }
    }
    super.close();
  }

  @Override
  void release() {}
}
