package io.heddle.bgp.flowspec.table;

/** Listener for changes of the rules that apply to flows. Called by {@link RuleTable}. */
public interface RuleChangeListener {
  /** Reports that the rules for the flows to this queue pair have changed. */
  void queuePair(QueuePairKey key);

  /**
   * Reports that a rule has changed that isn't limited to one queue pair, so that any flow may be
   * affected.
   */
  void any();
}
