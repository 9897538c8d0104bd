package io.heddle.routes;

import io.heddle.platform.Memory;
import java.lang.invoke.VarHandle;

/**
 * Sequence lock in one aligned 64-bit word of shared memory. The word is odd while the only writer
 * changes the guarded data.
 *
 * <p>Memory order. The writer's odd store is ordered before its changes by a store-store fence, and
 * its changes before the even store by release. A reader's acquire load of an even value comes
 * before its plain loads, and an acquire fence orders the plain loads before its second load of the
 * word. A reader that has seen any change therefore finds another value the second time. jcstress
 * searches for counter-examples in {@code SequenceLockStress}.
 */
final class SequenceLock {
  private SequenceLock() {}

  /** Begins a change; called by the only writer. */
  static void beginWrite(long address) {
    long even = Memory.ALL.get(Memory.NATIVE_LONG, address);
    Memory.setLongRelease(address, even + 1);
    VarHandle.storeStoreFence(); // pairs with the fence of isUnchanged
  }

  /** Ends the change; called by the only writer. */
  static void endWrite(long address) {
    long odd = Memory.ALL.get(Memory.NATIVE_LONG, address);
    Memory.setLongRelease(address, odd + 1); // pairs with the acquire of beginRead
  }

  /** Returns the word. While it is odd, the guarded data must not be read. */
  static long beginRead(long address) {
    return Memory.getLongAcquire(address);
  }

  static boolean isBeingChanged(long sequence) {
    return (sequence & 1) != 0;
  }

  /**
   * Returns whether the reads since {@link #beginRead}, which returned {@code sequence}, are
   * consistent.
   */
  static boolean isUnchanged(long address, long sequence) {
    VarHandle.acquireFence();
    return Memory.getLongAcquire(address) == sequence;
  }
}
