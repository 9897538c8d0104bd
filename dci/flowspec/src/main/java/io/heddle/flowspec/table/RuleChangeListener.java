package io.heddle.flowspec.table;

/** Listener for flows to which another rule may apply now. Called by {@link RuleTable}. */
public interface RuleChangeListener {
  /** Reports that another rule may apply to the flows to this queue pair. */
  void queuePair(QueuePairKey key);

  /**
   * Reports that another rule may apply to any flow, because a rule has changed that isn't limited
   * to one queue pair.
   */
  void any();
}
