package io.heddle.perftest;

/**
 * Row of a bandwidth test, as the ends exchange it: rates in the unit of the report.
 *
 * @param sizeBytes length of a message
 * @param iterations total messages
 * @param peak peak rate, 0 if not measured
 * @param average average rate, in MiB/s or Gb/s
 * @param messageRate millions of messages per second
 */
record BandwidthReport(
    long sizeBytes, long iterations, double peak, double average, double messageRate) {
  static final BandwidthReport EMPTY = new BandwidthReport(0, 0, 0, 0, 0);

  /** Returns the sum of both directions' rates. */
  BandwidthReport plus(BandwidthReport other) {
    return new BandwidthReport(
        sizeBytes,
        iterations,
        peak + other.peak,
        average + other.average,
        messageRate + other.messageRate);
  }
}
