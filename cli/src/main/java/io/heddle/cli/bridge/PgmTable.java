package io.heddle.cli.bridge;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.PgmStatus;
import java.util.List;
import java.util.Locale;

/**
 * Table of the groups' PGM counters: one line for each direction of a group that carries PGM, and
 * lines for the group's sessions.
 */
final class PgmTable {
  private static final int MOST_SESSIONS = 10;
  private static final String NAMES = "%-24s %-7s ";
  private static final String NUMBERS = "%12s %9s %9s %9s %9s %9s %9s %9s";

  private PgmTable() {}

  /** Returns the lines; none if no group carries PGM. */
  static String of(BridgeStatus status) {
    StringBuilder text = new StringBuilder();
    for (BridgeStatus.Group each : status.groups()) {
      PgmStatus pgm = each.pgm();
      if (pgm != null) {
        if (text.isEmpty()) {
          text.append(head());
        }
        add(text, each, pgm);
      }
    }
    return text.toString();
  }

  private static String head() {
    return String.format(
        Locale.ROOT,
        "%n" + NAMES + NUMBERS + "  %s%n",
        "pgm",
        "from>to",
        "data",
        "repairs",
        "skipped",
        "late",
        "repaired",
        "lost",
        "dup",
        "naks",
        "sessions, anomalies");
  }

  private static void add(StringBuilder text, BridgeStatus.Group group, PgmStatus pgm) {
    for (int side = 0; side < pgm.directions().size(); side++) {
      PgmStatus.Direction counters = pgm.directions().get(side);
      BridgeStatus.Direction direction = group.directions().get(side);
      String line =
          String.format(
              Locale.ROOT,
              NAMES + NUMBERS + "  %s%s",
              side == 0 ? group.group() : "",
              direction.from() + ">" + direction.to(),
              counters.data(),
              counters.repeats(),
              counters.skipped(),
              counters.late(),
              counters.repaired(),
              counters.lost(),
              counters.duplicates(),
              counters.requests(),
              counters.sessions(),
              anomalies(counters));
      text.append(line).append('\n');
    }
    List<PgmStatus.Session> sessions = pgm.sessions();
    for (PgmStatus.Session each : sessions.subList(0, Math.min(MOST_SESSIONS, sessions.size()))) {
      String line =
          String.format(
              Locale.ROOT,
              NAMES + NUMBERS + "  from %s, number %d, silent %.1f s",
              "  " + each.session(),
              each.from(),
              each.data(),
              each.repeats(),
              each.skipped(),
              each.late(),
              each.repaired(),
              each.lost(),
              each.duplicates(),
              each.requests(),
              each.source(),
              each.lead(),
              each.silentSeconds());
      text.append(line).append('\n');
    }
    if (sessions.size() > MOST_SESSIONS) {
      int more = sessions.size() - MOST_SESSIONS;
      text.append("  and ")
          .append(more)
          .append(" more sessions with fewer losses; --json has all\n");
    }
  }

  private static String anomalies(PgmStatus.Direction counters) {
    StringBuilder text = new StringBuilder();
    count(text, "malformed", counters.malformed());
    count(text, "strays", counters.strays());
    count(text, "restarts", counters.restarts());
    count(text, "parity", counters.parity());
    count(text, "evicted", counters.evicted());
    count(text, "expired", counters.aged());
    return text.toString();
  }

  private static void count(StringBuilder text, String what, long count) {
    if (count != 0) {
      text.append(", ").append(what).append(' ').append(count);
    }
  }
}
