package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_ah_attr;
import io.heddle.jextract.ibv_gid;
import io.heddle.jextract.ibv_global_route;
import io.heddle.jextract.ibv_qp_attr;
import io.heddle.jextract.ibv_qp_init_attr;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.Gid;
import io.heddle.verbs.QueuePairState;
import io.heddle.verbs.ReadyToReceiveAttributes;
import io.heddle.verbs.ReadyToSendAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.ToIntFunction;

/**
 * State transitions of one queue pair: fills an ibv_qp_attr for each transition and calls
 * modify_qp. It also queries the state. Its methods are called with the queue pair's monitor held.
 */
final class QueuePairTransitions {
  /** Types of queue pairs (ibv_qp_type). */
  static final int RELIABLE = VerbsConstants.IBV_QPT_RC();

  static final int DATAGRAM = VerbsConstants.IBV_QPT_UD();

  /* Same value as in NCCL's net_ib; it is large enough for any fabric. */
  private static final byte HOP_LIMIT = (byte) 255;

  /* Maximum of a queue pair's outstanding READs. More would help only on a long, idle path. */
  private static final int MAX_READS = 16;

  private final long queuePair;
  private final OpenPort port;

  QueuePairTransitions(long queuePair, OpenPort port) {
    this.queuePair = queuePair;
    this.port = port;
  }

  /* The filler writes the attributes and returns their mask. */
  private void modify(String object, int state, ToIntFunction<MemorySegment> filler) {
    modify(
        object,
        attr -> {
          ibv_qp_attr.qp_state(attr, state);
          return VerbsConstants.IBV_QP_STATE() | filler.applyAsInt(attr);
        });
  }

  private void modify(String object, ToIntFunction<MemorySegment> filler) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = ibv_qp_attr.allocate(arena);
      Verb.MODIFY_QP.call(object, queuePair, attr.address(), filler.applyAsInt(attr));
    }
  }

  /**
   * Removes remote write and read rights while the queue pair stays in RTS. Devices check the
   * sequence number before the rights, so duplicates are still acknowledged.
   */
  void refuseRequests(Object user) {
    modify(
        user + " to RTS without remote access",
        attr -> {
          ibv_qp_attr.qp_state(attr, VerbsConstants.IBV_QPS_RTS());
          ibv_qp_attr.qp_access_flags(attr, 0);
          return VerbsConstants.IBV_QP_STATE() | VerbsConstants.IBV_QP_ACCESS_FLAGS();
        });
  }

  void initialise(Object user) {
    modify(
        user + " to INIT on port " + port.number(),
        VerbsConstants.IBV_QPS_INIT(),
        attr -> {
          ibv_qp_attr.port_num(attr, (byte) port.number());
          ibv_qp_attr.qp_access_flags(
              attr,
              VerbsConstants.IBV_ACCESS_LOCAL_WRITE()
                  | VerbsConstants.IBV_ACCESS_REMOTE_WRITE()
                  | VerbsConstants.IBV_ACCESS_REMOTE_READ());
          return VerbsConstants.IBV_QP_PORT()
              | VerbsConstants.IBV_QP_PKEY_INDEX()
              | VerbsConstants.IBV_QP_ACCESS_FLAGS();
        });
  }

  void readyToReceive(String object, int gidIndex, ReadyToReceiveAttributes peer) {
    modify(
        object,
        VerbsConstants.IBV_QPS_RTR(),
        attr -> {
          ibv_qp_attr.path_mtu(attr, peer.mtu().code());
          ibv_qp_attr.dest_qp_num(attr, peer.remoteQueuePairNumber());
          ibv_qp_attr.rq_psn(attr, peer.receivePsn());
          ibv_qp_attr.max_dest_rd_atomic(attr, reads(port.limits().readsAsTarget()));
          ibv_qp_attr.min_rnr_timer(attr, (byte) peer.receiverNotReadyTimerCode());
          MemorySegment route = ibv_qp_attr.ah_attr(attr);
          fillAddress(route, peer.remoteGid(), gidIndex, port.number());
          ibv_ah_attr.dlid(route, lid(peer.peerParameters()));
          ibv_ah_attr.sl(route, (byte) peer.serviceLevel());
          ibv_global_route.traffic_class(ibv_ah_attr.grh(route), (byte) peer.trafficClass());
          return VerbsConstants.IBV_QP_AV()
              | VerbsConstants.IBV_QP_PATH_MTU()
              | VerbsConstants.IBV_QP_DEST_QPN()
              | VerbsConstants.IBV_QP_RQ_PSN()
              | VerbsConstants.IBV_QP_MAX_DEST_RD_ATOMIC()
              | VerbsConstants.IBV_QP_MIN_RNR_TIMER();
        });
  }

  /** Fills an ibv_ah_attr for a global address. */
  static void fillAddress(MemorySegment route, Gid to, int gidIndex, int port) {
    MemorySegment header = ibv_ah_attr.grh(route);
    MemorySegment.copy(
        MemorySegment.ofArray(to.toBytes()), 0, ibv_global_route.dgid(header), 0, ibv_gid.sizeof());
    ibv_global_route.sgid_index(header, (byte) gidIndex);
    ibv_global_route.hop_limit(header, HOP_LIMIT);
    ibv_ah_attr.is_global(route, (byte) 1);
    ibv_ah_attr.port_num(route, (byte) port);
  }

  /** Creates an address handle; returns the address of its ibv_ah. */
  static long createAddressHandle(
      String object, long pd, int gidIndex, int port, AddressHandleAttributes wanted) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = ibv_ah_attr.allocate(arena);
      fillAddress(attr, wanted.remoteGid(), gidIndex, port);
      ibv_ah_attr.sl(attr, (byte) wanted.serviceLevel());
      ibv_global_route.traffic_class(ibv_ah_attr.grh(attr), (byte) wanted.trafficClass());
      ibv_global_route.hop_limit(ibv_ah_attr.grh(attr), (byte) wanted.hopLimit());
      ibv_ah_attr.dlid(attr, (short) wanted.lid());
      ibv_ah_attr.is_global(attr, (byte) (wanted.global() ? 1 : 0));
      ibv_ah_attr.static_rate(attr, (byte) wanted.staticRate());
      return Verb.CREATE_AH.call(object, pd, attr.address());
    }
  }

  private static short lid(byte[] parameters) {
    return parameters.length < 2 ? 0 : (short) (parameters[0] << 8 | parameters[1] & 0xff);
  }

  private static byte reads(int limit) {
    return (byte) Math.max(1, Math.min(MAX_READS, limit));
  }

  void readyToSend(Object user, ReadyToSendAttributes attributes) {
    modify(
        user + " to RTS",
        VerbsConstants.IBV_QPS_RTS(),
        attr -> {
          ibv_qp_attr.sq_psn(attr, attributes.sendPsn());
          ibv_qp_attr.timeout(attr, (byte) attributes.timeoutCode());
          ibv_qp_attr.retry_cnt(attr, (byte) attributes.retryCount());
          ibv_qp_attr.rnr_retry(attr, (byte) attributes.receiverNotReadyRetryCount());
          ibv_qp_attr.max_rd_atomic(attr, reads(port.limits().readsAsInitiator()));
          return VerbsConstants.IBV_QP_SQ_PSN()
              | VerbsConstants.IBV_QP_TIMEOUT()
              | VerbsConstants.IBV_QP_RETRY_CNT()
              | VerbsConstants.IBV_QP_RNR_RETRY()
              | VerbsConstants.IBV_QP_MAX_QP_RD_ATOMIC();
        });
  }

  /** Moves a datagram queue pair from RESET through INIT and RTR to RTS. */
  void startDatagrams(Object user, int queueKey, int partitionIndex) {
    modify(
        "%s to INIT on port %s, queue key 0x%x, P_Key index %s"
            .formatted(user, port.number(), queueKey, partitionIndex),
        VerbsConstants.IBV_QPS_INIT(),
        attr -> {
          ibv_qp_attr.port_num(attr, (byte) port.number());
          ibv_qp_attr.qkey(attr, queueKey);
          ibv_qp_attr.pkey_index(attr, (short) partitionIndex);
          return VerbsConstants.IBV_QP_PORT()
              | VerbsConstants.IBV_QP_PKEY_INDEX()
              | VerbsConstants.IBV_QP_QKEY();
        });
    modify(user + " to RTR", VerbsConstants.IBV_QPS_RTR(), attr -> 0);
    modify(user + " to RTS", VerbsConstants.IBV_QPS_RTS(), attr -> VerbsConstants.IBV_QP_SQ_PSN());
  }

  /** Moves from any state to {@code target}, a state that needs no attributes. */
  void moveTo(QueuePairState target, Object user) {
    modify(user + " to " + target, code(target), attr -> 0);
  }

  private static int code(QueuePairState state) {
    return switch (state) {
      case RESET -> VerbsConstants.IBV_QPS_RESET();
      case INIT -> VerbsConstants.IBV_QPS_INIT();
      case READY_TO_RECEIVE -> VerbsConstants.IBV_QPS_RTR();
      case READY_TO_SEND -> VerbsConstants.IBV_QPS_RTS();
      case ERROR -> VerbsConstants.IBV_QPS_ERR();
    };
  }

  /** Queries the state from the device. */
  QueuePairState state(Object user) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = ibv_qp_attr.allocate(arena);
      MemorySegment init = ibv_qp_init_attr.allocate(arena);
      Verb.QUERY_QP.call(
          user.toString(),
          queuePair,
          attr.address(),
          VerbsConstants.IBV_QP_STATE(),
          init.address());
      int state = ibv_qp_attr.qp_state(attr);
      for (QueuePairState known : QueuePairState.values()) {
        if (code(known) == state) {
          return known;
        }
      }
      /*
       * The state is SQE or SQD, which QueuePairState lacks. They count as ERROR: the caller can't
       * send and can only move on to ERROR or RESET.
       */
      return QueuePairState.ERROR;
    }
  }
}
