package io.heddle.transport.failover;

import io.heddle.addr.RocePorts;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.control.ControlMessage.Drain;
import io.heddle.transport.control.ControlMessage.Fenced;
import io.heddle.transport.control.ControlMessage.PlaneDown;
import io.heddle.transport.control.ControlMessage.PlaneMessage;
import io.heddle.transport.control.ControlMessage.PlaneReady;
import io.heddle.transport.control.ControlMessage.PlaneUp;
import io.heddle.transport.control.ControlTasks;
import io.heddle.transport.data.Baton;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.data.ConnectionWeights;
import io.heddle.transport.data.PlaneFailureListener;
import io.heddle.transport.data.SubFlow;
import io.heddle.transport.device.PeerEvents;
import io.heddle.transport.device.TransportResult;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One end's half of the failover protocol, with the terms and tables of docs/failover.md. It takes
 * a connection off planes that fail; {@link PlaneRecovery} returns the connection to them.
 *
 * <p>Runs on the control thread, with the communicator's {@link Baton} where it touches the data
 * path. Only {@link #onPlaneFailure} is called by other threads.
 */
public final class Failover implements PlaneFailureListener {
  private static final long POLL_NS = 1_000_000;
  private static final long FENCE_LIMIT_NS = 500_000_000;

  private final ControlTasks tasks;
  private final FailoverConnection connection;
  private final Communicator end;
  private final PeerChannel peer;
  private final Log log;
  private final FailoverPlane[] planes;
  private final GraceTimer grace;
  private final PlaneRecovery recovery;
  private final WithdrawnPlanes withdrawn;
  private final PeerSilenceMonitor silence;
  private boolean over;

  /**
   * @param graceNs longest time without a plane that is up
   */
  public Failover(
      ControlTasks tasks,
      FailoverConnection connection,
      Communicator end,
      PeerChannel peer,
      long graceNs,
      Log log) {
    this.tasks = tasks;
    this.connection = connection;
    this.end = end;
    this.peer = peer;
    this.log = log;
    List<String> keys = connection.carrierNames();
    planes = new FailoverPlane[keys.size()];
    for (int i = 0; i < planes.length; i++) {
      planes[i] = new FailoverPlane(i, keys.get(i));
    }
    withdrawn = new WithdrawnPlanes(tasks, end, this::onFailure);
    grace = new GraceTimer(tasks, planes, graceNs, this::noPlaneLeft);
    recovery = new PlaneRecovery(this, tasks, connection, end, log);
    silence = new PeerSilenceMonitor(connection, graceNs, new Waits(), log);
  }

  private final class Waits implements PeerSilenceMonitor.Listener {
    @Override
    public void onSilence() {
      if (end.isSender()) {
        recovery.rescheduleOffers(planes);
      }
    }

    @Override
    public void onPlaneOfDepartedPeer(int plane, String cause) {
      reportFailureNow(plane, cause + ", and the other end has left");
    }

    @Override
    public void onGraceExceeded(long silentNs) {
      logPlanes();
      String destinations = connection.pairs().silentDestinations();
      fail(
          "it has answered on no plane for %s ms (HEDDLE_GRACE_MS is %s)%s"
              .formatted(
                  silentNs / 1_000_000,
                  grace.graceMs(),
                  destinations.isEmpty()
                      ? ""
                      : "; packets went to %s: does a firewall let all of UDP %s in (%s)?"
                          .formatted(destinations, RocePorts.STANDARD, RocePorts.VARIABLE)));
    }
  }

  /** Checks whether the peer is silent on all planes. Control thread. */
  public void checkForSilence() {
    if (!over) {
      silence.check();
    }
  }

  /** Returns whether the last check found the peer silent. Control thread. */
  public boolean isPeerSilent() {
    return !over && silence.isSilent();
  }

  /** Returns whether some plane is believed to carry traffic now. Control thread. */
  boolean isAnyUp() {
    return grace.isAnyUp() && !silence.isSilent();
  }

  /** Handles a plane failure that this end noticed. Any thread. */
  @Override
  public void onPlaneFailure(int plane, int epoch, String cause) {
    tasks.execute(() -> onFailure(planes[plane], epoch, cause));
  }

  /** Handles a failure of the plane in its present epoch. Control thread. */
  public void reportFailureNow(int plane, String cause) {
    tasks.run(() -> onFailure(planes[plane], planes[plane].epoch, cause));
  }

  /**
   * Handles the device's report of a broken queue pair. Completions are polled first: a completion
   * that has the cause takes the place of this report. Control thread.
   */
  public void queuePairLost(int plane, String cause) {
    tasks.run(() -> {
      int epoch = planes[plane].epoch;
      end.baton().take();
      try {
        end.takeCompletions();
      } finally {
        end.baton().release();
      }
      tasks.execute(() -> onFailure(planes[plane], epoch, cause));
    });
  }

  /**
   * Handles the withdrawal of the plane's route. Requests in flight on the plane may still
   * complete. If no request is answered, the plane counts as silent before its retries are over.
   * Any thread.
   */
  public void withdrawn(int plane) {
    tasks.execute(() -> withdrawn.watch(planes[plane]));
  }

  /** Fails the plane, if it is still live in this epoch. Control thread. */
  void onFailure(FailoverPlane plane, int epoch, String cause) {
    if (!over && plane.epoch == epoch && plane.state.isLive()) {
      send(new PlaneDown(plane.key, epoch, cause));
      fence(plane, cause);
    }
  }

  /** Handles the peer's message about a plane. */
  public void onMessage(PlaneMessage message) {
    if (over) {
      return;
    }
    FailoverPlane plane = find(message.plane());
    if (message instanceof Drain drain) {
      onDrain(drain);
    } else if (plane == null) {
      unknown(message);
    } else if (!dispatch(plane, message)) {
      fail(
          "%s in state %s and epoch %s of that plane".formatted(message, plane.state, plane.epoch));
    }
  }

  private boolean dispatch(FailoverPlane plane, PlaneMessage message) {
    return switch (message) {
      case PlaneDown down -> onPlaneDown(plane, down);
      case Fenced fenced -> onFenced(plane, fenced);
      case PlaneUp up ->
          end.isSender() ? recovery.onAnswer(plane, up) : recovery.onOffer(plane, up);
      case PlaneReady ready -> recovery.onReady(plane, ready);
      case Drain drain -> false;
    };
  }

  private void unknown(PlaneMessage message) {
    fail(
        "%s names plane %s, which this connection doesn't have"
            .formatted(message.getClass().getSimpleName(), message.plane()));
  }

  private @Nullable FailoverPlane find(String key) {
    for (FailoverPlane plane : planes) {
      if (plane.key.equals(key)) {
        return plane;
      }
    }
    return null;
  }

  private boolean onPlaneDown(FailoverPlane plane, PlaneDown down) {
    if (down.epoch() != plane.epoch || plane.state == PlaneState.DOWN) {
      return false;
    }
    if (plane.state.isLive()) {
      fence(plane, "the other end: " + down.reason());
    }
    return true;
  }

  private boolean onFenced(FailoverPlane plane, Fenced fenced) {
    if (fenced.epoch() != plane.epoch
        || plane.peersFenced != null
        || plane.state == PlaneState.DOWN) {
      return false;
    }
    plane.peersFenced = fenced;
    trace(plane, "is fenced at the other end");
    if (plane.state.isLive()) {
      fence(plane, "the other end is fenced");
    } else if (plane.state == PlaneState.FENCED) {
      settle(plane, fenced);
    }
    return true;
  }

  private boolean isPeerEnding() {
    return !connection.health().isPeerAlive() || connection.events().hasFailed(connection.peer());
  }

  /*
   * Fences a plane at this end: moves its queue pairs to ERROR, then waits for their completions.
   */

  void fence(FailoverPlane plane, String cause) {
    boolean wasUp = plane.state == PlaneState.UP;
    long now = tasks.nanoTime();
    plane.state = PlaneState.FENCING;
    if (wasUp) {
      plane.failed(cause, now);
      connection.planeWeights().countFailover(plane.index);
      plane.description = describe(plane);
      connection.planeLog().logLost(connection, plane.description, cause, isPeerEnding(), log);
      trace(plane, "had " + connection.pairs().describe(plane.index));
    } else {
      plane.retryFailed();
      log.trace("%s: %s carries no traffic: %s", connection.peer(), plane.key, cause);
    }
    connection.carrierWeights().setShare(plane.index, 0);
    end.baton().take();
    try {
      flowsOn(plane).forEach(SubFlow::markBroken);
      connection.pairs().stop(plane.index);
    } catch (HeddleException refused) {
      over = true;
      end.fail(
          TransportResult.SYSTEM_ERROR,
          "plane %s can't be fenced: %s".formatted(plane.key, refused.getMessage()));
    } finally {
      end.baton().release();
    }
    trace(plane, "has its queue pairs stopped");
    grace.update();
    if (wasUp) {
      peer.failCarrier(plane.index);
      if (end.isSender() && !grace.isAnyUp()) {
        recovery.rescheduleOffers(planes);
      }
    }
    drainCompletions(plane, plane.epoch, now + FENCE_LIMIT_NS);
  }

  /* Polls completions until every request of the plane has one; then this end is fenced. */
  private void drainCompletions(FailoverPlane plane, int epoch, long limitNs) {
    if (over || plane.state != PlaneState.FENCING || plane.epoch != epoch) {
      return;
    }
    Fenced ours = null;
    end.baton().take();
    try {
      end.takeCompletions();
      List<SubFlow> flows = flowsOn(plane);
      boolean drained = flows.stream().allMatch(SubFlow::isDrained);
      if (!drained && tasks.nanoTime() - limitNs > 0) {
        log.info(
            "%s: plane %s: the device withholds completions; its queue pairs are reset",
            connection.peer(), plane.key);
        connection.pairs().reset(plane.index);
        end.takeCompletions();
        drained = true;
      }
      if (drained) {
        flows.forEach(SubFlow::retire);
        ours = end.fenced(plane.key, epoch);
      }
    } finally {
      end.baton().release();
    }
    if (ours == null) {
      tasks.schedule(POLL_NS, () -> drainCompletions(plane, epoch, limitNs));
      return;
    }
    plane.state = PlaneState.FENCED;
    send(ours);
    trace(plane, "is fenced");
    Fenced theirs = plane.peersFenced;
    if (theirs != null) {
      settle(plane, theirs);
    }
  }

  private void settle(FailoverPlane plane, Fenced theirs) {
    String wrong;
    long again;
    end.baton().take();
    try {
      again = -end.replays();
      wrong = end.settle(plane.index, theirs);
      again += end.replays();
    } finally {
      end.baton().release();
    }
    if (wrong != null) {
      fail("its message about plane " + plane.key + " is contradictory: " + wrong);
      return;
    }
    plane.peersFenced = null;
    plane.state = PlaneState.DOWN;
    log.trace(
        "%s: plane %s is down, %d chunks posted again, %d ms after its failure",
        connection.peer(), plane.key, again, (tasks.nanoTime() - plane.failedAtNs) / 1_000_000);
    if (end.isSender()) {
      recovery.scheduleOffer(plane);
    }
  }

  /** Updates the grace timer, since a plane is up again. */
  void onRecovered() {
    grace.update();
  }

  /** Describes the plane with its addresses, for the log. */
  String describe(FailoverPlane plane) {
    return connection.pairs().addressesOf(plane.index);
  }

  private void trace(FailoverPlane plane, String what) {
    log.trace("%s: plane %s %s", connection.peer(), plane.key, what);
  }

  /** Returns the sub-flows of the plane's present epoch. The caller has the baton. */
  List<SubFlow> flowsOn(FailoverPlane plane) {
    return Arrays.stream(end.flows()).filter(flow -> flow.plane == plane.index).toList();
  }

  /* Applies the peer's order to drain a plane or to end the drain. */

  private void onDrain(Drain drain) {
    int plane = connection.pairNames().indexOf(drain.plane());
    if (plane < 0) {
      unknown(drain);
    } else {
      connection.planeWeights().drain(plane, ConnectionWeights.REMOTE, drain.on());
    }
  }

  /**
   * Drains exactly these planes: they get no new chunks. Control thread.
   *
   * @param keys this host's keys of the planes
   */
  public void drain(Set<String> keys) {
    tasks.run(() -> drainNow(keys));
  }

  private void drainNow(Set<String> keys) {
    List<String> names = connection.pairNames();
    List<String> here = connection.planeKeys();
    for (int plane = 0; plane < names.size(); plane++) {
      boolean on = keys.contains(here.get(plane));
      if (!over && connection.planeWeights().drain(plane, ConnectionWeights.LOCAL, on)) {
        send(new Drain(names.get(plane), on));
      }
    }
  }

  /* Fails the connection, since no plane was up for the grace time. */

  private void noPlaneLeft() {
    if (over) {
      return;
    }
    logPlanes();
    fail(
        "no plane was up for %s ms: %s"
            .formatted(
                grace.graceMs(),
                Arrays.stream(planes)
                    .map(plane -> plane.key + " (" + plane.cause + ")")
                    .collect(Collectors.joining("; "))));
  }

  private void logPlanes() {
    List<String> sentences = Arrays.stream(planes).map(this::describeState).toList();
    connection
        .events()
        .report(PeerEvents.Kind.PLANE_OF_FAILED, connection, connection.peer(), log, sentences);
  }

  private String describeState(FailoverPlane plane) {
    return plane.state == PlaneState.UP
        ? "%s: %s answers nothing".formatted(connection.peer(), describe(plane))
        : "%s: %s failed %s ms ago and is %s: %s"
            .formatted(
                connection.peer(),
                describe(plane),
                (tasks.nanoTime() - plane.failedAtNs) / 1_000_000,
                plane.state,
                plane.cause);
  }

  void send(PlaneMessage message) {
    if (!peer.send(message)) {
      peerUnreachable();
    }
  }

  /**
   * Handles the final loss of the peer: chunks in flight on failed planes can't be settled any
   * more.
   */
  public void peerUnreachable() {
    if (!over && Arrays.stream(planes).anyMatch(plane -> plane.state != PlaneState.UP)) {
      fail(connection.health().peerReason());
    }
  }

  private void fail(String reason) {
    over = true;
    end.baton().take();
    try {
      if (connection.health().peer() != ConnectionHealth.Peer.CLOSED || end.hasPending()) {
        end.fail(TransportResult.REMOTE_ERROR, reason);
      }
    } finally {
      end.baton().release();
    }
  }

  /** Runs a task of this connection; an exception ends this connection only. Control thread. */
  public void guarded(Runnable task) {
    tasks.run(task);
  }

  /** Ends failover of a closed connection. */
  public void end() {
    over = true;
    connection.planeLog().forget(connection);
    withdrawn.end();
  }

  /** Returns whether failover of this connection has ended. Control thread. */
  boolean isOver() {
    return over;
  }

  /** Returns the channel to the peer. */
  public PeerChannel peer() {
    return peer;
  }

  /** Returns a plane's state, for tests and the log; null for an unknown plane. */
  public @Nullable PlaneState state(int plane) {
    return plane < planes.length ? planes[plane].state : null;
  }
}
