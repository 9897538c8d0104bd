package io.heddle.perftest;

/**
 * Measurement of a bandwidth run.
 *
 * @param messages number of messages in the measured time
 * @param peakBytesPerSecond peak rate, 0 if not measured
 * @param laneBytes number of bytes sent from each {@link Lane}, in the order of the lanes
 * @param laneMessages number of messages, or of chunks of messages, sent from each {@link Lane}
 * @param completionTimes times from post to completion of signalled messages; empty at an end that
 *     only receives
 */
record BandwidthResult(
    long sizeBytes,
    long messages,
    double seconds,
    double peakBytesPerSecond,
    long[] laneBytes,
    long[] laneMessages,
    Distribution completionTimes) {
  private static final double MEBIBYTE = 1 << 20;
  private static final double GIGABIT_BYTES = 125_000_000;
  private static final double MILLION = 1e6;

  /** Returns the number of bytes in a gigabit, or in a MiB. */
  static double unitBytes(boolean gigabits) {
    return gigabits ? GIGABIT_BYTES : MEBIBYTE;
  }

  BandwidthReport report(boolean gigabits) {
    double unit = unitBytes(gigabits);
    return new BandwidthReport(
        sizeBytes,
        messages,
        peakBytesPerSecond / unit,
        perSecond((double) messages * sizeBytes) / unit,
        perSecond(messages) / MILLION);
  }

  double perSecond(double amount) {
    return seconds > 0 ? amount / seconds : 0;
  }
}
