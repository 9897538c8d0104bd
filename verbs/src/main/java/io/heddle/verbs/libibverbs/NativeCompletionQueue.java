package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_wc;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A completion queue of a libibverbs device. One polling thread. */
final class NativeCompletionQueue implements CompletionQueue {
  private static final int BATCH = 64;
  private static final long WC_BYTES = ibv_wc.sizeof();
  private static final long ID = ibv_wc.wr_id$offset();
  private static final long STATUS = ibv_wc.status$offset();
  private static final long OPCODE = ibv_wc.opcode$offset();
  private static final long LENGTH = ibv_wc.byte_len$offset();
  private static final long IMMEDIATE = ibv_wc.imm_data$offset();
  private static final long QP_NUMBER = ibv_wc.qp_num$offset();
  private static final long SOURCE = ibv_wc.src_qp$offset();
  private static final long FLAGS = ibv_wc.wc_flags$offset();
  private static final int WITH_IMMEDIATE = VerbsConstants.IBV_WC_WITH_IMM();
  private static final int WRITE = VerbsConstants.IBV_WC_RDMA_WRITE();
  private static final int READ = VerbsConstants.IBV_WC_RDMA_READ();
  private static final int RECEIVE = VerbsConstants.IBV_WC_RECV();
  private static final int RECEIVE_WITH_IMMEDIATE = VerbsConstants.IBV_WC_RECV_RDMA_WITH_IMM();

  private final NativeContext context;
  private final long address;
  private final MemorySegment poll;
  private final Arena arena = Arena.ofShared();
  private final long completions = Memory.allocate(arena, WC_BYTES * BATCH, 64);
  private volatile boolean closed;
  private int users; /* work queues attached; under this object's monitor */

  NativeCompletionQueue(NativeContext context, long address) {
    this.context = context;
    this.address = address;
    poll = DataPath.pollOf(context.address());
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  @Override
  public int poll(WorkCompletion[] into) {
    if (closed) {
      return -Errno.EINVAL;
    }
    int total = 0;
    while (total < into.length) {
      int most = Math.min(BATCH, into.length - total);
      int taken = DataPath.poll(poll, address, most, completions);
      if (taken < 0) {
        return total > 0 ? total : -Errno.EIO;
      }
      for (int i = 0; i < taken; i++) {
        read(completions + WC_BYTES * i, into[total + i]);
      }
      total += taken;
      if (taken < most) {
        break;
      }
    }
    return total;
  }

  private static void read(long from, WorkCompletion to) {
    to.workRequestId = Memory.ALL.get(Memory.NATIVE_LONG, from + ID);
    to.status = WorkCompletion.Status.fromCode(Memory.ALL.get(Memory.NATIVE_INT, from + STATUS));
    to.kind = kind(Memory.ALL.get(Memory.NATIVE_INT, from + OPCODE));
    to.lengthBytes = Memory.ALL.get(Memory.NATIVE_INT, from + LENGTH);
    to.hasImmediate = (Memory.ALL.get(Memory.NATIVE_INT, from + FLAGS) & WITH_IMMEDIATE) != 0;
    to.immediate = Memory.ALL.get(Memory.NETWORK_INT, from + IMMEDIATE);
    to.sourceQueuePairNumber = Memory.ALL.get(Memory.NATIVE_INT, from + SOURCE);
    to.queuePairNumber = Memory.ALL.get(Memory.NATIVE_INT, from + QP_NUMBER);
  }

  private static WorkCompletion.Kind kind(int opcode) {
    if (opcode == RECEIVE_WITH_IMMEDIATE) {
      return WorkCompletion.Kind.RECEIVE_RDMA_WITH_IMMEDIATE;
    }
    if (opcode == WRITE) {
      return WorkCompletion.Kind.RDMA_WRITE;
    }
    if (opcode == RECEIVE) {
      return WorkCompletion.Kind.RECEIVE;
    }
    return opcode == READ ? WorkCompletion.Kind.RDMA_READ : WorkCompletion.Kind.SEND;
  }

  /** A queue pair will use it, with one of its work queues. */
  synchronized long attach(NativeContext user) {
    if (closed || user != context) {
      throw Verb.CREATE_QP.failure(
          user + ", with a completion queue that isn't open there", Errno.EINVAL);
    }
    users++;
    return address;
  }

  synchronized void detach() {
    users--;
  }

  /** Refuses while queue pairs use it, as the library does. */
  @Override
  public void close() {
    context.lock().shared((Runnable) this::closeUnused);
  }

  private synchronized void closeUnused() {
    if (closed) {
      return;
    }
    if (users > 0) {
      throw Verb.DESTROY_CQ.failure(
          "%s, a completion queue that %d work queues use".formatted(context, users), Errno.EBUSY);
    }
    closed = true;
    context.closed(this);
    Verb.DESTROY_CQ.call("completion queue of " + context, address);
    arena.close();
  }
}
