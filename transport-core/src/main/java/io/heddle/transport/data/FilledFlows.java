package io.heddle.transport.data;

/**
 * Sub-flows that have requests to be posted; none between calls. Owned by whoever has the {@link
 * Baton}.
 */
final class FilledFlows {
  private final SubFlow[] flows;
  private final CommFailure failure;
  /* Bit i for sub-flow i. */
  private long filled;

  /**
   * @param flows of the connection, as they are at any time
   */
  FilledFlows(SubFlow[] flows, CommFailure failure) {
    this.flows = flows;
    this.failure = failure;
  }

  /** This one has a request more. */
  void add(SubFlow flow) {
    filled |= 1L << flow.index;
  }

  /** Posts all; a sub-flow that refuses has failed. */
  void post(long nowNs) {
    long left = filled;
    filled = 0;
    for (; left != 0; left &= left - 1) {
      SubFlow flow = flows[Long.numberOfTrailingZeros(left)];
      int code = flow.post(nowNs);
      if (code != 0) {
        failure.posting(flow, code);
      }
    }
  }
}
