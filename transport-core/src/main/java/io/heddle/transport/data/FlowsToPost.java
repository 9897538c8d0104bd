package io.heddle.transport.data;

/**
 * Set of the sub-flows with requests to be posted; empty between calls. Owned by the holder of the
 * {@link Baton}.
 */
final class FlowsToPost {
  private final SubFlow[] flows;
  private final CommFailure failure;
  /* Sub-flows of the set, bit i for sub-flow i. */
  private long filled;

  /**
   * @param flows the communicator's array itself, not a copy, since sub-flows in it are replaced
   */
  FlowsToPost(SubFlow[] flows, CommFailure failure) {
    this.flows = flows;
    this.failure = failure;
  }

  /** Adds a sub-flow that got a request. */
  void add(SubFlow flow) {
    filled |= 1L << flow.index;
  }

  /**
   * Posts the requests of all sub-flows in the set. If a sub-flow's queue pair refuses its
   * requests, the sub-flow's plane counts as failed.
   */
  void post(long nowNs) {
    long left = filled;
    filled = 0;
    for (; left != 0; left &= left - 1) {
      SubFlow flow = flows[Long.numberOfTrailingZeros(left)];
      int code = flow.post(nowNs);
      if (code != 0) {
        failure.onRefusedPost(flow, code);
      }
    }
  }
}
