package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.Memory;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.onesided.OneSidedGroup;
import io.heddle.transport.onesided.OneSidedListener;
import io.heddle.transport.onesided.OneSidedOperation;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongConsumer;

/** Group of ranks in one process, on both transports alternately, driven by the test's thread. */
final class OneSidedRanks implements AutoCloseable {
  private static final int RELEASED = 2;
  private static final int DONE = 1;

  final Ends ends;
  final List<OneSidedGroup> groups = new ArrayList<>();

  /**
   * Address of each rank's memory, which is registration 0 and has the same length on all ranks.
   */
  final List<Long> memory = new ArrayList<>();

  private final List<OneSidedListener> listeners = new ArrayList<>();
  private final Set<Integer> closed = new HashSet<>();

  OneSidedRanks(Ends ends, int ranks, long bytes, Arena arena) {
    this(ends, ranks, bytes, arena, handle -> {});
  }

  /** Makes ranks with device memory. */
  static OneSidedRanks onDevices(Ends ends, int ranks, long bytes, Arena arena) {
    return new OneSidedRanks(ends, ranks, bytes, arena, handle -> {}, true);
  }

  /**
   * @param before action that gets the address of the last rank's handle, and may change the handle
   *     before the ranks use it
   */
  OneSidedRanks(Ends ends, int ranks, long bytes, Arena arena, LongConsumer before) {
    this(ends, ranks, bytes, arena, before, false);
  }

  private OneSidedRanks(
      Ends ends, int ranks, long bytes, Arena arena, LongConsumer before, boolean onDevices) {
    this.ends = ends;
    byte[][] handles = new byte[ranks][];
    for (int rank = 0; rank < ranks; rank++) {
      long handle = Memory.allocate(arena, ConnectionHandle.BYTES, 8);
      listeners.add(transport(rank).listenOneSided(0, handle));
      if (rank == ranks - 1) {
        before.accept(handle);
      }
      handles[rank] = Memory.toArray(handle, ConnectionHandle.BYTES);
    }
    for (int rank = 0; rank < ranks; rank++) {
      OneSidedGroup group = listeners.get(rank).connect(handles, rank);
      listeners.get(rank).close();
      groups.add(group);
      assertEquals(0, group.createContexts(64, -1));
      memory.add(Memory.allocate(arena, bytes, 64));
      long own = memory.get(rank);
      assertEquals(
          0, onDevices ? group.registerDmaBuf(own, bytes, 2, 0, 0) : group.register(own, bytes, 1));
    }
  }

  private Transport transport(int rank) {
    return rank % 2 == 0 ? ends.left : ends.right;
  }

  static OneSidedOperation put(long length, long offset) {
    OneSidedOperation operation = new OneSidedOperation();
    operation.lengthBytes = length;
    operation.registration = 0;
    operation.offset = offset;
    return operation;
  }

  static OneSidedOperation signal(
      OneSidedOperation operation, OneSidedOperation.Signal how, long offset, long addend) {
    operation.signal = how;
    operation.signalRegistration = 0;
    operation.signalOffset = offset;
    operation.addend = addend;
    return operation;
  }

  long start(int from, int to, long localOffset, OneSidedOperation operation) {
    long request = groups.get(from).start(to, 0, localOffset, operation);
    assertTrue(request > 0, () -> "started with " + request + ": " + ends.log);
    return request;
  }

  void progress() {
    for (int rank = 0; rank < groups.size(); rank++) {
      if (!closed.contains(rank)) {
        assertEquals(0, groups.get(rank).progress(), ends.log::toString);
      }
    }
  }

  /** Closes this rank before the others and stops driving it. */
  void close(int rank) {
    closed.add(rank);
    groups.get(rank).close();
  }

  /** Drives all ranks until the request is done, and releases it. */
  void finish(long request) {
    Ends.await(
        "end of a one-sided request",
        () -> {
          progress();
          int state = Memory.getIntAcquire(request);
          assertTrue(state >= 0, () -> "failed with " + -state + ": " + ends.log);
          return state == DONE;
        });
    Memory.setIntRelease(request, RELEASED);
  }

  long word(int rank, long offset) {
    return Memory.getLongAcquire(memory.get(rank) + offset);
  }

  void awaitWord(int rank, long offset, long value) {
    Ends.await(
        "signal",
        () -> {
          progress();
          return word(rank, offset) == value;
        });
  }

  @Override
  public void close() {
    groups.forEach(OneSidedGroup::close);
  }
}
