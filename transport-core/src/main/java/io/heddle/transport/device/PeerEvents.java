package io.heddle.transport.device;

import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.stats.DistinctErrors;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * Log that reports an event once for all connections to a peer, of which there may be hundreds. It
 * logs the lines of the first connection. Lines of further connections that differ only in numbers
 * are traced. Once no such line has come for a while, it logs the number of the further
 * connections. Any thread.
 */
public final class PeerEvents {
  /**
   * Kind of event, with its log level and with the words of the line that counts further
   * connections.
   */
  public enum Kind {
    FAILED(Log.Level.WARN, "failed"),
    CHANNEL_PROBED(Log.Level.INFO, "probed it at its reconnect addresses"),
    CHANNEL_KEPT(Log.Level.INFO, "kept their control channel"),
    CHANNEL_SILENT(Log.Level.INFO, "received nothing on the control channel"),
    CHANNEL_REPLACED(Log.Level.INFO, "replaced the control channel"),
    CHANNEL_FOUND(Log.Level.INFO, "have a control channel again"),
    /**
     * State of one plane of a connection that fails. The line of {@link #FAILED} counts the further
     * connections.
     */
    PLANE_OF_FAILED(Log.Level.INFO, "");

    private final Log.Level level;
    private final String othersText;

    Kind(Log.Level level, String others) {
      this.level = level;
      this.othersText = others;
    }
  }

  /*
   * Time without a further report after which an event is over. NCCL polls each communicator far
   * more often, and so detects the failures of all connections within this time.
   */
  private static final long QUIET_NS = 2_000_000_000;

  /* Key of an event. Events with different words have different reasons, so each is logged. */
  private record Key(String peer, Kind kind, String words) {}

  private static final class Event {
    /* Weak references: a long-lasting event keeps no closed connection in memory. */
    private final Set<Object> connections = Collections.newSetFromMap(new WeakHashMap<>());
    private long count;
    private final Log log;
    private long lastNs;

    Event(Log log) {
      this.log = log;
    }
  }

  private final NanoClock clock;
  private final Map<Key, Event> events = new LinkedHashMap<>();

  PeerEvents(NanoClock clock) {
    this.clock = clock;
  }

  /**
   * Reports an event of a connection. A second event of the same connection starts a new report.
   *
   * @param connection compared by identity
   * @param peer name of the other end, for the log
   * @param sentences the lines to log, if this connection is the first
   */
  public void report(Kind kind, Object connection, String peer, Log log, List<String> sentences) {
    String words = DistinctErrors.withoutNumbers(String.join("; ", sentences));
    boolean first = isFirst(new Key(peer, kind, words), connection, log);
    for (String sentence : sentences) {
      if (first) {
        log.write(kind.level, sentence);
      } else {
        log.trace("%s", sentence);
      }
    }
  }

  /** Returns whether connections to this peer have failed within the last seconds. */
  public synchronized boolean hasFailed(String peer) {
    return events.keySet().stream()
        .anyMatch(key -> key.kind == Kind.FAILED && key.peer.equals(peer));
  }

  private boolean isFirst(Key key, Object connection, Log log) {
    Event over = null;
    boolean first = false;
    synchronized (this) {
      Event event = events.get(key);
      if (event == null || event.connections.contains(connection)) {
        over = event;
        first = true;
        event = new Event(log);
        events.put(key, event);
      }
      event.connections.add(connection);
      event.count++;
      event.lastNs = clock.nanoTime();
    }
    if (over != null) {
      logOthers(key, over);
    }
    return first;
  }

  private static void logOthers(Key key, Event event) {
    long others = event.count - 1;
    if (others > 0 && !key.kind.othersText.isEmpty()) {
      event.log.info(
          "%s: and %s more connection%s to this peer %s",
          key.peer, others, others == 1 ? "" : "s", key.kind.othersText);
    }
  }

  /** Logs the counts of events that have been quiet for a while. Called periodically. */
  void flushQuiet() {
    flush(QUIET_NS);
  }

  /** Logs the counts of all events, at the end. */
  void end() {
    flush(0);
  }

  private void flush(long quietNs) {
    Map<Key, Event> over;
    synchronized (this) {
      if (events.isEmpty()) {
        return;
      }
      long now = clock.nanoTime();
      over = new LinkedHashMap<>(events);
      over.values().removeIf(event -> now - event.lastNs < quietNs);
      events.keySet().removeAll(over.keySet());
    }
    over.forEach(PeerEvents::logOthers);
  }
}
