package io.heddle.cli.stat;

import io.heddle.cli.kit.Paint;
import io.heddle.cli.kit.Units;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

/**
 * Table of flows at a given width. The least important columns are left out if the width isn't
 * enough.
 */
final class FlowTable {
  /** Width below which the table isn't narrowed, in characters. */
  static final int NARROWEST = 40;

  private static final int PEER_WIDTH = 24;
  private static final int PLANE_WIDTH = 12;

  /**
   * One column.
   *
   * @param rank rank in the order of importance, 0 for the most important; the column with the
   *     highest rank is left out first
   * @param live where the column is shown: in the live view only, in the plain table only, or in
   *     both
   */
  private record Column(
      String title, int width, int rank, Live live, Function<FlowRate, String> cell) {}

  private enum Live {
    ONLY,
    NEVER,
    BOTH
  }

  private static final List<Column> COLUMNS =
      List.of(
          new Column("dir", 3, 0, Live.BOTH, rate -> rate.now().isSend() ? "->" : "<-"),
          new Column("Gbit/s", 8, 0, Live.ONLY, rate -> format("%.3f", rate.gigabitsPerSecond())),
          new Column("share", 6, 2, Live.ONLY, rate -> Units.percent(rate.share())),
          new Column("weight", 7, 3, Live.BOTH, rate -> Integer.toString(rate.now().weight())),
          new Column("by", 14, 13, Live.BOTH, rate -> Units.cut(rate.now().weightSource(), 13)),
          new Column("since", 5, 15, Live.BOTH, rate -> since(rate.now())),
          new Column("bytes", 6, 5, Live.BOTH, rate -> Units.bytes(rate.now().bytes())),
          new Column("chunks", 6, 12, Live.BOTH, rate -> Units.count(rate.now().chunks())),
          new Column("flying", 6, 6, Live.BOTH, rate -> Units.bytes(rate.now().inFlightBytes())),
          new Column("p50", 8, 4, Live.BOTH, rate -> percentile(rate, 0.5)),
          new Column("p99", 8, 1, Live.BOTH, rate -> percentile(rate, 0.99)),
          new Column("p99.9", 8, 11, Live.BOTH, rate -> percentile(rate, 0.999)),
          new Column("ahead", 5, 9, Live.BOTH, FlowTable::ahead),
          new Column("resent/s", 8, 7, Live.ONLY, rate -> Units.count(rate.resentPerSecond())),
          new Column("resent", 6, 7, Live.NEVER, rate -> Units.count(rate.now().resentPackets())),
          new Column("dup", 5, 14, Live.BOTH, rate -> Units.count(rate.now().duplicates())),
          new Column("failover", 8, 8, Live.BOTH, rate -> Units.count(rate.now().failovers())),
          new Column("moved", 6, 10, Live.BOTH, rate -> Units.bytes(rate.now().movedBytes())),
          new Column("puts", 6, 16, Live.BOTH, rate -> some(rate.now().oneSided().puts())),
          new Column("signals", 7, 17, Live.BOTH, rate -> some(rate.now().oneSided().signals())),
          new Column("gets", 6, 18, Live.BOTH, rate -> some(rate.now().oneSided().gets())));

  private final List<Column> columns;
  private final int peerWidth;
  private final Paint paint;

  /**
   * Creates a table.
   *
   * @param width characters per line
   * @param live whether it is the live view, which shows rates
   */
  FlowTable(int width, boolean live, Paint paint) {
    this.paint = paint;
    List<Column> kept =
        new ArrayList<>(
            COLUMNS.stream()
                .filter(column -> column.live != (live ? Live.NEVER : Live.ONLY))
                .toList());
    while (width(kept) + 12 + PLANE_WIDTH + 1 > width && kept.size() > 1) {
      kept.remove(kept.stream().max(Comparator.comparingInt(Column::rank)).orElseThrow());
    }
    columns = kept;
    peerWidth = Math.clamp(width - width(kept) - PLANE_WIDTH - 1, 4, 2 * PEER_WIDTH);
  }

  private static int width(List<Column> columns) {
    return columns.stream().mapToInt(column -> column.width + 1).sum();
  }

  String header() {
    StringBuilder line = new StringBuilder();
    line.append(left("peer", peerWidth)).append(' ').append(left("plane", PLANE_WIDTH));
    columns.forEach(column -> line.append(' ').append(right(column.title, column.width)));
    return paint.bold(line.toString());
  }

  String line(FlowRate rate) {
    StringBuilder line = new StringBuilder();
    line.append(left(peer(rate.now().key().peer()), peerWidth))
        .append(' ')
        .append(left(rate.now().key().plane(), PLANE_WIDTH));
    for (Column column : columns) {
      line.append(' ').append(right(column.cell.apply(rate), column.width));
    }
    return colour(rate, line.toString());
  }

  /*
   * Returns a peer's name, cut at its beginning if it is too long: names of processes on one host
   * differ at the end.
   */
  private String peer(String name) {
    int more = name.length() - peerWidth;
    return more > 0 && name.contains(" pid ") ? "…" + name.substring(more + 1) : name;
  }

  /*
   * Colours the line of a flow: red if its plane failed, yellow if the plane loses packets or
   * failed earlier, dim if no communicator is open.
   */
  private String colour(FlowRate rate, String line) {
    if (rate.isUnused()) {
      return paint.red(line);
    }
    if (rate.resentPerSecond() > 0 || rate.now().failovers() > 0) {
      return paint.yellow(line);
    }
    return rate.now().communicators() == 0 ? paint.dim(line) : line;
  }

  private static String percentile(FlowRate rate, double part) {
    return Units.time(rate.latencies().percentileNs(part));
  }

  /* Returns a count of one-sided operations; an empty text for 0, since most jobs have none. */
  private static String some(long count) {
    return count == 0 ? "" : Units.count(count);
  }

  private static String ahead(FlowRate rate) {
    return rate.now().isSend() ? "" : Integer.toString(rate.now().aheadAtMost(0.99));
  }

  private static String since(Flow flow) {
    return flow.weightSinceMs() == 0
        ? ""
        : Units.age(System.currentTimeMillis() - flow.weightSinceMs());
  }

  private static String format(String format, double value) {
    return String.format(java.util.Locale.ROOT, format, value);
  }

  private static String left(String text, int width) {
    return String.format("%-" + width + "s", Units.cut(text, width));
  }

  private static String right(String text, int width) {
    return String.format("%" + width + "s", Units.cut(text, width));
  }
}
