package io.heddle.verbs;

/**
 * What a queue pair is created with.
 *
 * @param sendQueue where completions of sends arrive
 * @param receiveQueue where completions of receives arrive; may be the same
 * @param sendDepth send requests outstanding at most
 * @param receiveDepth receive requests outstanding at most
 * @param inlineBytes how long a payload is wished to be that travels within its request; what the
 *     queue pair has is {@link QueuePair#inlineBytes}
 */
public record QueuePairAttributes(
    CompletionQueue sendQueue,
    CompletionQueue receiveQueue,
    int sendDepth,
    int receiveDepth,
    int inlineBytes) {
  /** Without payloads that travel within their requests. */
  public QueuePairAttributes(
      CompletionQueue sendQueue, CompletionQueue receiveQueue, int sendDepth, int receiveDepth) {
    this(sendQueue, receiveQueue, sendDepth, receiveDepth, 0);
  }
}
