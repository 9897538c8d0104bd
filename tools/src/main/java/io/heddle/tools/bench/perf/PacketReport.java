package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * Report of {@code heddle perf packet}.
 *
 * @param network isolation of the hosts
 * @param planeCount number of planes of each host
 * @param mtuBytes MTU of the links
 * @param messageBytes size of each message
 * @param outstanding number of messages in flight
 * @param milliseconds duration of a measurement, ms
 * @param rounds number of rounds
 * @param loss share of packets that are lost in the rows with loss
 * @param load load averages of the last minute, before and after
 */
record PacketReport(
    String network,
    int planeCount,
    int mtuBytes,
    long messageBytes,
    int outstanding,
    int milliseconds,
    int rounds,
    double loss,
    List<Double> load,
    List<Row> rows) {
  /**
   * Result of one contestant. Each list has one value per round; values at the same index are from
   * the same round.
   *
   * @param contestant name of the spray policy, or go-back-N
   * @param loss share of packets that are lost; 0 for none
   * @param goodputGbps received payload, Gbit/s
   * @param timesSpray goodput ÷ goodput of policy spray without loss
   * @param timesLossless goodput ÷ goodput of the same contestant without loss
   */
  record Row(
      String contestant,
      double loss,
      List<Double> goodputGbps,
      List<Double> timesSpray,
      List<Double> timesLossless) {}

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# one queue pair over %d planes (packet) beside one for each (spray): %s, MTU %d; messages"
            + " of %d B, %d outstanding; %d ms, median of %d rounds (least to most)",
        planeCount,
        network,
        mtuBytes,
        messageBytes,
        outstanding,
        milliseconds,
        rounds);
    line(
        text,
        "# packets are dropped at the receiver, acknowledgements too; go-back-N is spray between"
            + " devices that treat each other as standard devices; load %.1f to %.1f",
        load.getFirst(),
        load.getLast());
    line(
        text,
        "# %-12s %7s %8s %18s %16s %16s",
        "",
        "loss",
        "Gbit/s",
        "",
        "÷ spray",
        "÷ own lossless");
    for (Row row : rows) {
      Quantiles goodput = Quantiles.ofFinite(row.goodputGbps());
      line(
          text,
          "  %-12s %6.2f%% %8.2f %18s %16.3f %16.3f",
          row.contestant(),
          row.loss() * 100,
          goodput.median(),
          String.format(Locale.ROOT, "(%.2f to %.2f)", goodput.least(), goodput.most()),
          Quantiles.ofFinite(row.timesSpray()).median(),
          Quantiles.ofFinite(row.timesLossless()).median());
    }
    return text.toString();
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
