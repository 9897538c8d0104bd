package io.heddle.verbs;

import org.jspecify.annotations.Nullable;

/**
 * One element of a list given to {@link QueuePair#postSend}; a reusable carrier of values, copied
 * by the device before the call returns (ibv_send_wr). It gathers from one contiguous piece of
 * registered memory, since everything that the transport sends is contiguous.
 */
public final class SendWorkRequest {
  /** What to do (ibv_wr_opcode). */
  public enum Operation {
    SEND,
    SEND_WITH_IMMEDIATE,
    RDMA_WRITE,
    RDMA_WRITE_WITH_IMMEDIATE,
    RDMA_READ
  }

  public long id;
  public Operation operation = Operation.RDMA_WRITE;

  /** Whether success makes a completion; failure always does. */
  public boolean signalled;

  /**
   * Whether the processor copies the payload before the call returns (IBV_SEND_INLINE): its memory
   * needs no region and may be used anew at once, and the device needn't read it. For {@link
   * QueuePair#inlineBytes} at most, of the processor's memory, and not for reads.
   */
  public boolean inline;

  public long localAddress;
  public int lengthBytes;
  public int lkey;

  /** For writes and reads. */
  public long remoteAddress;

  public int rkey;

  /** In host order; for the operations that carry one. */
  public int immediate;

  /** The next request of the list, or null. */
  public @Nullable SendWorkRequest next;
}
