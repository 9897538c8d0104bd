package io.heddle.transport.data;

import io.heddle.spray.PlaneWeights;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Table of an initiator's puts, or gets, in flight, by slot. Owned by the holder of the {@link
 * Baton}.
 */
final class OperationsInFlight {
  private static final int SLOTS = OperationRecord.SLOTS;

  final SentChunks chunks;
  private final @Nullable OneSidedOperation[] operation = new OneSidedOperation[SLOTS];
  private final long[] number = new long[SLOTS];
  private final PlaneWeights[] cutBy = new PlaneWeights[SLOTS];
  private int count;

  /**
   * @param planes as in {@link SentChunks}
   * @param carriers as in {@link SentChunks}, for {@link OperationRecord#SLOTS} operations
   */
  OperationsInFlight(int planes, long carriers) {
    chunks = new SentChunks(planes, carriers);
    chunks.makeRoom(SLOTS);
  }

  boolean isFree(int slot) {
    return operation[slot] == null;
  }

  boolean isEmpty() {
    return count == 0;
  }

  /** Returns the operation in this slot, which must be in use. */
  OneSidedOperation at(int slot) {
    OneSidedOperation found = operation[slot];
    if (found == null) {
      throw new IllegalStateException("no operation is in flight in slot " + slot);
    }
    return found;
  }

  long number(int slot) {
    return number[slot];
  }

  /** Returns the weights by which the operation in this slot was cut. */
  PlaneWeights cutBy(int slot) {
    return cutBy[slot];
  }

  /** Begins an operation in a free slot: all its chunks are to be posted. */
  void begin(
      int slot, long numbered, OneSidedOperation begun, PlaneWeights weights, int chunkCount) {
    operation[slot] = begun;
    number[slot] = numbered;
    cutBy[slot] = weights;
    count++;
    int generation = OperationRecord.generation(numbered);
    chunks.begin(slot, numbered, Immediate.encode(slot, generation, 0, 0, chunkCount), chunkCount);
  }

  /** Ends an operation and frees its slot. */
  void end(int slot) {
    operation[slot] = null;
    count--;
  }

  /** Returns whether some operation isn't done although all its chunks are posted. */
  boolean isAnyPosted() {
    for (int slot = 0; slot < SLOTS; slot++) {
      if (!isFree(slot) && chunks.toPost(slot) == 0) {
        return true;
      }
    }
    return false;
  }

  /** Returns the slots that have chunks to be posted, in the order in which they began. */
  List<Integer> unposted() {
    List<Integer> found = new ArrayList<>();
    for (int slot = 0; slot < SLOTS; slot++) {
      if (!isFree(slot) && chunks.toPost(slot) != 0) {
        found.add(slot);
      }
    }
    found.sort(Comparator.comparingLong(this::number));
    return found;
  }
}
