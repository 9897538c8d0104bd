package io.heddle.verbs.libibverbs;

import io.heddle.jextract.ibv_qp_cap;
import io.heddle.jextract.ibv_qp_init_attr;
import io.heddle.platform.Errno;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Completion queues and depths of a queue pair. The queue pair counts as their user until it is
 * destroyed.
 */
record WorkQueues(
    NativeCompletionQueue sendQueue,
    NativeCompletionQueue receiveQueue,
    int sendDepth,
    int receiveDepth,
    int inlineBytes) {
  /**
   * Queue pair that {@link #create} has created.
   *
   * @param address address of the ibv_qp
   * @param inlineBytes inline size that the device granted
   */
  record Created(long address, int inlineBytes) {}

  /**
   * @throws VerbsException for depths beyond the device's limits or queues of another provider
   */
  static WorkQueues of(OpenPort port, QueuePairAttributes wanted) {
    int most = port.limits().maxWorkRequests();
    if (wanted.sendDepth() < 1
        || wanted.receiveDepth() < 1
        || wanted.sendDepth() > most
        || wanted.receiveDepth() > most
        || !(wanted.sendQueue() instanceof NativeCompletionQueue sends)
        || !(wanted.receiveQueue() instanceof NativeCompletionQueue receives)) {
      throw Verb.CREATE_QP.failure(
          "%s, depths %s and %s (1 to %s)"
              .formatted(port, wanted.sendDepth(), wanted.receiveDepth(), most),
          Errno.EINVAL);
    }
    return new WorkQueues(
        sends, receives, wanted.sendDepth(), wanted.receiveDepth(), wanted.inlineBytes());
  }

  /**
   * Attaches the completion queues and creates a queue pair on them. Falls back to no inline
   * payloads if the device refuses them.
   *
   * @param type ibv_qp_type
   */
  Created create(OpenPort port, long pd, int type) {
    long sendCompletions = sendQueue.attach(port);
    try {
      long receiveCompletions = receiveQueue.attach(port);
      try {
        return createOn(port, pd, type, sendCompletions, receiveCompletions);
      } catch (VerbsException refused) {
        receiveQueue.detach();
        throw refused;
      }
    } catch (VerbsException refused) {
      sendQueue.detach();
      throw refused;
    }
  }

  private Created createOn(
      OpenPort port, long pd, int type, long sendCompletions, long receiveCompletions) {
    if (inlineBytes == 0) {
      return create(port, pd, type, sendCompletions, receiveCompletions, 0);
    }
    try {
      return create(port, pd, type, sendCompletions, receiveCompletions, inlineBytes);
    } catch (VerbsException refused) {
      /*
       * Drivers don't report which limit was exceeded. If inline payloads weren't the cause, this
       * call fails too.
       */
      return create(port, pd, type, sendCompletions, receiveCompletions, 0);
    }
  }

  private Created create(
      OpenPort port,
      long pd,
      int type,
      long sendCompletions,
      long receiveCompletions,
      int requestedBytes) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment init = ibv_qp_init_attr.allocate(arena);
      ibv_qp_init_attr.send_cq(init, MemorySegment.ofAddress(sendCompletions));
      ibv_qp_init_attr.recv_cq(init, MemorySegment.ofAddress(receiveCompletions));
      ibv_qp_init_attr.qp_type(init, type);
      MemorySegment cap = ibv_qp_init_attr.cap(init);
      ibv_qp_cap.max_send_wr(cap, sendDepth);
      ibv_qp_cap.max_recv_wr(cap, receiveDepth);
      ibv_qp_cap.max_send_sge(cap, 1);
      ibv_qp_cap.max_recv_sge(cap, 1);
      ibv_qp_cap.max_inline_data(cap, requestedBytes);
      long address =
          Verb.CREATE_QP.call(
              "%s, depths %s and %s".formatted(port, sendDepth, receiveDepth), pd, init.address());
      /* Drivers write back the actual size, which may be larger. */
      return new Created(address, requestedBytes == 0 ? 0 : ibv_qp_cap.max_inline_data(cap));
    }
  }

  void detach() {
    sendQueue.detach();
    receiveQueue.detach();
  }
}
