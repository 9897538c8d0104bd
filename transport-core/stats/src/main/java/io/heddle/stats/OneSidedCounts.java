package io.heddle.stats;

/**
 * What a process counts of NCCL's one-sided operations with one peer.
 *
 * @param puts writes that began, or at the other end have come
 * @param signals that were sent, or at the other end applied
 * @param gets reads that began; 0 at the other end, which doesn't see them
 * @param getBytes that they brought, by plane
 * @param flushes that were asked for
 */
public record OneSidedCounts(long puts, long signals, long gets, long getBytes, long flushes) {
  /** Whether there was any such operation. */
  public boolean isAny() {
    return puts != 0 || gets != 0 || getBytes != 0 || flushes != 0;
  }

  /** Both together. */
  public OneSidedCounts plus(OneSidedCounts other) {
    return new OneSidedCounts(
        puts + other.puts,
        signals + other.signals,
        gets + other.gets,
        getBytes + other.getBytes,
        flushes + other.flushes);
  }
}
