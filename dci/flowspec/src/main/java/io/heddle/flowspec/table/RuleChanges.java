package io.heddle.flowspec.table;

/** Listener for flows whose rule may have changed. Called by {@link RuleTable}. */
public interface RuleChanges {
  /** Reports flows to this queue pair. */
  void queuePair(QueuePairKey key);

  /** Reports a change that may affect any flow: its rule isn't limited to one queue pair. */
  void any();
}
