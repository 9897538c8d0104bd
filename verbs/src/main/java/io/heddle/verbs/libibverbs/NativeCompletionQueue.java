package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_wc;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Completion queue of a libibverbs device. One thread polls it. */
final class NativeCompletionQueue implements CompletionQueue {
  /*
   * Values of pollMode, which has both the state of the queue and the kind of its poll function. So
   * a poll begins with a single read; such first steps are most of the cost of an empty poll.
   */
  private static final int FIRST = 0;
  private static final int OTHER = 1;
  private static final int CLOSED = 2;

  private static final int BATCH = 64;
  private static final long WC_BYTES = ibv_wc.sizeof();
  private static final boolean LITTLE = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  /*
   * Offsets of the completion's fields. Two adjacent fields are read at once, which halves the cost
   * of reading under C1.
   */
  private static final long ID = ibv_wc.wr_id$offset();
  private static final long STATUS_AND_OPCODE =
      pair(ibv_wc.status$offset(), ibv_wc.opcode$offset());
  private static final long VENDOR_AND_LENGTH =
      pair(ibv_wc.vendor_err$offset(), ibv_wc.byte_len$offset());
  private static final long IMMEDIATE_AND_QP =
      pair(ibv_wc.imm_data$offset(), ibv_wc.qp_num$offset());
  private static final long SOURCE_AND_FLAGS =
      pair(ibv_wc.src_qp$offset(), ibv_wc.wc_flags$offset());
  private static final long SOURCE_LID = ibv_wc.slid$offset();
  private static final long SERVICE_LEVEL = ibv_wc.sl$offset();
  private static final long WRITTEN = success(VerbsConstants.IBV_WC_RDMA_WRITE());
  private static final long ARRIVED = success(VerbsConstants.IBV_WC_RECV_RDMA_WITH_IMM());
  private static final int WITH_IMMEDIATE = VerbsConstants.IBV_WC_WITH_IMM();
  private static final int WITH_ROUTE_HEADER = VerbsConstants.IBV_WC_GRH();
  private static final WorkCompletion.Kind[] KINDS = kinds();

  private final DeviceContext context;
  private final OpenPort port;
  private final Consumer<NativeCompletionQueue> whenClosed;
  private final long address;
  private final @Nullable CompletionChannel channel;
  private final MemorySegment poll;
  private final Arena arena = Arena.ofShared();
  private final long completions = Memory.allocate(arena, WC_BYTES * BATCH, 64);
  private volatile int pollMode;
  private int users; /* number of attached work queues; guarded by this object's monitor */

  NativeCompletionQueue(
      DeviceContext context,
      OpenPort port,
      Consumer<NativeCompletionQueue> whenClosed,
      long address,
      @Nullable CompletionChannel channel) {
    this.context = context;
    this.port = port;
    this.whenClosed = whenClosed;
    this.address = address;
    this.channel = channel;
    poll = DataPath.pollOf(port.address());
    pollMode = DataPath.isFirstPoll(poll) ? FIRST : OTHER;
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  /* This method and the two below are small enough for C1 to inline (35 bytes of bytecode). */
  @Override
  public int poll(WorkCompletion[] into) {
    int most = Math.min(into.length, BATCH);
    int taken = pollOnce(most);
    /* No completion is by far the most frequent result. */
    return taken == 0 ? 0 : take(into, most, taken);
  }

  private int pollOnce(int most) {
    return pollMode == FIRST ? DataPath.pollFirst(address, most, completions) : pollOther(most);
  }

  private int pollOther(int most) {
    return pollMode == CLOSED ? -Errno.EINVAL : DataPath.poll(poll, address, most, completions);
  }

  private int take(WorkCompletion[] into, int most, int first) {
    int total = 0;
    int requested = most;
    int taken = first;
    while (taken > 0) {
      long from = completions;
      for (int end = total + taken; total < end; total++) {
        read(from, into[total]);
        from += WC_BYTES;
      }
      if (taken < requested || total == into.length) {
        return total;
      }
      requested = Math.min(BATCH, into.length - total);
      taken = pollOnce(requested);
    }
    return taken == 0 || total > 0 ? total : pollMode == CLOSED ? -Errno.EINVAL : -Errno.EIO;
  }

  /* Indexed by opcode; every opcode not named here is a send. */
  private static WorkCompletion.Kind[] kinds() {
    WorkCompletion.Kind[] kinds = new WorkCompletion.Kind[256];
    Arrays.fill(kinds, WorkCompletion.Kind.SEND);
    kinds[VerbsConstants.IBV_WC_RDMA_WRITE()] = WorkCompletion.Kind.RDMA_WRITE;
    kinds[VerbsConstants.IBV_WC_RDMA_READ()] = WorkCompletion.Kind.RDMA_READ;
    kinds[VerbsConstants.IBV_WC_RECV()] = WorkCompletion.Kind.RECEIVE;
    kinds[VerbsConstants.IBV_WC_RECV_RDMA_WITH_IMM()] =
        WorkCompletion.Kind.RECEIVE_RDMA_WITH_IMMEDIATE;
    return kinds;
  }

  private static long pair(long first, long second) {
    if (second != first + Integer.BYTES || first % Long.BYTES != 0) {
      throw new IllegalStateException(
          "ibv_wc has an unexpected layout: offsets " + first + ", " + second);
    }
    return first;
  }

  private static long success(int opcode) {
    long status = VerbsConstants.IBV_WC_SUCCESS();
    return LITTLE ? (long) opcode << Integer.SIZE | status : status << Integer.SIZE | opcode;
  }

  private static int first(long pair) {
    return (int) (LITTLE ? pair : pair >>> Integer.SIZE);
  }

  private static int second(long pair) {
    return (int) (LITTLE ? pair >>> Integer.SIZE : pair);
  }

  /* This method and decode() are small enough for C1 to inline. */
  private static void read(long from, WorkCompletion to) {
    long statusAndOpcode = Memory.getLong(from + STATUS_AND_OPCODE);
    to.workRequestId = Memory.getLong(from + ID);
    decode(to, statusAndOpcode, from);
  }

  /*
   * Decodes a completion. A successful write, the most frequent one, is decoded without the fields
   * that it doesn't have.
   */
  private static void decode(WorkCompletion to, long statusAndOpcode, long from) {
    if (statusAndOpcode == WRITTEN) {
      to.status = WorkCompletion.Status.SUCCESS;
      to.kind = WorkCompletion.Kind.RDMA_WRITE;
      to.hasImmediate = false;
    } else {
      decodeOther(to, statusAndOpcode, from);
    }
  }

  private static void decodeOther(WorkCompletion to, long statusAndOpcode, long from) {
    int immediate = first(Memory.getLong(from + IMMEDIATE_AND_QP));
    to.lengthBytes = second(Memory.getLong(from + VENDOR_AND_LENGTH));
    to.immediate = LITTLE ? Integer.reverseBytes(immediate) : immediate;
    if (statusAndOpcode == ARRIVED) {
      to.status = WorkCompletion.Status.SUCCESS;
      to.kind = WorkCompletion.Kind.RECEIVE_RDMA_WITH_IMMEDIATE;
      to.hasImmediate = true;
    } else {
      long sourceAndFlags = Memory.getLong(from + SOURCE_AND_FLAGS);
      to.status = WorkCompletion.Status.fromCode(first(statusAndOpcode));
      to.kind = KINDS[second(statusAndOpcode) & 0xff];
      to.hasImmediate = (second(sourceAndFlags) & WITH_IMMEDIATE) != 0;
      to.sourceQueuePairNumber = first(sourceAndFlags);
      to.hasRouteHeader = (second(sourceAndFlags) & WITH_ROUTE_HEADER) != 0;
      to.sourceLid = Memory.ALL.get(Memory.NATIVE_SHORT, from + SOURCE_LID) & 0xffff;
      to.serviceLevel = Memory.ALL.get(ValueLayout.JAVA_BYTE, from + SERVICE_LEVEL);
    }
  }

  @Override
  public int descriptor() {
    return channel == null ? -1 : channel.descriptor();
  }

  @Override
  public void arm() {
    int errno = channel == null || pollMode == CLOSED ? Errno.EINVAL : channel.arm(address);
    if (errno != 0) {
      throw new VerbsException("req_notify_cq", "completion queue of " + port, errno);
    }
  }

  /** Registers a work queue as a user; returns the address of the ibv_cq. */
  synchronized long attach(OpenPort user) {
    if (pollMode == CLOSED || user != port) {
      throw Verb.CREATE_QP.failure(
          user + ", with a completion queue that is closed or another port's", Errno.EINVAL);
    }
    users++;
    return address;
  }

  synchronized void detach() {
    users--;
  }

  /** Closes the queue; fails with EBUSY while queue pairs use it, as the library does. */
  @Override
  public void close() {
    port.lock().shared((Runnable) this::closeUnused);
  }

  private synchronized void closeUnused() {
    if (pollMode == CLOSED) {
      return;
    }
    if (users > 0) {
      throw Verb.DESTROY_CQ.failure(
          "%s, a completion queue that %s work queues use".formatted(port, users), Errno.EBUSY);
    }
    pollMode = CLOSED;
    whenClosed.accept(this);
    Verb.DESTROY_CQ.call("completion queue of " + port, address);
    if (channel != null) {
      channel.close();
    }
    arena.close();
  }
}
