package io.heddle.perftest;

/**
 * One row of a bandwidth test, as the ends tell it to each other: rates in the unit of the report.
 *
 * @param sizeBytes length of a message
 * @param iterations messages in all
 * @param peak 0 where it isn't looked for
 * @param average MiB/s or Gb/s
 * @param messageRate millions a second
 */
record BandwidthReport(
    long sizeBytes, long iterations, double peak, double average, double messageRate) {
  static final BandwidthReport EMPTY = new BandwidthReport(0, 0, 0, 0, 0);

  /** Rates of both directions together. */
  BandwidthReport plus(BandwidthReport other) {
    return new BandwidthReport(
        sizeBytes,
        iterations,
        peak + other.peak,
        average + other.average,
        messageRate + other.messageRate);
  }
}
