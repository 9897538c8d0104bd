package io.heddle.verbs;

/** States of a queue pair (ibv_qp_state). */
public enum QueuePairState {
  RESET,
  INIT,
  READY_TO_RECEIVE,
  READY_TO_SEND,
  ERROR
}
