package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * Report of {@code heddle perf policies}.
 *
 * @param planeCount number of planes of each host
 * @param rateGbps rate of a plane's links, Gbit/s
 * @param mtuBytes MTU of the links
 * @param messageBytes size of each message
 * @param outstanding number of messages in flight
 * @param milliseconds duration of a measurement, ms
 * @param rounds number of rounds
 * @param payloadShare share of payload in the wire bytes of a full packet. It is the goodput that a
 *     link ideally reaches, as a share of its rate.
 * @param load load averages of the last minute, before and after
 */
record PolicyReport(
    int planeCount,
    double rateGbps,
    int mtuBytes,
    long messageBytes,
    int outstanding,
    int milliseconds,
    int rounds,
    double payloadShare,
    List<Double> load,
    List<Situation> situations) {
  /**
   * Results of all policies in one situation.
   *
   * @param name name of the situation
   * @param text state of the planes
   */
  record Situation(String name, String text, List<Cell> policies) {}

  /**
   * Result of one policy, with one value per round in each list.
   *
   * @param policy spray policy
   * @param goodputGbps received payload, Gbit/s
   * @param ofIdeal goodput ÷ payload capacity of all planes together
   * @param messageP99Ms 99th percentile of the message times, ms
   * @param planeShares share of each plane in the packets that the spines received, one list of all
   *     planes per round
   */
  record Cell(
      String policy,
      List<Double> goodputGbps,
      List<Double> ofIdeal,
      List<Double> messageP99Ms,
      List<List<Double>> planeShares) {}

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# %d planes of %.2f Gbit/s through leaves and spines, MTU %d; messages of %d B, %d"
            + " outstanding; %d ms, median of %d rounds (least to most)",
        planeCount,
        rateGbps,
        mtuBytes,
        messageBytes,
        outstanding,
        milliseconds,
        rounds);
    line(
        text,
        "# ideal: rate of all planes in that time, of which %.1f %% is payload; load %.1f to %.1f",
        payloadShare * 100,
        load.getFirst(),
        load.getLast());
    for (Situation situation : situations) {
      line(text, "#");
      line(text, "# %s: %s", situation.name(), situation.text());
      line(
          text,
          "# %-16s %8s %8s %16s %12s %18s",
          "policy",
          "Gbit/s",
          "÷ ideal",
          "",
          "message p99",
          "ms");
      for (Cell cell : situation.policies()) {
        Quantiles ofIdeal = Quantiles.ofFinite(cell.ofIdeal());
        Quantiles messageP99Ms = Quantiles.ofFinite(cell.messageP99Ms());
        line(
            text,
            "  %-16s %8.3f %8.3f %16s %12.1f %18s",
            cell.policy(),
            Quantiles.ofFinite(cell.goodputGbps()).median(),
            ofIdeal.median(),
            String.format(Locale.ROOT, "(%.3f to %.3f)", ofIdeal.least(), ofIdeal.most()),
            messageP99Ms.median(),
            String.format(
                Locale.ROOT, "(%.1f to %.1f)", messageP99Ms.least(), messageP99Ms.most()));
      }
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
