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
 * Tells once of what happens to all connections to a peer, of which there may be hundreds. The
 * first is told; others of which the same is to be said, but for numbers, are traced, and counted
 * once no other has followed for a while. Any thread.
 */
public final class PeerEvents {
  /** What can happen, and how the others are told of. */
  public enum Kind {
    FAILED(Log.Level.WARN, "failed"),
    DOUBTED(Log.Level.INFO, "asked at its doors"),
    HEARD(Log.Level.INFO, "went on by the same control channel"),
    UNHEARD(Log.Level.INFO, "heard nothing on the control channel"),
    RENEWED(Log.Level.INFO, "made the control channel anew"),
    FOUND(Log.Level.INFO, "found a control channel again"),
    /** Of each plane of a connection that fails: its number is told with that. */
    WITHOUT_PLANES(Log.Level.INFO, "");

    private final Log.Level level;
    private final String others;

    Kind(Log.Level level, String others) {
      this.level = level;
      this.others = others;
    }
  }

  /* NCCL asks each of its communicators much more often, and so hears of all failures. */
  private static final long QUIET_NS = 2_000_000_000;

  /* Where the words differ, so does the reason, and an engineer wants both. */
  private record Key(String peer, Kind kind, String words) {}

  private static final class Event {
    /* Weakly: an event that goes on and on keeps no closed connection in memory. */
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
   * This happens to a connection. To one that it has happened to before it happens anew.
   *
   * @param connection by its identity
   * @param peer the other end, for the log
   * @param sentences what to say, if it is the first to hear of it
   */
  public void report(Kind kind, Object connection, String peer, Log log, List<String> sentences) {
    String words = DistinctErrors.words(String.join("; ", sentences));
    boolean first = isFirst(new Key(peer, kind, words), connection, log);
    for (String sentence : sentences) {
      if (first) {
        log.write(kind.level, sentence);
      } else {
        log.trace("%s", sentence);
      }
    }
  }

  /** Whether connections to this peer have failed a moment ago. */
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
    if (others > 0 && !key.kind.others.isEmpty()) {
      event.log.info(
          "%s: and %s more connection%s to this peer %s",
          key.peer, others, others == 1 ? "" : "s", key.kind.others);
    }
  }

  /** Tells of those that nothing has been added to for a while. Now and then. */
  void flushQuiet() {
    flush(QUIET_NS);
  }

  /** Tells of all; nothing follows. */
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
