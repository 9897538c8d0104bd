package io.heddle.tools.bridge;

import java.util.List;
import java.util.Locale;

/**
 * Latency that connections of two fabrics add, measured alternately in one run.
 *
 * @param processors of the machine
 * @param payloadBytes bytes of each payload
 * @param rounds of each connection
 * @param idlePacketsPerSecond packets per second of the idle load
 * @param halfPacketsPerSecond packets per second of half load: half of the slowest connection's
 *     capacity
 * @param rows by connection and load
 */
record LatencyReport(
    int processors,
    int payloadBytes,
    int rounds,
    double idlePacketsPerSecond,
    double halfPacketsPerSecond,
    List<Row> rows) {
  /**
   * One connection under one load.
   *
   * @param joining name of the connection; "one fabric" is none, with both hosts in the same
   * @param load idle or half
   * @param packets received
   * @param lost packets that didn't arrive
   * @param medianUs from the sender's call to the receiving system: the median of a round, and the
   *     median of these over all rounds
   * @param p999Us 99.9th percentile of a round's packets, with the median over all rounds
   * @param addedMedianUs the median less that of one fabric
   * @param addedP999Us the same for the 99.9th percentile
   * @param capacityPacketsPerSecond packets per second when the sender sent at full speed
   */
  record Row(
      String joining,
      String load,
      long packets,
      long lost,
      double medianUs,
      double p999Us,
      double addedMedianUs,
      double addedP999Us,
      double capacityPacketsPerSecond) {}

  String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%d processors, payloads of %d bytes, %d rounds; idle %.0f packets/s, half load"
                + " %.0f%n%n%-16s %-5s %9s %7s %10s %10s %13s %13s %12s%n",
            processors,
            payloadBytes,
            rounds,
            idlePacketsPerSecond,
            halfPacketsPerSecond,
            "joined by",
            "load",
            "packets",
            "lost",
            "median us",
            "99.9% us",
            "added median",
            "added 99.9%",
            "at most/s"));
    for (Row each : rows) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-16s %-5s %9d %7d %10.1f %10.1f %13.1f %13.1f %12.0f%n",
              each.joining(),
              each.load(),
              each.packets(),
              each.lost(),
              each.medianUs(),
              each.p999Us(),
              each.addedMedianUs(),
              each.addedP999Us(),
              each.capacityPacketsPerSecond()));
    }
    return text.toString();
  }
}
