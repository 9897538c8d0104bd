package io.heddle.cli.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * What {@code heddle perf switching} found.
 *
 * @param links equal links between two leaves, one over each spine
 * @param rateGbps what a link carries
 * @param mtuBytes of the links
 * @param messageBytes size of each message
 * @param outstanding messages under way
 * @param milliseconds how long a measurement lasted
 * @param rounds how often each was measured
 * @param guestRateGbps what a link carried while rxe was measured
 * @param rxeSkipped why rxe wasn't measured though it was asked for; empty where it was
 * @param payloadShare of a full packet's bytes on the wire: what is ideal; rxe's packets are
 *     smaller
 * @param means bpf or nft: by what the switches chose
 * @param perPacket whether hosts sent single packets instead of trains
 * @param load of the machine before and after, mean of a minute
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
    String means,
    boolean perPacket,
    List<Double> load,
    List<Situation> situations) {
  /**
   * All that was measured while links had these rates.
   *
   * @param name equal or quarter
   * @param text what the links do in it
   */
  record Situation(String name, String text, List<Cell> cells) {}

  /**
   * One policy of the hosts under one way of switching; a number a round.
   *
   * @param policy that chose planes; standard: go-back-N as with standard devices, nothing marked;
   *     rxe: the kernel's devices
   * @param switching hash, spray or spraylink
   * @param goodputGbps payload that arrived
   * @param ofCapacity goodput ÷ what all links together could carry of payload
   * @param ofHash goodput ÷ the same policy's under hash in that round
   * @param messageP99Ms time of a message which 99 in 100 don't exceed; null of rxe
   * @param inVain packets that were sent again though the first had arrived, ÷ packets sent
   * @param marked packets with a mark ÷ all that a leaf had to choose for
   */
  record Cell(
      String policy,
      String switching,
      List<Double> goodputGbps,
      List<Double> ofCapacity,
      List<Double> ofHash,
      List<Double> messageP99Ms,
      List<Double> inVain,
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
        "# switched by %s, %s; capacity: all links' rate, %.1f %% of which payload; load %.1f to"
            + " %.1f",
        means,
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
          "in vain",
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
            median(cell.inVain()) * 100,
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
