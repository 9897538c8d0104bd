package io.heddle.transport.onesided;

import java.util.Arrays;

/**
 * Order of one peer's one-sided operations, which are numbered separately in each of NCCL's
 * contexts. Owned by the holder of the {@link io.heddle.transport.data.Baton}.
 */
final class ContextOrder {
  /** Maximum number of contexts over a group's lifetime. */
  static final int MOST_CONTEXTS = 1 << 16;

  private long[] next = new long[16];
  private int[] waiting = new int[16];

  /** Returns the number of this context's next operation. */
  long next(int context) {
    return context < next.length ? next[context] : 0;
  }

  /** Advances past the next operation, and returns its number. */
  long takeNext(int context) {
    makeRoom(context);
    return next[context]++;
  }

  /** Returns the number of complete operations that wait for earlier ones. */
  int waiting(int context) {
    return context < waiting.length ? waiting[context] : 0;
  }

  /** Changes the number of waiting operations. */
  void addWaiting(int context, int more) {
    makeRoom(context);
    waiting[context] += more;
  }

  private void makeRoom(int context) {
    if (context >= next.length) {
      int room = Integer.highestOneBit(context) << 1;
      next = Arrays.copyOf(next, room);
      waiting = Arrays.copyOf(waiting, room);
    }
  }
}
