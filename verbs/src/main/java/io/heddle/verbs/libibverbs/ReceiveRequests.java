package io.heddle.verbs.libibverbs;

import io.heddle.jextract.ibv_recv_wr;
import io.heddle.jextract.ibv_sge;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Array of linked ibv_recv_wr for receives without memory, and one ibv_recv_wr with a scatter entry
 * for receives into memory. Used by one posting thread.
 */
final class ReceiveRequests {
  private static final long WR_BYTES = ibv_recv_wr.sizeof();
  private static final long ID = ibv_recv_wr.wr_id$offset();
  private static final long NEXT = ibv_recv_wr.next$offset();
  private static final long SG_LIST = ibv_recv_wr.sg_list$offset();
  private static final long NUM_SGE = ibv_recv_wr.num_sge$offset();
  private static final long SGE_ADDRESS = ibv_sge.addr$offset();
  private static final long SGE_LENGTH = ibv_sge.length$offset();
  private static final long SGE_KEY = ibv_sge.lkey$offset();

  private final int capacity;
  private final long empty;
  private final long scattered;
  private final long scatter;
  private final long firstRefused;

  ReceiveRequests(Arena arena, int capacity) {
    this.capacity = capacity;
    empty = Memory.allocate(arena, WR_BYTES * capacity, 64);
    scattered = Memory.allocate(arena, WR_BYTES, 64);
    scatter = Memory.allocate(arena, ibv_sge.sizeof(), 64);
    firstRefused = Memory.allocate(arena, Long.BYTES, Long.BYTES);
    for (int i = 0; i < capacity; i++) {
      long wr = empty + WR_BYTES * i;
      Memory.ALL.set(Memory.NATIVE_LONG, wr + NEXT, wr + WR_BYTES);
    }
    Memory.ALL.set(Memory.NATIVE_LONG, scattered + SG_LIST, scatter);
    Memory.ALL.set(Memory.NATIVE_INT, scattered + NUM_SGE, 1);
  }

  /** Posts receives without memory; returns 0 or a negated errno. */
  int postEmpty(MemorySegment postReceive, long queuePair, long id, int count) {
    int left = count;
    while (left > 0) {
      int now = Math.min(left, capacity);
      for (int i = 0; i < now; i++) {
        Memory.ALL.set(Memory.NATIVE_LONG, empty + WR_BYTES * i + ID, id);
      }
      long last = empty + WR_BYTES * (now - 1);
      Memory.ALL.set(Memory.NATIVE_LONG, last + NEXT, 0L);
      int errno = DataPath.post(postReceive, queuePair, empty, firstRefused);
      Memory.ALL.set(Memory.NATIVE_LONG, last + NEXT, last + WR_BYTES);
      if (errno != 0) {
        return -errno;
      }
      left -= now;
    }
    return 0;
  }

  /** Posts one receive into memory; returns 0 or a negated errno. */
  int post(
      MemorySegment postReceive, long queuePair, long id, long address, int lengthBytes, int lkey) {
    Memory.ALL.set(Memory.NATIVE_LONG, scattered + ID, id);
    Memory.ALL.set(Memory.NATIVE_LONG, scatter + SGE_ADDRESS, address);
    Memory.ALL.set(Memory.NATIVE_INT, scatter + SGE_LENGTH, lengthBytes);
    Memory.ALL.set(Memory.NATIVE_INT, scatter + SGE_KEY, lkey);
    return -DataPath.post(postReceive, queuePair, scattered, firstRefused);
  }
}
