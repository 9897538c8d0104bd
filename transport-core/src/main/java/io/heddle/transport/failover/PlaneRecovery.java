package io.heddle.transport.failover;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.control.ControlMessage.PlaneDown;
import io.heddle.transport.control.ControlMessage.PlaneReady;
import io.heddle.transport.control.ControlMessage.PlaneUp;
import io.heddle.transport.control.ControlTasks;
import io.heddle.transport.data.Baton;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.ConnectionWeights;
import io.heddle.transport.data.SubFlow;
import java.util.List;

/**
 * Recovery of planes that {@link Failover} took out of use: from DOWN over OPENING and PROBING to
 * UP in docs/failover.md. The ends exchange fresh queue pairs, each end's at its plane's present
 * address, and probe each by an empty write. Then the plane's weight grows in steps.
 *
 * <p>Runs on the control thread, with the communicator's {@link Baton} where it touches the data
 * path.
 */
public final class PlaneRecovery {
  private static final long POLL_NS = 1_000_000;
  private static final long OPENING_LIMIT_NS = 2_000_000_000;
  private static final long LAST_PLANE_HOLD_NS = 100_000_000;
  private static final long RAMP_STEP_NS = 250_000_000;

  private final Failover failover;
  private final ControlTasks tasks;
  private final FailoverConnection connection;
  private final Communicator end;
  private final Log log;

  PlaneRecovery(
      Failover failover,
      ControlTasks tasks,
      FailoverConnection connection,
      Communicator end,
      Log log) {
    this.failover = failover;
    this.tasks = tasks;
    this.connection = connection;
    this.end = end;
    this.log = log;
  }

  /** Schedules an offer of the plane after its hold-down. Sender's end. */
  void scheduleOffer(FailoverPlane plane) {
    int epoch = plane.epoch;
    long retryDelayNs = failover.isAnyUp() ? plane.retryDelayNs() : LAST_PLANE_HOLD_NS;
    connection
        .planeLog()
        .logStillDown(connection, plane.description, plane.cause, retryDelayNs, log);
    tasks.schedule(
        retryDelayNs,
        () -> {
          boolean isDue = plane.state == PlaneState.DOWN && plane.epoch == epoch;
          if (isDue && !failover.isOver() && !hasEndFailed()) {
            offer(plane);
          }
        });
  }

  /* Returns whether this end has failed. Then it acknowledges no probe and needs no plane. */
  private boolean hasEndFailed() {
    end.baton().take();
    try {
      return end.hasFailed();
    } finally {
      end.baton().release();
    }
  }

  /**
   * Reschedules the planes in hold-down after the last plane failed: the connection can't wait for
   * the end of their hold-down.
   */
  void rescheduleOffers(FailoverPlane[] planes) {
    for (FailoverPlane plane : planes) {
      if (plane.state == PlaneState.DOWN) {
        scheduleOffer(plane);
      }
    }
  }

  private void offer(FailoverPlane plane) {
    List<ControlMessage.Endpoint> fresh;
    try {
      fresh = connection.pairs().renew(plane.index);
    } catch (HeddleException refused) {
      log.trace("plane %s stays down: %s", plane.key, String.valueOf(refused.getMessage()));
      plane.retryFailed();
      scheduleOffer(plane);
      return;
    }
    plane.epoch++;
    plane.state = PlaneState.OPENING;
    send(plane, fresh);
    int epoch = plane.epoch;
    tasks.schedule(
        OPENING_LIMIT_NS,
        () -> {
          if (plane.state == PlaneState.OPENING) {
            failover.onFailure(plane, epoch, "no answer to an offer of fresh queue pairs");
          }
        });
  }

  /**
   * Handles the sender's offer at the receiver; returns false where it contradicts this end's
   * state.
   */
  boolean onOffer(FailoverPlane plane, PlaneUp up) {
    if (plane.state != PlaneState.DOWN || up.epoch() != plane.epoch + 1) {
      return false;
    }
    plane.epoch++;
    try {
      List<ControlMessage.Endpoint> fresh = connection.pairs().renew(plane.index);
      connect(plane, up);
      plane.state = PlaneState.OPENING;
      send(plane, fresh);
    } catch (HeddleException refused) {
      String reason = String.valueOf(refused.getMessage());
      failover.send(new PlaneDown(plane.key, plane.epoch, reason));
      plane.state = PlaneState.OPENING;
      failover.fence(plane, reason);
    }
    return true;
  }

  /**
   * Handles the receiver's answer at the sender; returns false where it contradicts this end's
   * state.
   */
  boolean onAnswer(FailoverPlane plane, PlaneUp up) {
    if (up.epoch() != plane.epoch) {
      return false;
    }
    if (plane.state == PlaneState.FENCING || plane.state == PlaneState.FENCED) {
      return true;
    }
    if (plane.state != PlaneState.OPENING) {
      return false;
    }
    try {
      connect(plane, up);
      plane.state = PlaneState.PROBING;
    } catch (HeddleException refused) {
      failover.onFailure(plane, plane.epoch, String.valueOf(refused.getMessage()));
      return true;
    }
    end.baton().take();
    int refusal = 0;
    long nowNs = end.nowNs();
    try {
      for (SubFlow flow : failover.flowsOn(plane)) {
        refusal = Math.min(refusal, flow.probe(nowNs));
      }
    } finally {
      end.baton().release();
    }
    if (refusal != 0) {
      failover.onFailure(plane, plane.epoch, "a probe was refused with " + refusal);
    } else {
      awaitProbes(plane, plane.epoch);
    }
    return true;
  }

  private void send(FailoverPlane plane, List<ControlMessage.Endpoint> fresh) {
    List<ControlMessage.PlaneAddress> where = connection.pairs().localAddresses(plane.index);
    failover.send(new PlaneUp(plane.key, plane.epoch, where, fresh));
  }

  private void connect(FailoverPlane plane, PlaneUp up) {
    List<SubFlow> fresh = connection.pairs().connectRenewed(plane.index, up);
    connection.publishAddresses();
    end.baton().take();
    try {
      fresh.forEach(end::replace);
    } finally {
      end.baton().release();
    }
  }

  private void awaitProbes(FailoverPlane plane, int epoch) {
    if (failover.isOver() || plane.state != PlaneState.PROBING || plane.epoch != epoch) {
      return;
    }
    boolean through;
    boolean failed;
    end.baton().take();
    try {
      end.takeCompletions();
      through = failover.flowsOn(plane).stream().allMatch(SubFlow::isProbed);
      failed = end.hasFailed();
    } finally {
      end.baton().release();
    }
    if (failed) {
      return;
    }
    if (!through) {
      tasks.schedule(POLL_NS, () -> awaitProbes(plane, epoch));
      return;
    }
    failover.send(new PlaneReady(plane.key, epoch));
    markUp(plane);
    ramp(plane, epoch, 1);
  }

  /**
   * Handles the sender's PlaneReady at the receiver; returns false where it contradicts this end's
   * state.
   */
  boolean onReady(FailoverPlane plane, PlaneReady ready) {
    if (end.isSender() || ready.epoch() != plane.epoch) {
      return false;
    }
    if (plane.state == PlaneState.OPENING) {
      markUp(plane);
      connection.carrierWeights().setShare(plane.index, ConnectionWeights.FULL_SHARE);
      return true;
    }
    return plane.state == PlaneState.FENCING || plane.state == PlaneState.FENCED;
  }

  private void markUp(FailoverPlane plane) {
    plane.state = PlaneState.UP;
    plane.recovered(tasks.nanoTime());
    failover.onRecovered();
    notifyEnd(plane);
    connection.planeLog().logReturned(connection, plane.description, failover.describe(plane), log);
  }

  private void notifyEnd(FailoverPlane plane) {
    end.baton().take();
    try {
      connection.pairs().planesOf(plane.index).forEach(end::planeReturned);
    } catch (HeddleException refused) {
      log.info(
          "%s: plane %s carries, but flushes no device memory: %s",
          connection.peer(), plane.key, String.valueOf(refused.getMessage()));
    } finally {
      end.baton().release();
    }
  }

  /*
   * Raises the plane's share step by step. Shares are relative, so a plane that is the only one
   * carries everything at once.
   */
  private void ramp(FailoverPlane plane, int epoch, int eighths) {
    if (failover.isOver() || plane.state != PlaneState.UP || plane.epoch != epoch) {
      return;
    }
    connection.carrierWeights().setShare(plane.index, eighths);
    if (eighths < ConnectionWeights.FULL_SHARE) {
      tasks.schedule(RAMP_STEP_NS, () -> ramp(plane, epoch, eighths * 2));
    }
  }
}
