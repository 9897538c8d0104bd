package io.heddle.cli.simulate;

import io.heddle.sim.chunks.ChunkOutcome;
import java.util.List;
import java.util.Locale;

/**
 * What came of the simulated rounds.
 *
 * @param level which level of the simulation made the figures
 * @param gpus with a card each
 * @param planes of the fabric
 * @param portGbps what a port carries, Gbit/s
 * @param pattern who sends to whom
 * @param group GPUs that talk among themselves
 * @param switching how a leaf chooses the spine
 * @param roundBytes that a GPU sends in a round
 * @param rounds that were simulated
 * @param chunkBytes that policies like best
 * @param seed of all chance
 * @param situation what is bad about planes
 * @param policies side by side
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
   * One policy's figures.
   *
   * @param policy that chose planes
   * @param endUs when the last acknowledgement came, µs
   * @param goodputGbps of a GPU that sends, in the mean until then, Gbit/s
   * @param ofIdeal goodput ÷ what the ports could have carried
   * @param messageP50Us which half of the messages' times don't exceed
   * @param messageP99Us which 99 in 100 don't exceed
   * @param messageMostUs the longest
   * @param planeShares of the bytes, by plane
   * @param linkMean how busy the links are that a leaf chooses from, 0 to 1
   * @param linkMost how busy the busiest of them is
   * @param chunks that were sent, those that were sent again included
   * @param lost chunks that a plane swallowed
   * @param events of the simulation
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
