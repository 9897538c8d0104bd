package io.heddle.transport.device;

import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Log of planes that connections leave and rejoin, and of silent peers. It has one line per peer
 * and plane: a plane fails for all connections to the peer at once, perhaps hundreds. Each
 * connection's own change is traced. Control thread.
 */
public final class PlaneLog {
  /** Connection in this log. */
  public interface Source {
    /** Returns the other end's name for the log. */
    String peer();
  }

  /** Plane to a peer, by the names of both in the log. */
  private record PeerPlane(String peer, String plane) {}

  /* Delays of the reminders of an absence: a minute, ten minutes, then an hour each. */
  private static final long FIRST_REMINDER_NS = 60_000_000_000L;
  private static final long LONGEST_REMINDER_NS = 3600_000_000_000L;

  /**
   * Absence of a plane, from the time when the first connection leaves it until all have rejoined
   * it.
   */
  private static final class Absence {
    private final long beganNs;
    private long reminderNs = FIRST_REMINDER_NS;
    private final Set<Source> away = new HashSet<>();
    private final Set<Source> everAway = new HashSet<>();
    /*
     * Number of connections that left the plane and ended before all had rejoined it. Only the
     * number is kept, so that no ended connection stays in memory.
     */
    private int endedCount;

    Absence(long beganNs) {
      this.beganNs = beganNs;
    }
  }

  private final NanoClock clock;
  private final Map<PeerPlane, Absence> absences = new HashMap<>();
  private final Map<String, Set<Source>> silences = new HashMap<>();

  PlaneLog(NanoClock clock) {
    this.clock = clock;
  }

  /**
   * Logs that a connection leaves a plane.
   *
   * @param plane description of the plane, with its addresses
   * @param ends whether the peer's connections end anyway. The line is then no warning: NCCL keeps
   *     the last warning as its last error, which must be about the connections
   */
  public void logLost(Source connection, String plane, String cause, boolean ends, Log log) {
    PeerPlane key = new PeerPlane(connection.peer(), plane);
    Absence absence = absences.get(key);
    if (absence == null) {
      log.write(
          ends ? Log.Level.INFO : Log.Level.WARN,
          "%s: moving off %s: %s".formatted(key.peer(), plane, cause));
      absence = new Absence(clock.nanoTime());
      absences.put(key, absence);
    } else {
      log.trace("%s: another connection is moving off %s: %s", key.peer(), plane, cause);
    }
    absence.away.add(connection);
    absence.everAway.add(connection);
  }

  /**
   * Logs that a plane is still away: after a minute, ten minutes, an hour, and then each hour, once
   * for all connections to the peer.
   *
   * @param plane description of the plane, as it was passed to {@link #logLost}
   * @param cause reason for leaving the plane
   * @param againNs time until the next retry
   */
  public void logStillDown(Source connection, String plane, String cause, long againNs, Log log) {
    Absence absence = absences.get(new PeerPlane(connection.peer(), plane));
    if (absence == null) {
      return;
    }
    long awayNs = clock.nanoTime() - absence.beganNs;
    if (awayNs < absence.reminderNs) {
      return;
    }
    log.info(
        "%s: %s has been away for %s s (%s), and is tried again in %s ms",
        connection.peer(), plane, awayNs / 1_000_000_000, cause, againNs / 1_000_000);
    absence.reminderNs =
        absence.reminderNs < LONGEST_REMINDER_NS
            ? Math.min(absence.reminderNs * 10, LONGEST_REMINDER_NS)
            : absence.reminderNs + LONGEST_REMINDER_NS;
  }

  /**
   * Logs that a connection has rejoined the plane.
   *
   * @param plane description of the plane, as it was passed to {@link #logLost}
   * @param now description of the plane, with its present addresses
   */
  public void logReturned(Source connection, String plane, String now, Log log) {
    PeerPlane key = new PeerPlane(connection.peer(), plane);
    Absence absence = absences.get(key);
    if (absence == null || !absence.away.remove(connection)) {
      return;
    }
    if (!absence.away.isEmpty()) {
      log.trace(
          "%s: a connection is back on %s, %s are not yet", key.peer(), now, absence.away.size());
      return;
    }
    absences.remove(key);
    int connections = absence.everAway.size() + absence.endedCount;
    log.info(
        "%s: back on %s after %s ms%s%s",
        key.peer(),
        now,
        (clock.nanoTime() - absence.beganNs) / 1_000_000,
        now.equals(plane) ? "" : ", in place of " + plane,
        connections == 1 ? "" : ", with " + connections + " connections");
  }

  /**
   * Logs that the peer doesn't answer a connection on any plane, and that the connection waits for
   * the peer.
   */
  public void logSilent(Source connection, long silentNs, long graceNs, Log log) {
    Set<Source> waiting = silences.computeIfAbsent(connection.peer(), peer -> new HashSet<>());
    if (waiting.isEmpty()) {
      log.info(
          "%s is silent on all planes for %s ms: waiting for it, for up to %s ms",
          connection.peer(), silentNs / 1_000_000, graceNs / 1_000_000);
    }
    waiting.add(connection);
  }

  /** Logs that the peer answers the connection again. */
  public void logAnswering(Source connection, long silentNs, Log log) {
    Set<Source> waiting = silences.getOrDefault(connection.peer(), Set.of());
    if (waiting.contains(connection)) {
      waiting.remove(connection);
      if (waiting.isEmpty()) {
        silences.remove(connection.peer());
        log.info(
            "%s answers again, after %s ms of silence on all planes",
            connection.peer(), silentNs / 1_000_000);
      }
    }
  }

  /** Forgets a connection that ends; the others are logged as before. */
  public void forget(Source connection) {
    for (Absence absence : absences.values()) {
      absence.away.remove(connection);
      absence.endedCount += absence.everAway.remove(connection) ? 1 : 0;
    }
    absences.values().removeIf(absence -> absence.away.isEmpty());
    silences.values().forEach(waiting -> waiting.remove(connection));
    silences.values().removeIf(Set::isEmpty);
  }
}
