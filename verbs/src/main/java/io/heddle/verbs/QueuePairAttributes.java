package io.heddle.verbs;

/**
 * Attributes of a queue pair at creation (ibv_qp_init_attr).
 *
 * @param sendQueue queue for completions of sends
 * @param receiveQueue queue for completions of receives; may be {@code sendQueue}
 * @param sendDepth largest number of outstanding send requests
 * @param receiveDepth largest number of outstanding receive requests
 * @param inlineBytes requested size of inline payloads; {@link QueuePair#inlineBytes} is the actual
 *     size
 */
public record QueuePairAttributes(
    CompletionQueue sendQueue,
    CompletionQueue receiveQueue,
    int sendDepth,
    int receiveDepth,
    int inlineBytes) {
  /** Creates attributes without inline payloads. */
  public QueuePairAttributes(
      CompletionQueue sendQueue, CompletionQueue receiveQueue, int sendDepth, int receiveDepth) {
    this(sendQueue, receiveQueue, sendDepth, receiveDepth, 0);
  }
}
