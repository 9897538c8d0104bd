package io.heddle.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Element of a list given to {@link QueuePair#postSend} (ibv_send_wr). It is reusable, since the
 * device copies it before {@code postSend} returns. It has one gather entry, since all payloads of
 * the transport are contiguous.
 */
public final class SendWorkRequest {
  /** Operation of a request (ibv_wr_opcode). */
  public enum Operation {
    SEND,
    SEND_WITH_IMMEDIATE,
    RDMA_WRITE,
    RDMA_WRITE_WITH_IMMEDIATE,
    RDMA_READ
  }

  public long id;
  public Operation operation = Operation.RDMA_WRITE;

  /** Whether the request makes a completion if it succeeds; a failed request always makes one. */
  public boolean signalled;

  /**
   * Whether the CPU copies the payload before the call returns (IBV_SEND_INLINE): the payload's
   * memory needs no region and can be reused at once. The payload has at most {@link
   * QueuePair#inlineBytes} and is in host memory. Not allowed for reads.
   */
  public boolean inline;

  public long localAddress;
  public int lengthBytes;
  public int lkey;

  /** First byte in the peer's memory, for writes and reads. */
  public long remoteAddress;

  public int rkey;

  /** Immediate data in host order, for the operations that carry it. */
  public int immediate;

  /** The next request of the list, or null. */
  public @Nullable SendWorkRequest next;
}
