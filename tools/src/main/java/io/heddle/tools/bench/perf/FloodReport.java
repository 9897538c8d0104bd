package io.heddle.tools.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * Report of {@code heddle perf flood}.
 *
 * @param network isolation of the hosts
 * @param planeCount number of planes of each host
 * @param mtuBytes MTU of the links
 * @param messageBytes size of each message
 * @param outstanding number of messages in flight
 * @param milliseconds duration of a measurement, ms
 * @param rounds number of rounds
 * @param packetsPerMinute number of malformed packets per minute, sent to both ranks in turn
 * @param load load averages of the last minute, before and after
 * @param calmGbps received payload in Gbit/s while the packets went to a host outside the job, one
 *     value per round
 * @param floodedGbps received payload in Gbit/s while the packets went to the job, one value per
 *     round
 * @param timesCalm flooded ÷ calm payload in each round
 * @param calmBytesPerNs received payload in bytes per ns of the ranks' processor time, while calm
 * @param floodedBytesPerNs received payload in bytes per ns of the ranks' processor time, while
 *     flooded
 * @param timesCalmPerNs flooded ÷ calm payload per processor time, in each round
 * @param packetsSent number of malformed packets sent to the job in all rounds
 * @param counted growth of the device counters for malformed packets, from the first round to the
 *     last
 */
record FloodReport(
    String network,
    int planeCount,
    int mtuBytes,
    long messageBytes,
    int outstanding,
    int milliseconds,
    int rounds,
    int packetsPerMinute,
    List<Double> load,
    List<Double> calmGbps,
    List<Double> floodedGbps,
    List<Double> timesCalm,
    List<Double> calmBytesPerNs,
    List<Double> floodedBytesPerNs,
    List<Double> timesCalmPerNs,
    long packetsSent,
    List<Counted> counted) {
  /**
   * Growth of a counter.
   *
   * @param counter name of the counter
   * @param packets growth at both ranks together
   */
  record Counted(String counter, long packets) {}

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# a job under %d malformed packets a minute: %s, %d planes, MTU %d; messages"
            + " of %d B, %d outstanding; %d ms, median of %d rounds (least to most)",
        packetsPerMinute,
        network,
        planeCount,
        mtuBytes,
        messageBytes,
        outstanding,
        milliseconds,
        rounds);
    line(text, "# load %.1f to %.1f", load.getFirst(), load.getLast());
    line(text, "# %-10s %8s %18s", "", "Gbit/s", "");
    row(text, "without", calmGbps, "%8.2f", "(%.2f to %.2f)");
    row(text, "with", floodedGbps, "%8.2f", "(%.2f to %.2f)");
    row(text, "ratio", timesCalm, "%8.3f", "(%.3f to %.3f)");
    line(text, "# %-10s %8s %18s", "", "B/ns", "of the ranks' processors");
    row(text, "without", calmBytesPerNs, "%8.3f", "(%.3f to %.3f)");
    row(text, "with", floodedBytesPerNs, "%8.3f", "(%.3f to %.3f)");
    row(text, "ratio", timesCalmPerNs, "%8.3f", "(%.3f to %.3f)");
    line(text, "# %d packets sent; counted:", packetsSent);
    counted.forEach(each -> line(text, "  %-28s %10d", each.counter(), each.packets()));
    return text.toString();
  }

  private static void row(
      StringBuilder text, String name, List<Double> values, String one, String span) {
    Quantiles spread = Quantiles.ofFinite(values);
    line(
        text,
        "  %-10s %s %18s",
        name,
        String.format(Locale.ROOT, one, spread.median()),
        String.format(Locale.ROOT, span, spread.least(), spread.most()));
  }

  private static void line(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments).stripTrailing()).append('\n');
  }
}
