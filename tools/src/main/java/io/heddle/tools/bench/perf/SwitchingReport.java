package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * Report of {@code heddle perf switching}.
 *
 * @param links number of parallel links between two leaves, one over each spine
 * @param rateGbps rate of a link, Gbit/s
 * @param mtuBytes MTU of the links
 * @param messageBytes size of each message
 * @param outstanding number of messages in flight
 * @param milliseconds duration of a measurement, ms
 * @param rounds number of rounds
 * @param guestRateGbps rate of a link while rxe was measured, Gbit/s
 * @param rxeSkipped reason why rxe was requested but not measured; empty otherwise
 * @param payloadShare share of payload in the wire bytes of a full packet. It is the goodput that a
 *     link ideally reaches, as a share of its rate. Rxe's packets are smaller and have another
 *     share.
 * @param implementation implementation of the switches: bpf or nft
 * @param perPacket whether hosts sent single packets instead of segment trains
 * @param load load averages of the last minute, before and after
 */
record SwitchingReport(
    int links,
    double rateGbps,
    int mtuBytes,
    long messageBytes,
    int outstanding,
    int milliseconds,
    int rounds,
    double guestRateGbps,
    String rxeSkipped,
    double payloadShare,
    String implementation,
    boolean perPacket,
    List<Double> load,
    List<Situation> situations) {
  /**
   * Results for one state of the links.
   *
   * @param name name of the state: equal or quarter
   * @param text state of the links
   */
  record Situation(String name, String text, List<Cell> cells) {}

  /**
   * Result of one policy of the hosts in one switching mode, with one value per round in each list.
   *
   * @param policy spray policy; standard: go-back-N as to standard devices, without ECN; rxe: the
   *     kernel's devices
   * @param switching switching mode: hash, spray or spraylink
   * @param goodputGbps received payload, Gbit/s
   * @param ofCapacity goodput ÷ payload capacity of all links together
   * @param ofHash goodput ÷ goodput of the same policy with hashing switches in the same round
   * @param messageP99Ms 99th percentile of the message times, ms; null for rxe
   * @param spuriousRetransmissions share of needless retransmissions, whose first copy had arrived,
   *     in the sent packets
   * @param marked share of ECN-marked packets in all packets that the switches balanced
   */
  record Cell(
      String policy,
      String switching,
      List<Double> goodputGbps,
      List<Double> ofCapacity,
      List<Double> ofHash,
      List<Double> messageP99Ms,
      List<Double> spuriousRetransmissions,
      List<Double> marked) {}

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# %d links of %.2f Gbit/s between two leaves, MTU %d; messages of %d B, %d outstanding;"
            + " %d ms, median of %d rounds (least to most)",
        links,
        rateGbps,
        mtuBytes,
        messageBytes,
        outstanding,
        milliseconds,
        rounds);
    line(
        text,
        "# switched by %s, %s; capacity: rate of all links, of which %.1f %% is payload; load %.1f"
            + " to %.1f",
        implementation,
        perPacket ? "single packets" : "trains",
        payloadShare * 100,
        load.getFirst(),
        load.getLast());
    if (situations.stream()
        .flatMap(each -> each.cells().stream())
        .anyMatch(cell -> cell.policy().equals(PerfSwitchingCommand.RXE))) {
      line(text, "# rxe: links of %.3f Gbit/s, the kernel's devices in a guest", guestRateGbps);
    }
    if (!rxeSkipped.isEmpty()) {
      line(text, "# without rxe: %s", rxeSkipped);
    }
    for (Situation situation : situations) {
      line(text, "#");
      line(text, "# %s: %s", situation.name(), situation.text());
      line(
          text,
          "# %-9s %-10s %8s %10s %16s %8s %12s %10s %8s",
          "policy",
          "switching",
          "Gbit/s",
          "÷ capacity",
          "",
          "÷ hash",
          "message p99",
          "needless",
          "marked");
      for (Cell cell : situation.cells()) {
        Quantiles ofCapacity = Quantiles.ofFinite(cell.ofCapacity());
        line(
            text,
            "  %-9s %-10s %8.3f %10.3f %16s %8.3f %12s %8.3f %% %6.1f %%",
            cell.policy(),
            cell.switching(),
            median(cell.goodputGbps()),
            ofCapacity.median(),
            String.format(Locale.ROOT, "(%.3f to %.3f)", ofCapacity.least(), ofCapacity.most()),
            median(cell.ofHash()),
            milliseconds(median(cell.messageP99Ms())),
            median(cell.spuriousRetransmissions()) * 100,
            median(cell.marked()) * 100);
      }
    }
    return text.toString();
  }

  private static String milliseconds(double value) {
    return Double.isNaN(value) ? "–" : String.format(Locale.ROOT, "%.1f ms", value);
  }

  private static double median(List<Double> values) {
    return Quantiles.ofFinite(values).median();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
