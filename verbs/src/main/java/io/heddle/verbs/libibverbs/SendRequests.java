package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_send_wr;
import io.heddle.jextract.ibv_sge;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.DatagramWorkRequest;
import io.heddle.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Array of linked ibv_send_wr, each with its own gather entry. It is refilled for every post, since
 * the provider copies accepted requests. Used by one posting thread.
 */
final class SendRequests {
  private static final long WR_BYTES = ibv_send_wr.sizeof();
  private static final long SGE_BYTES = ibv_sge.sizeof();
  private static final long ID = ibv_send_wr.wr_id$offset();
  private static final long NEXT = ibv_send_wr.next$offset();
  private static final long SG_LIST = ibv_send_wr.sg_list$offset();
  private static final long NUM_SGE = ibv_send_wr.num_sge$offset();
  private static final long OPCODE = ibv_send_wr.opcode$offset();
  private static final long FLAGS = ibv_send_wr.send_flags$offset();
  private static final long IMMEDIATE = ibv_send_wr.imm_data$offset();
  private static final long REMOTE_ADDRESS =
      ibv_send_wr.wr$offset() + ibv_send_wr.wr.rdma.remote_addr$offset();
  private static final long RKEY = ibv_send_wr.wr$offset() + ibv_send_wr.wr.rdma.rkey$offset();
  private static final long HANDLE = ibv_send_wr.wr$offset() + ibv_send_wr.wr.ud.ah$offset();
  private static final long REMOTE_NUMBER =
      ibv_send_wr.wr$offset() + ibv_send_wr.wr.ud.remote_qpn$offset();
  private static final long REMOTE_KEY =
      ibv_send_wr.wr$offset() + ibv_send_wr.wr.ud.remote_qkey$offset();
  private static final long SGE_ADDRESS = ibv_sge.addr$offset();
  private static final long SGE_LENGTH = ibv_sge.length$offset();
  private static final long SGE_KEY = ibv_sge.lkey$offset();
  private static final int SIGNALED = VerbsConstants.IBV_SEND_SIGNALED();
  private static final int INLINE = VerbsConstants.IBV_SEND_INLINE();
  private static final int SEND = VerbsConstants.IBV_WR_SEND();
  private static final int SEND_WITH_IMMEDIATE = VerbsConstants.IBV_WR_SEND_WITH_IMM();
  private static final int WRITE = VerbsConstants.IBV_WR_RDMA_WRITE();
  private static final int WRITE_WITH_IMMEDIATE = VerbsConstants.IBV_WR_RDMA_WRITE_WITH_IMM();
  private static final int READ = VerbsConstants.IBV_WR_RDMA_READ();

  private final int capacity;
  private final long requests;
  private final long gathers;
  private final long firstRefused;

  SendRequests(Arena arena, int capacity) {
    this.capacity = capacity;
    requests = Memory.allocate(arena, WR_BYTES * capacity, 64);
    gathers = Memory.allocate(arena, SGE_BYTES * capacity, 64);
    firstRefused = Memory.allocate(arena, Long.BYTES, Long.BYTES);
    for (int i = 0; i < capacity; i++) {
      long wr = requests + WR_BYTES * i;
      Memory.ALL.set(Memory.NATIVE_LONG, wr + NEXT, wr + WR_BYTES);
      Memory.ALL.set(Memory.NATIVE_LONG, wr + SG_LIST, gathers + SGE_BYTES * i);
    }
  }

  int capacity() {
    return capacity;
  }

  void set(int index, SendWorkRequest from) {
    long wr = requests + WR_BYTES * index;
    Memory.ALL.set(Memory.NATIVE_LONG, wr + REMOTE_ADDRESS, from.remoteAddress);
    Memory.ALL.set(Memory.NATIVE_INT, wr + RKEY, from.rkey);
    Memory.ALL.set(Memory.NATIVE_INT, wr + OPCODE, opcode(from.operation));
    head(wr, from.id, (from.signalled ? SIGNALED : 0) | (from.inline ? INLINE : 0), from.immediate);
    gather(index, from.localAddress, from.lengthBytes, from.lkey);
  }

  /**
   * @param handle address of the destination's ibv_ah
   */
  void set(int index, DatagramWorkRequest from, long handle) {
    long wr = requests + WR_BYTES * index;
    Memory.ALL.set(Memory.NATIVE_LONG, wr + HANDLE, handle);
    Memory.ALL.set(Memory.NATIVE_INT, wr + REMOTE_NUMBER, from.remoteQueuePairNumber);
    Memory.ALL.set(Memory.NATIVE_INT, wr + REMOTE_KEY, from.remoteQueueKey);
    Memory.ALL.set(Memory.NATIVE_INT, wr + OPCODE, from.hasImmediate ? SEND_WITH_IMMEDIATE : SEND);
    head(wr, from.id, from.signalled ? SIGNALED : 0, from.immediate);
    gather(index, from.localAddress, from.lengthBytes, from.lkey);
  }

  private static void head(long wr, long id, int flags, int immediate) {
    Memory.ALL.set(Memory.NATIVE_LONG, wr + ID, id);
    Memory.ALL.set(Memory.NATIVE_INT, wr + FLAGS, flags);
    Memory.ALL.set(Memory.NETWORK_INT, wr + IMMEDIATE, immediate);
  }

  private void gather(int index, long address, int lengthBytes, int lkey) {
    Memory.ALL.set(
        Memory.NATIVE_INT, requests + WR_BYTES * index + NUM_SGE, lengthBytes == 0 ? 0 : 1);
    long sge = gathers + SGE_BYTES * index;
    Memory.ALL.set(Memory.NATIVE_LONG, sge + SGE_ADDRESS, address);
    Memory.ALL.set(Memory.NATIVE_INT, sge + SGE_LENGTH, lengthBytes);
    Memory.ALL.set(Memory.NATIVE_INT, sge + SGE_KEY, lkey);
  }

  private static int opcode(SendWorkRequest.Operation operation) {
    return switch (operation) {
      case SEND -> SEND;
      case SEND_WITH_IMMEDIATE -> SEND_WITH_IMMEDIATE;
      case RDMA_WRITE -> WRITE;
      case RDMA_WRITE_WITH_IMMEDIATE -> WRITE_WITH_IMMEDIATE;
      case RDMA_READ -> READ;
    };
  }

  /**
   * Posts the first {@code count} requests.
   *
   * @return number of requests accepted, or a negated errno if none was accepted although the queue
   *     had room
   */
  int post(MemorySegment postSend, long queuePair, int count) {
    long last = requests + WR_BYTES * (count - 1);
    Memory.ALL.set(Memory.NATIVE_LONG, last + NEXT, 0L);
    Memory.ALL.set(Memory.NATIVE_LONG, firstRefused, requests);
    int errno = DataPath.post(postSend, queuePair, requests, firstRefused);
    Memory.ALL.set(Memory.NATIVE_LONG, last + NEXT, last + WR_BYTES);
    if (errno == 0) {
      return count;
    }
    long refused = Memory.ALL.get(Memory.NATIVE_LONG, firstRefused);
    int taken = (int) ((refused - requests) / WR_BYTES);
    return taken > 0 || errno == Errno.ENOMEM ? taken : -errno;
  }
}
