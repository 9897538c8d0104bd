package io.heddle.cli.bridge;

import java.util.List;
import java.util.Locale;

/**
 * How much later packets come by what joins two fabrics, measured in turns in one run.
 *
 * @param processors that the machine has
 * @param payloadBytes bytes of each payload
 * @param rounds that each took part in
 * @param idlePacketsPerSecond packets a second of the idle load
 * @param halfPacketsPerSecond packets a second of half load: half of what the slowest carried
 * @param rows by what joins the fabrics and load
 */
record LatencyReport(
    int processors,
    int payloadBytes,
    int rounds,
    double idlePacketsPerSecond,
    double halfPacketsPerSecond,
    List<Row> rows) {
  /**
   * One of them under one load.
   *
   * @param joining what joins the fabrics; "one fabric" is none, with both hosts in the same
   * @param load idle or half
   * @param packets that came
   * @param lost that didn't
   * @param medianUs from the sender's call to the receiving system: the median of a round, of which
   *     the median of all rounds
   * @param p999Us the same of 99.9 % of a round's packets
   * @param addedMedianUs the median without that of one fabric
   * @param addedP999Us the same of 99.9 %
   * @param capacityPacketsPerSecond packets a second when the sender sent as fast as it could
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
