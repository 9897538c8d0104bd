package io.heddle.transport.device;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.ResilientThread;
import io.heddle.routes.Liveness;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteReader;
import io.heddle.routes.RoutesTruncatedException;
import io.heddle.routes.WeightReason;
import io.heddle.spray.PlaneWeights;
import io.heddle.verbs.Gid;
import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Follower of the routes file: keeps the weights of running connections up to date. Its own thread,
 * {@code heddle-routes}, sleeps until the file changes, looks up each connection's peer, and swaps
 * the connection's snapshot where it differs. The data path reads one volatile field.
 *
 * <p>A daemon without a sign of life is reported once. Its last weights hold for a time; then all
 * planes weigh the same until the daemon is back. A file that another process truncates is treated
 * like a silent daemon.
 */
public final class RouteFollower implements AutoCloseable {
  /** Period of the check for signs of life; a change of the routes wakes the thread at once. */
  private static final long POLL_PERIOD_NS = 100_000_000;

  /* Period of the check for a file that is absent, or that replaced the open one. */
  private static final long SEARCH_NS = 500_000_000;

  /**
   * Prefix of the description of the weights' source while the daemon is silent or the file is
   * gone.
   */
  private static final String HELD = "held ";

  private static final String ROUTES = "routes: ";

  private enum Stage {
    NO_FILE,
    FOLLOWING,
    HOLDING,
    ALL_EQUAL
  }

  private final Path path;

  /*
   * Path of the routes file as a File. For an absent file, File.exists allocates nothing, but a
   * failed open does.
   */
  private final File file;

  private final long holdNs;
  private final NanoClock clock;
  private final Log log;
  private final ResilientThread thread;
  private final RouteAnswer lookUp = new RouteAnswer();
  private final RouteAnswer combined = new RouteAnswer();
  private final Set<String> warned = new HashSet<>();

  private List<NetDevice> devices = List.of();
  private Stage stage = Stage.NO_FILE;
  private @Nullable RouteReader reader;
  private List<PublishedPlane> planes = List.of();
  private long appliedSequence = -1;
  private long searchedNs;
  private long lostNs;
  private volatile boolean closed;

  public RouteFollower(Path path, long holdNs, NanoClock clock, Log log) {
    this.path = path;
    file = path.toFile();
    this.holdNs = holdNs;
    this.clock = clock;
    this.log = log;
    searchedNs = clock.nanoTime() - SEARCH_NS;
    thread = new ResilientThread("heddle-routes", log, this::round);
    refresh();
  }

  /**
   * Returns the planes that the daemon has named, with their addresses. The daemon's keys take
   * precedence over this process's.
   */
  public synchronized List<PublishedPlane> planes() {
    return planes;
  }

  /** Starts following the file for these devices' connections. */
  public void start(List<NetDevice> of) {
    synchronized (this) {
      devices = of;
      of.forEach(device -> device.follow(this::onJoined));
    }
    thread.start();
  }

  /** Describes the present source of weights, for the log. */
  public synchronized String describe() {
    RouteReader open = reader;
    return switch (stage) {
      case NO_FILE -> "all equal (no routes at " + path + ")";
      case FOLLOWING ->
          "per destination, from %s%s".formatted(path, open == null ? "" : contents(open));
      case HOLDING -> "per destination, the last from " + path + ", whose daemon is silent";
      case ALL_EQUAL -> "all equal (the daemon of " + path + " is silent)";
    };
  }

  private static String contents(RouteReader open) {
    try {
      return " (%s, %s prefixes)".formatted(open.publisher(), open.entries());
    } catch (RoutesTruncatedException truncated) {
      return ", which was cut short";
    }
  }

  /** Applies the weights to a connection whose planes are paired. Control thread. */
  synchronized void onJoined(RoutedConnection connection) {
    try {
      apply(connection);
    } catch (RoutesTruncatedException truncated) {
      /*
       * The follower's own thread reports the cut file and closes it at its next poll; until then
       * no weights are known.
       */
      log.trace("no weights for %s: %s", connection.peer(), String.valueOf(truncated.getMessage()));
    }
  }

  /*
   * Runs one round of the thread: applies changes, then waits for the next one. The JVM may raise
   * InternalError for a fault in the mapped file outside the accesses where RouteReader catches it.
   * ResilientThread then catches the error, and the next round applies the interrupted weights
   * again.
   */
  private boolean round() {
    if (!closed) {
      try {
        RouteReader open = refresh();
        if (open == null) {
          LockSupport.parkNanos(this, POLL_PERIOD_NS);
        } else {
          open.awaitChange(appliedSequence, POLL_PERIOD_NS);
        }
      } catch (RoutesTruncatedException truncated) {
        log.trace("%s: closed at the next poll", String.valueOf(truncated.getMessage()));
      }
    }
    return !closed;
  }

  /* Checks the file, the daemon and the routes, and applies changes to the connections. */
  private synchronized @Nullable RouteReader refresh() {
    if (closed) {
      return null;
    }
    try {
      RouteReader open = reopen();
      if (open == null) {
        expireLost();
      } else {
        follow(open);
      }
      return open;
    } catch (RoutesTruncatedException truncated) {
      dropFile(truncated);
      return null;
    }
  }

  private void follow(RouteReader open) {
    Liveness liveness = open.liveness();
    boolean alive = liveness.state() == Liveness.State.ALIVE;
    Stage next =
        alive ? Stage.FOLLOWING : liveness.silenceNs() < holdNs ? Stage.HOLDING : Stage.ALL_EQUAL;
    long sequence = open.sequence();
    if (next != stage) {
      enter(next, liveness, open);
      appliedSequence = sequence - 1;
    }
    if (sequence != appliedSequence) {
      List<PublishedPlane> now = open.planes();
      planes = now.isEmpty() ? planes : now;
      applyAll();
      /*
       * The sequence was read before the routes. So a change made meanwhile is read next time, and
       * all routes are read again if this round failed.
       */
      appliedSequence = sequence;
    }
  }

  /*
   * Applies the weights to all connections. One connection's failure doesn't keep the others from
   * their weights.
   */
  private void applyAll() {
    Throwable first = null;
    for (NetDevice device : devices) {
      for (RoutedConnection connection : device.connections()) {
        try {
          apply(connection);
        } catch (RoutesTruncatedException truncated) {
          throw truncated;
        } catch (RuntimeException | Error failure) {
          first = first == null ? failure : first;
        }
      }
    }
    if (first != null) {
      throw new IllegalStateException("not every connection has its weights: " + first, first);
    }
  }

  /*
   * Closes a truncated file. Only the follower's own thread may wait on the file, and this runs on
   * that thread.
   */
  private void dropFile(RoutesTruncatedException truncated) {
    RouteReader open = reader;
    if (open != null) {
      open.close();
      reader = null;
      lostNs = clock.nanoTime();
      boolean wasFollowing = stage == Stage.FOLLOWING;
      stage = wasFollowing ? Stage.HOLDING : stage;
      applyAll();
      log.warn(
          "%s%s",
          String.valueOf(truncated.getMessage()),
          wasFollowing ? ": its last weights hold for " + holdNs / 1_000_000 + " ms" : "");
    }
  }

  /* Lets the weights of a lost routes file expire while the file has no successor. */
  private void expireLost() {
    if (stage == Stage.HOLDING && clock.nanoTime() - lostNs >= holdNs) {
      stage = Stage.ALL_EQUAL;
      log.warn("there is no new routes file %s: all planes weigh the same until there is", path);
      applyAll();
    }
  }

  private void enter(Stage next, Liveness liveness, RouteReader open) {
    String ended =
        liveness.state() == Liveness.State.ENDED
            ? "has ended"
            : "has given no sign of life for " + liveness.silenceNs() / 1_000_000 + " ms";
    switch (next) {
      case FOLLOWING ->
          log.info(
              "weights follow %s (%s, process %d)%s",
              path, open.publisher(), liveness.process(), stage == Stage.NO_FILE ? "" : " again");
      case HOLDING ->
          log.warn(
              "the route daemon (process %d) of %s %s: its last weights hold for %d ms",
              liveness.process(), path, ended, holdNs / 1_000_000);
      case ALL_EQUAL ->
          log.warn(
              "the route daemon (process %d) of %s %s: all planes weigh the same until it is back",
              liveness.process(), path, ended);
      case NO_FILE -> {}
    }
    stage = next;
  }

  /*
   * Returns the open file, or the file that replaced it. A deleted file stays open; its daemon then
   * falls silent.
   */
  private @Nullable RouteReader reopen() {
    RouteReader open = reader;
    long now = clock.nanoTime();
    boolean superseded = open != null && open.liveness().state() == Liveness.State.SUPERSEDED;
    if (!superseded && now - searchedNs < SEARCH_NS) {
      return open;
    }
    searchedNs = now;
    if (open == null ? !file.exists() : open.isCurrent()) {
      return open;
    }
    RouteReader next;
    try {
      next = RouteReader.open(path, clock);
    } catch (HeddleException foreign) {
      warnOnce(String.valueOf(foreign.getMessage()));
      return open;
    }
    if (next == null) {
      return open;
    }
    if (open != null) {
      open.close();
    }
    reader = next;
    planes = next.planes();
    appliedSequence = next.sequence() - 1;
    return next;
  }

  private void warnOnce(String sentence) {
    if (warned.add(sentence)) {
      log.warn("%s", sentence);
    }
  }

  private void apply(RoutedConnection connection) {
    List<Gid> remote = connection.remoteGids();
    if (remote.isEmpty() || stage == Stage.NO_FILE) {
      return;
    }
    PlaneWeights current = connection.routedWeights();
    PlaneWeights next =
        stage == Stage.ALL_EQUAL
            ? PlaneWeights.equal(remote.size(), "equal, daemon silent")
            : queryWeights(connection, remote);
    if (next == null && stage == Stage.HOLDING && current.source().startsWith(ROUTES)) {
      next = current.withSource(HELD + current.source());
    }
    if (next != null && !(next.hasSameWeights(current) && next.source().equals(current.source()))) {
      connection.setRouted(next);
      for (int plane = 0; plane < next.planes(); plane++) {
        if (next.weight(plane) == 0 && current.weight(plane) > 0) {
          connection.withdrawn(plane);
        }
      }
      log.trace("weights for %s are %s (%s)", connection.peer(), next, next.source());
    }
  }

  /*
   * Returns the connection's weights from the file. Returns null where no consistent state could be
   * read: the connection then keeps its weights.
   */
  private @Nullable PlaneWeights queryWeights(RoutedConnection connection, List<Gid> remote) {
    RouteReader open = reader;
    List<String> keys = connection.planeKeys();
    List<String> unknown = new ArrayList<>();
    if (open == null || !open.reading(() -> readWeights(open, keys, remote, unknown))) {
      return null;
    }
    if (!unknown.isEmpty()) {
      warnOnce(
          "%s has no planes %s, only %s: those carry nothing while the file has others"
              .formatted(path, unknown, planes.stream().map(PublishedPlane::key).toList()));
    }
    int[] weights = new int[keys.size()];
    boolean any = false;
    for (int i = 0; i < weights.length; i++) {
      weights[i] = combined.weight(i);
      any |= weights[i] > 0;
    }
    if (!any) {
      return PlaneWeights.equal(weights.length, "equal, no route");
    }
    return PlaneWeights.ofRoutes(weights, sourceOf(weights.length));
  }

  private boolean readWeights(
      RouteReader open, List<String> keys, List<Gid> remote, List<String> unknown) {
    combined.begin(keys.size());
    for (int i = 0; i < keys.size(); i++) {
      int plane = numberOf(keys.get(i));
      if (plane < 0) {
        unknown.add(keys.get(i));
        continue;
      }
      if (!open.resolve(remote.get(i).high(), remote.get(i).low(), lookUp)) {
        return false;
      }
      if (plane < lookUp.planes()) {
        combined.copyPlane(i, lookUp, plane);
      }
    }
    return true;
  }

  private String sourceOf(int count) {
    String prefix = stage == Stage.HOLDING ? HELD : "";
    WeightReason reason = WeightReason.NO_ROUTE;
    for (int i = 0; i < count; i++) {
      WeightReason each = combined.reason(i);
      if (each.carriesTraffic()) {
        reason = each;
      }
    }
    return prefix + ROUTES + reason.text();
  }

  private int numberOf(String key) {
    for (int i = 0; i < planes.size(); i++) {
      if (planes.get(i).key().equals(key)) {
        return i;
      }
    }
    return -1;
  }

  /** Ends the thread. Connections keep their weights. */
  @Override
  public void close() {
    closed = true;
    thread.unpark();
    RouteReader open;
    synchronized (this) {
      open = reader;
    }
    if (open != null) {
      open.wakeAll();
    }
    thread.join(5_000);
    synchronized (this) {
      if (reader != null && !thread.isAlive()) {
        reader.close();
        reader = null;
      }
    }
  }
}
