package io.heddle.perftest;

import io.heddle.verbs.PathMtu;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.List;
import java.util.Locale;

/** perftest's tables on standard output, column by column, followed by Heddle's additions. */
final class ReportText {
  private static final String RULE = "-".repeat(87);
  private static final double FEW_GIGABITS = 0.1;
  private static final double[] PERCENTS = {50, 90, 95, 99, 99.9, 99.99};

  private final PrintWriter out;
  private final Settings settings;
  private final boolean whole;

  ReportText(PrintWriter out, Settings settings) {
    this.out = out;
    this.settings = settings;
    whole = settings.output().isFullReport();
  }

  private void line(String format, Object... values) {
    out.println(values.length == 0 ? format : String.format(Locale.ROOT, format, values));
    out.flush();
  }

  /**
   * Formats a number as perftest's printf(3) does: it rounds the double's exact value, and ties to
   * even. Java's Formatter rounds the shortest decimal of the double, and ties up. With Java's
   * Formatter, 25390.625 would be 25390.63 here, but 25390.62 at perftest's end.
   */
  static String fixed(double value, int places) {
    return Double.isFinite(value)
        ? new BigDecimal(value).setScale(places, RoundingMode.HALF_EVEN).toPlainString()
        : Double.toString(value);
  }

  void printWaiting() {
    if (whole) {
      String stars = "*".repeat(36);
      line("%n%s%n* Waiting for client to connect... *%n%s", stars, stars);
    }
  }

  void test(TestDevice device, TestQueues queues, PathMtu mtu, String peerVersion) {
    if (!whole) {
      return;
    }
    Settings.Traffic traffic = settings.traffic();
    String title = settings.kind().title();
    line(RULE);
    line(
        "                    %s",
        traffic.bidirectional() ? title.replace("BW", "Bidirectional BW") : title);
    line(" Dual-port       : OFF\t\tDevice         : %s", device.name());
    line(" Number of qps   : %d\t\tTransport type : IB", queues.count());
    line(" Connection type : RC\t\tUsing SRQ      : OFF");
    line(" Peer            : perftest %s", peerVersion);
    if (settings.sends()) {
      line(" TX depth        : %d", traffic.sendDepth());
    }
    if (traffic.postList() > 1) {
      line(" Post List       : %d", traffic.postList());
    }
    if (settings.receives()) {
      line(" RX depth        : %d", traffic.receiveDepth());
    }
    if (!settings.kind().isLatency()) {
      line(" CQ Moderation   : %d", traffic.moderation());
    }
    line(" Mtu             : %d[B]", mtu.bytes());
    line(" Link type       : %s", device.linkType());
    if (queues.lanes().size() == 1 && queues.lanes().getFirst().key().isEmpty()) {
      line(" GID index       : %d", queues.lanes().getFirst().gidIndex());
    }
    if (settings.kind().isRead()) {
      line(" Outstand reads  : %d", queues.own(0).outstandingReads());
    } else {
      line(" Max inline data : %d[B]", queues.inlineBytes());
    }
    line(" rdma_cm QPs\t : OFF");
    line(" Data ex. method : Ethernet");
    line(RULE);
  }

  void addresses(String side, QueuePairRecord record) {
    if (!whole) {
      return;
    }
    String keys =
        settings.kind().isSend()
            ? ""
            : String.format(
                Locale.ROOT, " RKey %#08x VAddr %#016x", record.rkey(), record.address());
    line(
        " %s address: LID %#06x QPN %#06x PSN %#06x%s",
        side, record.localIdentifier(), record.queuePairNumber(), record.psn(), keys);
    line(" GID: %s", record.gid());
  }

  void header() {
    if (!whole) {
      return;
    }
    line(RULE);
    if (!settings.kind().isLatency()) {
      String unit = settings.output().gigabits() ? "Gb/sec" : "MiB/sec";
      line(" #bytes     #iterations    BW peak[%s]    BW average[%s]   MsgRate[Mpps]", unit, unit);
    } else if (settings.traffic().isTimed()) {
      line(" #bytes        #iterations       t_avg[usec]    tps average");
    } else {
      line(
          " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]   "
              + " t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ");
    }
  }

  void row(BandwidthReport report) {
    String only = settings.output().only();
    if (only != null) {
      line("%s", fixed(only.equals("message_rate") ? report.messageRate() : report.average(), 6));
      return;
    }
    boolean fine = settings.output().gigabits() && report.average() < FEW_GIGABITS;
    int places = fine ? 6 : 2;
    line(
        " %-7d    %-10d       %-7s            %-7s\t\t     %-7s",
        report.sizeBytes(),
        report.iterations(),
        fixed(report.peak(), places),
        fixed(report.average(), places),
        fixed(report.messageRate(), 6));
  }

  void row(LatencyResult result) {
    if (!whole) {
      line("%s", fixed(result.averageUs(), 6));
    } else if (settings.traffic().isTimed()) {
      line(
          " %-7d       %d            %-7s        %-7s",
          result.sizeBytes(),
          result.iterations(),
          fixed(result.averageUs(), 2),
          fixed(result.perSecond(), 2));
    } else {
      line(
          " %-7d %d          %-7s        %-7s      %-7s  \t       %-7s     \t%-7s\t"
              + "\t%-7s \t\t%-7s",
          result.sizeBytes(),
          result.iterations(),
          fixed(result.leastUs(), 2),
          fixed(result.mostUs(), 2),
          fixed(result.typicalUs(), 2),
          fixed(result.averageUs(), 2),
          fixed(result.deviationUs(), 2),
          fixed(result.percentile99Us(), 2),
          fixed(result.percentile999Us(), 2));
    }
  }

  /** Prints every half round trip in order of time, as option {@code -U} requests. */
  void values(LatencyResult result) {
    if (whole && settings.output().unsorted()) {
      line("#, usec");
      for (int i = 0; i < result.values().length; i++) {
        line("%d, %.3f", i + 1, result.values()[i]);
      }
    }
  }

  void percentiles(Distribution distribution, String what) {
    if (!whole || !settings.output().percentiles() || distribution.count() == 0) {
      return;
    }
    StringBuilder text = new StringBuilder();
    for (double percent : PERCENTS) {
      text.append(
          String.format(
              Locale.ROOT, "%s%% %.2f  ", number(percent), distribution.percentileUs(percent)));
    }
    line(
        " %s[usec]: min %.2f  %smax %.2f",
        what, distribution.leastUs(), text, distribution.mostUs());
  }

  private static String number(double percent) {
    return percent == Math.rint(percent) ? Long.toString((long) percent) : Double.toString(percent);
  }

  /** Prints a row for each plane with its traffic. */
  void planes(List<Lane> lanes, BandwidthResult result) {
    if (!whole || lanes.getFirst().key().isEmpty()) {
      return;
    }
    boolean gigabits = settings.output().gigabits();
    double unit = BandwidthResult.unitBytes(gigabits);
    long all = 0;
    for (long bytes : result.laneBytes()) {
      all += bytes;
    }
    line(
        " #plane               address                                 #messages  %%bytes   BW"
            + " average[%s]",
        gigabits ? "Gb/sec" : "MiB/sec");
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.get(i);
      line(
          " %-20s %-39s %-10d %-8.2f %-7.2f",
          lane.key(),
          lane.gid(),
          result.laneMessages()[i],
          all == 0 ? 0.0 : 100.0 * result.laneBytes()[i] / all,
          result.perSecond(result.laneBytes()[i]) / unit);
    }
  }

  /** Prints a row for each plane with its half round trips. */
  void planes(List<Lane> lanes, List<LatencyResult> results) {
    if (!whole || lanes.getFirst().key().isEmpty()) {
      return;
    }
    line(
        " #plane               address                                 t_min[usec]  t_typical[usec]"
            + "  t_avg[usec]  99% percentile[usec]");
    for (int i = 0; i < lanes.size(); i++) {
      LatencyResult result = results.get(i);
      line(
          " %-20s %-39s %-12.2f %-16.2f %-12.2f %-7.2f",
          lanes.get(i).key(),
          lanes.get(i).gid(),
          result.leastUs(),
          result.typicalUs(),
          result.averageUs(),
          result.percentile99Us());
    }
  }

  void end() {
    if (whole) {
      line(RULE);
    }
  }
}
