package io.heddle.transport.data;

import java.util.Arrays;

/**
 * Which operation of each context is the next in order, of one peer. Owned by whoever has the
 * {@link Baton}.
 */
public final class ContextOrder {
  /** Contexts that a group may ever have had. */
  public static final int MOST_CONTEXTS = 1 << 16;

  private long[] next = new long[16];
  private int[] waiting = new int[16];

  /** Number of the next one of this context. */
  long next(int context) {
    return context < next.length ? next[context] : 0;
  }

  /** The next one's turn is over. Returns its number. */
  long pass(int context) {
    makeRoom(context);
    return next[context]++;
  }

  /** How many that are whole wait for their turn. */
  int waiting(int context) {
    return context < waiting.length ? waiting[context] : 0;
  }

  /** One more waits, or one less. */
  void wait(int context, int more) {
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
