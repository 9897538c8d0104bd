package io.heddle.cli.bridge;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What came of a test's datagrams at the other side.
 *
 * @param run the test's number, which its datagrams carry
 * @param role both: this machine sent and heard; sender: it only sent; receiver: it only heard
 * @param from its end that sends, interface and address; empty for a receiver
 * @param to its end that hears, interface and addresses; empty for a sender
 * @param count numbered datagrams to each group and way
 * @param bytes of each payload
 * @param oneClock whether one clock told when datagrams were sent and when they came; else the
 *     times are as good as both hosts' clocks agree
 * @param ways a row for each group and way
 * @param holds whether each way is as it should be; of a sender, whether all was sent
 */
record GroupTestReport(
    String run,
    String role,
    String from,
    String to,
    long count,
    int bytes,
    boolean oneClock,
    List<Way> ways,
    boolean holds) {
  /** What a way may be. */
  static final String FLOWS = "flows";

  static final String NOTHING = "nothing came";
  static final String LOSES = "loses";
  static final String TWICE = "comes twice";
  static final String DAMAGED = "damaged";
  static final String COMES_BACK = "comes back";
  static final String SHUT = "shut, as configured";
  static final String LEAKS = "comes against its direction";
  static final String SENT = "sent";

  /**
   * One group and way.
   *
   * @param group as it is named
   * @param from the fabric, or the interface where the configuration doesn't tell the fabric
   * @param to the same of the other side
   * @param sent numbered datagrams that were sent
   * @param arrived of them, those that came, each once
   * @param lost of them, those that didn't come
   * @param again copies beside the first
   * @param damaged datagrams whose CRC or bytes were wrong
   * @param cameBack datagrams that came back into the fabric that they came from
   * @param medianUs from the sender's call to the receiving system; null where none came
   * @param mostUs the longest such time
   * @param state flows, loses, nothing came, comes twice, damaged, comes back; of a way that the
   *     configuration shuts: shut, as configured, or comes against its direction; of a sender: sent
   */
  record Way(
      String group,
      String from,
      String to,
      long sent,
      long arrived,
      long lost,
      long again,
      long damaged,
      long cameBack,
      @Nullable Double medianUs,
      @Nullable Double mostUs,
      String state) {
    boolean holds() {
      return state.equals(FLOWS) || state.equals(SHUT) || state.equals(SENT);
    }
  }

  String table() {
    StringBuilder text = new StringBuilder();
    text.append("test ").append(run).append(": ").append(count).append(" datagrams of ");
    text.append(bytes).append(" bytes to each group and way");
    text.append(from.isEmpty() ? "" : ", from " + from).append(to.isEmpty() ? "" : ", to " + to);
    text.append("\n\n");
    text.append(
        String.format(
            Locale.ROOT,
            "%-24s %-15s %7s %7s %6s %6s %7s %10s %10s  %s%n",
            "group",
            "way",
            "sent",
            "arrived",
            "lost",
            "again",
            "damaged",
            "median us",
            "most us",
            "state"));
    String before = "";
    for (Way each : ways) {
      text.append(line(each, each.group().equals(before) ? "" : each.group()));
      before = each.group();
    }
    long wrong = ways.stream().filter(each -> !each.holds()).count();
    text.append('\n');
    if (role.equals("sender")) {
      text.append("all was sent; the receiver tells what came\n");
    } else if (wrong == 0) {
      text.append("every way is as it should be\n");
    } else {
      text.append(wrong).append(" of ").append(ways.size());
      text.append(
          " ways are not as they should be; heddle bridge show at the bridge tells the reasons\n");
    }
    if (!oneClock) {
      text.append("two hosts' clocks told the times\n");
    }
    return text.toString();
  }

  private static String line(Way way, String name) {
    return String.format(
        Locale.ROOT,
        "%-24s %-15s %7d %7s %6s %6d %7d %10s %10s  %s%n",
        name,
        way.from() + ">" + way.to(),
        way.sent(),
        way.state().equals(SENT) ? "-" : Long.toString(way.arrived()),
        way.state().equals(SENT) ? "-" : Long.toString(way.lost()),
        way.again(),
        way.damaged(),
        microseconds(way.medianUs()),
        microseconds(way.mostUs()),
        way.state());
  }

  private static String microseconds(@Nullable Double value) {
    return value == null ? "-" : String.format(Locale.ROOT, "%.1f", value);
  }
}
