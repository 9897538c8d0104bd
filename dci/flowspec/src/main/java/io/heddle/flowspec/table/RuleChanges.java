package io.heddle.flowspec.table;

/** Hears which flows may belong to another rule now. Called by {@link RuleTable}. */
public interface RuleChanges {
  /** Flows to this queue pair. */
  void queuePair(QueuePairKey key);

  /** Any flow: a rule that isn't of one queue pair came or went. */
  void any();
}
