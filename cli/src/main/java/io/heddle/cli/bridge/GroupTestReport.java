package io.heddle.cli.bridge;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Results of a group test, as one machine knows them.
 *
 * @param run number of the test, which the test's datagrams contain
 * @param role both: this machine sent and received; sender: it only sent; receiver: it only
 *     received
 * @param from interface and addresses of the sending end; empty for a receiver
 * @param to interface and addresses of the receiving end; empty for a sender
 * @param count numbered datagrams to each group and direction
 * @param bytes length of each payload
 * @param oneClock whether one clock measured send and receive times; otherwise the times include
 *     the offset of both hosts' clocks
 * @param directions a row for each group and direction
 * @param passed whether each direction is as configured; always true for a sender
 */
record GroupTestReport(
    String run,
    String role,
    String from,
    String to,
    long count,
    int bytes,
    boolean oneClock,
    List<Direction> directions,
    boolean passed) {
  /* Values of Direction.state: this constant and those below it. */
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
   * One group and direction.
   *
   * @param group name of the group
   * @param from sending fabric, or the interface if the configuration doesn't identify the fabric
   * @param to receiving fabric, or the interface if the configuration doesn't identify the fabric
   * @param sent numbered datagrams that were sent
   * @param arrived sent datagrams that arrived, each counted once
   * @param lost sent datagrams that didn't arrive
   * @param duplicates repeated arrivals of these datagrams
   * @param damaged datagrams whose CRC or bytes were wrong
   * @param returned datagrams that returned into the fabric that they were sent from
   * @param medianUs median time from the sender's call to the arrival, in microseconds; null if no
   *     datagram arrived
   * @param mostUs longest time from the sender's call to the arrival, in microseconds
   * @param state flows, loses, nothing came, comes twice, damaged, comes back; for a direction that
   *     the configuration excludes: shut, as configured, or comes against its direction; for a
   *     sender: sent
   */
  record Direction(
      String group,
      String from,
      String to,
      long sent,
      long arrived,
      long lost,
      long duplicates,
      long damaged,
      long returned,
      @Nullable Double medianUs,
      @Nullable Double mostUs,
      String state) {
    boolean matchesConfiguration() {
      return state.equals(FLOWS) || state.equals(SHUT) || state.equals(SENT);
    }
  }

  String table() {
    StringBuilder text = new StringBuilder();
    text.append("test ").append(run).append(": ").append(count).append(" datagrams of ");
    text.append(bytes).append(" bytes to each group and direction");
    text.append(from.isEmpty() ? "" : ", from " + from).append(to.isEmpty() ? "" : ", to " + to);
    text.append("\n\n");
    text.append(
        String.format(
            Locale.ROOT,
            "%-24s %-15s %7s %7s %6s %6s %7s %10s %10s  %s%n",
            "group",
            "from>to",
            "sent",
            "arrived",
            "lost",
            "copies",
            "damaged",
            "median us",
            "max us",
            "state"));
    String before = "";
    for (Direction each : directions) {
      text.append(line(each, each.group().equals(before) ? "" : each.group()));
      before = each.group();
    }
    long wrong = directions.stream().filter(each -> !each.matchesConfiguration()).count();
    text.append('\n');
    if (role.equals("sender")) {
      text.append("all datagrams were sent; see the receiver's report\n");
    } else if (wrong == 0) {
      text.append("every direction is as configured\n");
    } else {
      text.append(wrong).append(" of ").append(directions.size());
      text.append(
          " directions are not as configured; heddle bridge show at the bridge has the reasons\n");
    }
    if (!oneClock) {
      text.append("the times include the offset of two hosts' clocks\n");
    }
    return text.toString();
  }

  private static String line(Direction direction, String name) {
    return String.format(
        Locale.ROOT,
        "%-24s %-15s %7d %7s %6s %6d %7d %10s %10s  %s%n",
        name,
        direction.from() + ">" + direction.to(),
        direction.sent(),
        direction.state().equals(SENT) ? "-" : Long.toString(direction.arrived()),
        direction.state().equals(SENT) ? "-" : Long.toString(direction.lost()),
        direction.duplicates(),
        direction.damaged(),
        microseconds(direction.medianUs()),
        microseconds(direction.mostUs()),
        direction.state());
  }

  private static String microseconds(@Nullable Double value) {
    return value == null ? "-" : String.format(Locale.ROOT, "%.1f", value);
  }
}
