package io.heddle.stats;

/**
 * Counters of NCCL's one-sided operations with one peer.
 *
 * @param puts writes that began at the initiator, or arrived at the target
 * @param signals signals that the initiator sent, or the target applied
 * @param gets reads that began at the initiator; 0 at the target, which doesn't see them
 * @param getBytes bytes that reads fetched over the plane of these counters
 * @param flushes flushes requested
 */
public record OneSidedCounts(long puts, long signals, long gets, long getBytes, long flushes) {
  /** Returns whether there was any such operation. */
  public boolean hasOperations() {
    return puts != 0 || signals != 0 || gets != 0 || getBytes != 0 || flushes != 0;
  }

  /** Returns the sums of these counters and the other ones. */
  public OneSidedCounts plus(OneSidedCounts other) {
    return new OneSidedCounts(
        puts + other.puts,
        signals + other.signals,
        gets + other.gets,
        getBytes + other.getBytes,
        flushes + other.flushes);
  }
}
