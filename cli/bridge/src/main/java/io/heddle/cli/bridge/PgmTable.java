package io.heddle.cli.bridge;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.PgmStatus;
import java.util.List;
import java.util.Locale;

/**
 * What a bridge's groups say by PGM: a line for each direction that carries it, and its sessions.
 */
final class PgmTable {
  private static final int MOST_SESSIONS = 10;
  private static final String FRONT = "%-24s %-5s ";
  private static final String NUMBERS = "%12s %9s %9s %9s %9s %9s %9s %9s";

  private PgmTable() {}

  /** Lines; none where no group carries PGM. */
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
        "%n" + FRONT + NUMBERS + "  %s%n",
        "pgm",
        "way",
        "data",
        "repeats",
        "skipped",
        "late",
        "repaired",
        "lost",
        "again",
        "asked",
        "sessions, and what is strange");
  }

  private static void add(StringBuilder text, BridgeStatus.Group group, PgmStatus pgm) {
    for (int side = 0; side < pgm.directions().size(); side++) {
      PgmStatus.Way way = pgm.directions().get(side);
      BridgeStatus.Direction direction = group.directions().get(side);
      String line =
          String.format(
              Locale.ROOT,
              FRONT + NUMBERS + "  %s%s",
              side == 0 ? group.group() : "",
              direction.from() + ">" + direction.to(),
              way.data(),
              way.repeats(),
              way.skipped(),
              way.late(),
              way.repaired(),
              way.lost(),
              way.duplicates(),
              way.requests(),
              way.sessions(),
              strange(way));
      text.append(line).append('\n');
    }
    List<PgmStatus.Session> sessions = pgm.sessions();
    for (PgmStatus.Session each : sessions.subList(0, Math.min(MOST_SESSIONS, sessions.size()))) {
      String line =
          String.format(
              Locale.ROOT,
              FRONT + NUMBERS + "  from %s, number %d, silent %.1f s",
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
      text.append("  and ").append(more).append(" sessions that lost no more; --json has all\n");
    }
  }

  private static String strange(PgmStatus.Way way) {
    StringBuilder text = new StringBuilder();
    count(text, "malformed", way.malformed());
    count(text, "strays", way.strays());
    count(text, "began anew", way.restarts());
    count(text, "parity", way.parity());
    count(text, "forgotten", way.evicted());
    count(text, "aged", way.aged());
    return text.toString();
  }

  private static void count(StringBuilder text, String what, long count) {
    if (count != 0) {
      text.append(", ").append(what).append(' ').append(count);
    }
  }
}
