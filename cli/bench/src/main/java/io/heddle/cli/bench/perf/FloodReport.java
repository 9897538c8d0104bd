package io.heddle.cli.bench.perf;

import java.util.List;
import java.util.Locale;

/**
 * What {@code heddle perf flood} found.
 *
 * @param network how hosts were kept apart
 * @param planeCount planes of each host
 * @param mtuBytes of the links
 * @param messageBytes size of each message
 * @param outstanding messages under way
 * @param milliseconds how long a measurement lasted
 * @param rounds how often each was measured
 * @param packetsPerMinute malformed packets, to both ranks in turn
 * @param load of the machine before and after, mean of a minute
 * @param calmGbps payload that arrived while they went to a host outside the job, a number a round
 * @param floodedGbps payload that arrived beside them
 * @param besideCalm with them ÷ without, of the same round
 * @param calmBytesPerNs payload that arrived a ns of the ranks' processors, without them
 * @param floodedBytesPerNs the same beside them
 * @param besideCalmPerNs with them ÷ without, of the same round
 * @param packetsSent malformed packets to the job in all
 * @param counted what the ranks' devices counted from the first round to the last, each counter of
 *     such packets
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
    List<Double> besideCalm,
    List<Double> calmBytesPerNs,
    List<Double> floodedBytesPerNs,
    List<Double> besideCalmPerNs,
    long packetsSent,
    List<Counted> counted) {
  /**
   * How many, by name.
   *
   * @param counter as the page of counters has it
   * @param packets by which it grew, at both ranks
   */
  record Counted(String counter, long packets) {}

  String table() {
    StringBuilder text = new StringBuilder();
    line(
        text,
        "# a job beside %d malformed packets a minute: %s, %d planes, MTU %d; messages"
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
    row(text, "ratio", besideCalm, "%8.3f", "(%.3f to %.3f)");
    line(text, "# %-10s %8s %18s", "", "B/ns", "of the ranks' processors");
    row(text, "without", calmBytesPerNs, "%8.3f", "(%.3f to %.3f)");
    row(text, "with", floodedBytesPerNs, "%8.3f", "(%.3f to %.3f)");
    row(text, "ratio", besideCalmPerNs, "%8.3f", "(%.3f to %.3f)");
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
