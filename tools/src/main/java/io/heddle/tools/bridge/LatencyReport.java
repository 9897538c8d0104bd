package io.heddle.tools.bridge;

import java.util.List;
import java.util.Locale;

/**
 * Report of the latency that each connection between two fabrics adds. The connections were
 * measured alternately in one run.
 *
 * @param processors number of processors of the machine
 * @param payloadBytes bytes of each payload
 * @param rounds number of rounds of each connection
 * @param idlePacketsPerSecond packets per second of the idle load
 * @param halfPacketsPerSecond packets per second of half load: half of the slowest connection's
 *     capacity
 * @param rows one row for each connection and load
 */
record LatencyReport(
    int processors,
    int payloadBytes,
    int rounds,
    double idlePacketsPerSecond,
    double halfPacketsPerSecond,
    List<Row> rows) {
  /**
   * Latency of one connection under one load.
   *
   * @param joining name of the connection; "one fabric" is the reference without connection, with
   *     both hosts in the same fabric
   * @param load idle or half
   * @param packets number of packets that arrived
   * @param lost number of packets that didn't arrive
   * @param medianUs median over the rounds of a round's median latency, µs, from the sender's call
   *     to the kernel of the receiving host
   * @param p999Us median over the rounds of a round's 99.9th percentile, µs
   * @param addedMedianUs {@code medianUs} minus the value of "one fabric", µs
   * @param addedP999Us {@code p999Us} minus the value of "one fabric", µs
   * @param capacityPacketsPerSecond packets that arrived per second when the sender sent at full
   *     speed
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
