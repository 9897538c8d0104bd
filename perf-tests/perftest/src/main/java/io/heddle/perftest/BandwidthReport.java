package io.heddle.perftest;

/**
 * Result of a bandwidth test for one message size, as the two ends exchange it. Rates are in the
 * unit of the report, MiB/s or Gb/s.
 *
 * @param sizeBytes length of a message
 * @param iterations total number of messages
 * @param peak peak rate, 0 if not measured
 * @param average average rate
 * @param messageRate millions of messages per second
 */
record BandwidthReport(
    long sizeBytes, long iterations, double peak, double average, double messageRate) {
  static final BandwidthReport EMPTY = new BandwidthReport(0, 0, 0, 0, 0);

  /** Returns this report with the rates of the other direction added. */
  BandwidthReport plus(BandwidthReport other) {
    return new BandwidthReport(
        sizeBytes,
        iterations,
        peak + other.peak,
        average + other.average,
        messageRate + other.messageRate);
  }
}
