package io.heddle.tools.simulate;

import io.heddle.sim.chunks.ChunkOutcome;
import java.util.List;
import java.util.Locale;

/**
 * Report of the simulated rounds.
 *
 * @param level level of the simulation
 * @param gpus number of GPUs, each with one card
 * @param planes number of planes of the fabric
 * @param portGbps rate of a port, Gbit/s
 * @param pattern traffic pattern
 * @param group number of GPUs that communicate with each other
 * @param switching method by which a leaf selects spines
 * @param roundBytes bytes that a GPU sends in a round
 * @param rounds number of rounds
 * @param chunkBytes preferred chunk size of policies
 * @param seed seed of the random numbers
 * @param situation description of degraded planes
 * @param policies one result for each policy
 */
record SimulateReport(
    String level,
    int gpus,
    int planes,
    double portGbps,
    String pattern,
    int group,
    String switching,
    long roundBytes,
    int rounds,
    int chunkBytes,
    long seed,
    String situation,
    List<PolicyRun> policies) {
  private static final double US = 1e3;

  /**
   * Result of one policy.
   *
   * @param policy spray policy
   * @param endUs time of the last acknowledgement, µs
   * @param goodputGbps mean goodput of a sending GPU until {@code endUs}, Gbit/s
   * @param ofIdeal goodput ÷ capacity of the ports
   * @param messageP50Us median of the message times, µs
   * @param messageP99Us 99th percentile of the message times, µs
   * @param messageMostUs longest message time, µs
   * @param planeShares share of each plane in the bytes
   * @param linkMean mean utilisation of the links from leaves to spines, or to GPUs without spines,
   *     0 to 1
   * @param linkMost utilisation of the busiest of these links, 0 to 1
   * @param chunks number of sent chunks, including retransmissions
   * @param lost number of chunks dropped by a failed plane
   * @param events number of simulated events
   */
  record PolicyRun(
      String policy,
      double endUs,
      double goodputGbps,
      double ofIdeal,
      double messageP50Us,
      double messageP99Us,
      double messageMostUs,
      List<Double> planeShares,
      double linkMean,
      double linkMost,
      long chunks,
      long lost,
      long events) {
    static PolicyRun of(ChunkOutcome outcome, int senders) {
      return new PolicyRun(
          outcome.policy(),
          outcome.endNs() / US,
          outcome.deliveredBytes() * 8.0 / outcome.endNs() / senders,
          outcome.ofIdeal(),
          outcome.messageP50Ns() / US,
          outcome.messageP99Ns() / US,
          outcome.messageMostNs() / US,
          outcome.planeShares(),
          outcome.heat().mean(),
          outcome.heat().most(),
          outcome.chunks(),
          outcome.lost(),
          outcome.events());
    }
  }

  String table() {
    StringBuilder text = new StringBuilder();
    text.append(
        String.format(
            Locale.ROOT,
            "%,d GPUs, %s planes of %s Gbit/s, %s in groups of %,d, %s%n",
            gpus,
            planes,
            number(portGbps),
            pattern,
            group,
            situation));
    text.append(
        String.format(
            Locale.ROOT,
            "%s rounds of %,d B in chunks of %,d B, switches %s, seed %s; by %s%n%n",
            rounds,
            roundBytes,
            chunkBytes,
            switching,
            seed,
            level));
    text.append(
        "%-16s %10s %9s %8s %10s %10s %10s %9s %9s%n"
            .formatted(
                "policy",
                "end us",
                "Gbit/s",
                "of ideal",
                "p50 us",
                "p99 us",
                "worst us",
                "link mean",
                "link most"));
    for (PolicyRun each : policies) {
      text.append(
          String.format(
              Locale.ROOT,
              "%-16s %10.1f %9.1f %8.3f %10.1f %10.1f %10.1f %9.2f %9.2f%n",
              each.policy(),
              each.endUs(),
              each.goodputGbps(),
              each.ofIdeal(),
              each.messageP50Us(),
              each.messageP99Us(),
              each.messageMostUs(),
              each.linkMean(),
              each.linkMost()));
    }
    return text.toString();
  }

  static String number(double value) {
    return value == Math.rint(value) ? String.valueOf((long) value) : String.valueOf(value);
  }
}
