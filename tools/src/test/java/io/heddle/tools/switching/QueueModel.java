package io.heddle.tools.switching;

import java.util.List;

/**
 * Model of the queues in front of links with these rates. It computes the queues' lengths from
 * counts of sent bytes.
 */
final class QueueModel {
  private final double[] bytesPerSecond;
  private final double[] queued;

  QueueModel(double... bitsPerSecond) {
    bytesPerSecond = java.util.Arrays.stream(bitsPerSecond).map(rate -> rate / 8).toArray();
    queued = new double[bitsPerSecond.length];
  }

  /** Advances time by an interval in which the counts grew from {@code before} to {@code after}. */
  void pass(double seconds, List<LinkCount> before, List<LinkCount> after) {
    for (int i = 0; i < queued.length; i++) {
      double sent = after.get(i).markedBytes() - before.get(i).markedBytes();
      queued[i] = Math.max(0, queued[i] + sent - bytesPerSecond[i] * seconds);
    }
  }

  long[] bytes() {
    return java.util.Arrays.stream(queued).mapToLong(Math::round).toArray();
  }
}
