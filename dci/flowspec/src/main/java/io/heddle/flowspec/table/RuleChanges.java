package io.heddle.flowspec.table;

/** Listener for flows whose rule may have changed. Called by {@link RuleTable}. */
public interface RuleChanges {
  /** Reports flows to this queue pair. */
  void queuePair(QueuePairKey key);

  /** Reports any flow: a rule not limited to one queue pair came or went. */
  void any();
}
