package io.heddle.verbs;

/**
 * What a queue pair is created with.
 *
 * @param sendQueue where completions of sends arrive
 * @param receiveQueue where completions of receives arrive; may be the same
 * @param sendDepth send requests outstanding at most
 * @param receiveDepth receive requests outstanding at most
 */
public record QueuePairAttributes(
    CompletionQueue sendQueue, CompletionQueue receiveQueue, int sendDepth, int receiveDepth) {}
