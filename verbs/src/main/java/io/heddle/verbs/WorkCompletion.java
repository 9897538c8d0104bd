package io.heddle.verbs;

/** Work completion: a reusable flyweight that {@link CompletionQueue#poll} fills (ibv_wc). */
public final class WorkCompletion {
  /** Status of the work request, with ibv_wc_status's numbers. */
  public enum Status {
    SUCCESS(0),
    LOCAL_LENGTH_ERROR(1),
    LOCAL_QUEUE_PAIR_OPERATION_ERROR(2),
    LOCAL_PROTECTION_ERROR(4),
    WORK_REQUEST_FLUSHED(5),
    BAD_RESPONSE_ERROR(7),
    LOCAL_ACCESS_ERROR(8),
    REMOTE_INVALID_REQUEST_ERROR(9),
    REMOTE_ACCESS_ERROR(10),
    REMOTE_OPERATION_ERROR(11),
    RETRY_EXCEEDED(12),
    RECEIVER_NOT_READY_RETRY_EXCEEDED(13),
    FATAL_ERROR(19),
    GENERAL_ERROR(21);

    private static final Status[] BY_CODE = new Status[32];

    static {
      for (Status status : values()) {
        BY_CODE[status.code] = status;
      }
    }

    private final int code;

    Status(int code) {
      this.code = code;
    }

    public int code() {
      return code;
    }

    /** Returns the status of this number; GENERAL_ERROR for an unknown one. */
    public static Status fromCode(int code) {
      Status status = code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
      return status == null ? GENERAL_ERROR : status;
    }
  }

  /** Kind of request that completed (ibv_wc_opcode). */
  public enum Kind {
    SEND,
    RDMA_WRITE,
    RDMA_READ,
    RECEIVE,
    RECEIVE_RDMA_WITH_IMMEDIATE
  }

  public long workRequestId;
  public Status status = Status.SUCCESS;

  /** Kind of the request, valid for a successful completion only, as in ibv_wc. */
  public Kind kind = Kind.SEND;

  /** Bytes received, for receive kinds and reads. */
  public int lengthBytes;

  public boolean hasImmediate;

  /** Immediate data in host order, for receive kinds that have it. */
  public int immediate;

  /** Number of the sender's queue pair, for datagrams received. */
  public int sourceQueuePairNumber;

  /** LID of the sender's port on InfiniBand, for datagrams received; 0 on Ethernet. */
  public int sourceLid;

  /** Service level of a datagram received on InfiniBand. */
  public int serviceLevel;

  /**
   * Whether a datagram received begins with a global route header. On Ethernet all do, though some
   * devices don't report it.
   */
  public boolean hasRouteHeader;

  /** Makes an array of flyweights for {@link CompletionQueue#poll}. */
  public static WorkCompletion[] batch(int size) {
    WorkCompletion[] batch = new WorkCompletion[size];
    for (int i = 0; i < size; i++) {
      batch[i] = new WorkCompletion();
    }
    return batch;
  }
}
