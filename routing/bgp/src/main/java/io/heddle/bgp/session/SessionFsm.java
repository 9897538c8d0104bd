package io.heddle.bgp.session;

import io.heddle.bgp.session.SessionEnd.Cause;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.KeepaliveMessage;
import io.heddle.bgp.wire.MessageFault;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OpenMessage;
import io.heddle.platform.NanoClock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * State machine of RFC 4271 §8. A peer has up to two connections, one made by us and one by the
 * peer, until the OPEN messages decide which one stays (§6.8).
 *
 * <p>It has no sockets or threads: the caller reports events by methods, executes the {@link
 * Actions}, and calls {@link #tick} after {@link #nextDeadlineNs}. For one thread.
 */
final class SessionFsm {
  /** Side that made a connection; each side makes at most one. */
  enum Side {
    /** Connection made by us. */
    OUTBOUND,
    /** Connection made by the peer. */
    INBOUND
  }

  /**
   * Actions that the state machine requests. An action may call the state machine only after it has
   * returned.
   */
  interface Actions {
    /** Starts to connect; {@link #connected} or {@link #lost} follows. */
    void connect();

    void send(Side side, BgpMessage message);

    /** Sets the agreed encoding for the following messages of this connection. */
    void agreed(Side side, Negotiated negotiated);

    void close(Side side);

    void established(Side side, Negotiated negotiated);

    void down(SessionEnd end);

    void attemptFailed(SessionEnd end);
  }

  private enum Phase {
    NONE,
    CONNECTING,
    OPEN_SENT,
    OPEN_CONFIRM,
    ESTABLISHED
  }

  private static final class Leg {
    private Phase phase = Phase.NONE;
    private @Nullable Negotiated negotiated;
    private long deadlineNs;
    private boolean hasDeadline;
    private long keepaliveNs;
    private long holdNs;
  }

  /** Interval beyond any deadline. */
  static final long FOREVER_NS = Long.MAX_VALUE / 4;

  private static final long STABLE_NS = 10_000_000_000L;
  private static final int STATE_OF_OPEN_SENT = 1;
  private static final int STATE_OF_OPEN_CONFIRM = 2;
  private static final int STATE_OF_ESTABLISHED = 3;

  private final PeerOptions options;
  private final OpenNegotiation negotiation;
  private final NanoClock clock;
  private final Backoff backoff;
  private final Actions actions;
  private final Leg outbound = new Leg();
  private final Leg inbound = new Leg();
  private boolean running;
  private boolean isInIdleHold;
  private boolean retrying;
  private long retryNs;
  private long establishedNs;
  private boolean extendedParameters;

  SessionFsm(PeerOptions options, NanoClock clock, Backoff backoff, Actions actions) {
    this.options = options;
    this.negotiation = new OpenNegotiation(options);
    this.clock = clock;
    this.backoff = backoff;
    this.actions = actions;
  }

  SessionState state() {
    Phase furthest = outbound.phase.compareTo(inbound.phase) > 0 ? outbound.phase : inbound.phase;
    return switch (furthest) {
      case NONE -> !running || isInIdleHold ? SessionState.IDLE : SessionState.ACTIVE;
      case CONNECTING -> SessionState.CONNECT;
      case OPEN_SENT -> SessionState.OPEN_SENT;
      case OPEN_CONFIRM -> SessionState.OPEN_CONFIRM;
      case ESTABLISHED -> SessionState.ESTABLISHED;
    };
  }

  /** Returns the nanoseconds until the next attempt; −1 if none is planned. */
  long retryInNs() {
    return retrying ? Math.max(0, retryNs - clock.nanoTime()) : -1;
  }

  /**
   * Returns the nanoseconds for which the peer's connections are still rejected after an error; −1
   * if they are accepted.
   */
  long idleHoldLeftNs() {
    return running && isInIdleHold ? retryInNs() : -1;
  }

  void start() {
    if (!running) {
      running = true;
      isInIdleHold = false;
      attempt();
    }
  }

  /** Ends all connections; the session then stays idle. */
  void stop(NotificationMessage reason) {
    if (!running) {
      return;
    }
    running = false;
    retrying = false;
    boolean wasUp = state() == SessionState.ESTABLISHED;
    for (Side side : Side.values()) {
      if (leg(side).phase != Phase.NONE) {
        closeSilently(side, reason);
      }
    }
    if (wasUp) {
      actions.down(new SessionEnd(Cause.STOPPED, reason.describe(), List.of()));
    }
  }

  /** Connects now: the peer's address is new or changed, or carrier is back. */
  void retryNow() {
    if (running && outbound.phase == Phase.NONE && state() != SessionState.ESTABLISHED) {
      isInIdleHold = false;
      attempt();
    }
  }

  private void attempt() {
    retrying = false;
    if (!options.passive() && outbound.phase == Phase.NONE) {
      outbound.phase = Phase.CONNECTING;
      arm(outbound, options.openWaitMs() * 1_000_000);
      actions.connect();
    }
  }

  /** Handles a new TCP connection, made by us or by the peer. */
  void connected(Side side) {
    Leg leg = leg(side);
    leg.phase = Phase.OPEN_SENT;
    arm(leg, options.openWaitMs() * 1_000_000);
    if (side == Side.OUTBOUND) {
      actions.send(side, negotiation.ownOpen(extendedParameters));
    }
  }

  /**
   * Decides whether a new connection from the peer is accepted; if so, the caller calls {@link
   * #connected}. First ends the connection that the new one replaces: an earlier one from the peer,
   * or an established one if the peer supports graceful restart.
   */
  boolean acceptsConnection() {
    if (!running || isInIdleHold) {
      return false;
    }
    for (Side side : Side.values()) {
      Negotiated negotiated = leg(side).negotiated;
      if (leg(side).phase == Phase.ESTABLISHED) {
        if (negotiated == null || negotiated.gracefulRestart() == null) {
          return false;
        }
        /* RFC 4724 §5: the restarted peer's new connection replaces the old one. */
        end(side, null, Cause.CONNECTION_LOST, "the peer connected again, as after a restart");
        retrying = false;
        return true;
      }
    }
    if (inbound.phase != Phase.NONE) {
      closeSilently(Side.INBOUND, null);
    }
    return true;
  }

  /**
   * Handles a message. Returns true if the message concerns routes, so that the caller must pass it
   * on.
   */
  boolean received(Side side, BgpMessage message) {
    Leg leg = leg(side);
    if (message instanceof NotificationMessage notification) {
      onNotification(side, leg, notification);
      return false;
    }
    return switch (leg.phase) {
      case NONE, CONNECTING -> false;
      case OPEN_SENT -> {
        if (message instanceof OpenMessage open) {
          opened(side, leg, open);
        } else {
          unexpected(side, STATE_OF_OPEN_SENT, message);
        }
        yield false;
      }
      case OPEN_CONFIRM -> {
        if (message instanceof KeepaliveMessage) {
          established(side, leg);
        } else {
          unexpected(side, STATE_OF_OPEN_CONFIRM, message);
        }
        yield false;
      }
      case ESTABLISHED -> {
        arm(leg, leg.holdNs);
        if (message instanceof OpenMessage) {
          unexpected(side, STATE_OF_ESTABLISHED, message);
        }
        yield leg.phase == Phase.ESTABLISHED && !(message instanceof KeepaliveMessage);
      }
    };
  }

  private void onNotification(Side side, Leg leg, NotificationMessage notification) {
    if (leg.phase == Phase.OPEN_SENT && notification.code() == NotificationMessage.OPEN_ERROR) {
      /*
       * The next OPEN has the other form of parameters: some peers accept only RFC 9072's, some
       * don't know it.
       */
      extendedParameters = !extendedParameters && notification.subcode() == 0;
    }
    Cause cause = Cause.NOTIFICATION_RECEIVED;
    if (notification.code() == NotificationMessage.CEASE) {
      cause =
          switch (notification.subcode()) {
            case NotificationMessage.HARD_RESET -> Cause.HARD_RESET;
            case NotificationMessage.COLLISION -> Cause.COLLISION;
            default -> cause;
          };
    }
    end(side, null, cause, "the peer sent " + notification.describe());
  }

  private void unexpected(Side side, int subcode, BgpMessage message) {
    end(
        side,
        new NotificationMessage(NotificationMessage.FSM_ERROR, subcode),
        Cause.PEER_MALFORMED,
        "the peer sent " + message.getClass().getSimpleName() + " in state " + state());
  }

  private void opened(Side side, Leg leg, OpenMessage open) {
    switch (negotiation.negotiate(open)) {
      case OpenNegotiation.Outcome.Refused refused ->
          end(side, refused.fault().notification(), Cause.OPEN_REJECTED, refused.fault().why());
      case OpenNegotiation.Outcome.Agreed agreed -> {
        if (losesCollision(side, open)) {
          return;
        }
        if (side == Side.INBOUND) {
          actions.send(side, negotiation.ownOpen(open.extendedParameters()));
        }
        Negotiated negotiated = agreed.negotiated();
        leg.negotiated = negotiated;
        leg.phase = Phase.OPEN_CONFIRM;
        leg.holdNs =
            negotiated.holdTimeSeconds() == 0
                ? FOREVER_NS
                : negotiated.holdTimeSeconds() * 1_000_000_000L;
        actions.agreed(side, negotiated);
        actions.send(side, KeepaliveMessage.INSTANCE);
        leg.keepaliveNs = clock.nanoTime() + leg.holdNs / 3;
        arm(leg, negotiated.holdTimeSeconds() == 0 ? options.openWaitMs() * 1_000_000 : leg.holdNs);
      }
    }
  }

  /*
   * RFC 4271 §6.8 and RFC 6286 §2.3: the connection made by the speaker with the higher identifier
   * stays.
   */
  private boolean losesCollision(Side side, OpenMessage open) {
    Side other = side == Side.OUTBOUND ? Side.INBOUND : Side.OUTBOUND;
    Leg otherLeg = leg(other);
    if (otherLeg.phase != Phase.OPEN_CONFIRM && otherLeg.phase != Phase.ESTABLISHED) {
      return false;
    }
    int order = Integer.compareUnsigned(options.routerId(), open.identifier());
    if (order == 0) {
      order = Long.compare(options.localAs(), open.realAutonomousSystem());
    }
    Side stays = order > 0 ? Side.OUTBOUND : Side.INBOUND;
    boolean thisGoes = otherLeg.phase == Phase.ESTABLISHED || stays == other;
    closeSilently(
        thisGoes ? side : other,
        new NotificationMessage(NotificationMessage.CEASE, NotificationMessage.COLLISION));
    return thisGoes;
  }

  private void established(Side side, Leg leg) {
    Negotiated negotiated = leg.negotiated;
    if (negotiated == null) {
      throw new IllegalStateException("no agreement before KEEPALIVE");
    }
    leg.phase = Phase.ESTABLISHED;
    arm(leg, leg.holdNs);
    retrying = false;
    establishedNs = clock.nanoTime();
    Side other = side == Side.OUTBOUND ? Side.INBOUND : Side.OUTBOUND;
    if (leg(other).phase != Phase.NONE) {
      closeSilently(
          other, new NotificationMessage(NotificationMessage.CEASE, NotificationMessage.COLLISION));
    }
    actions.established(side, negotiated);
  }

  /** Handles a malformed message. */
  void malformedMessage(Side side, MessageFault fault) {
    end(side, fault.notification(), Cause.PEER_MALFORMED, fault.why());
  }

  /** Handles the end of TCP, or a failed connect. */
  void lost(Side side, String why) {
    boolean connecting = leg(side).phase == Phase.CONNECTING;
    end(side, null, connecting ? Cause.UNREACHABLE : Cause.CONNECTION_LOST, why);
  }

  /** Handles a peer that no longer reads. */
  void onSendHoldExpired(Side side, String why) {
    end(
        side,
        new NotificationMessage(NotificationMessage.SEND_HOLD_TIMER_EXPIRED, 0),
        Cause.SEND_HOLD_TIMER,
        why);
  }

  /** Handles a broken path: reported by BFD (RFC 9384), or by a lost carrier. */
  void pathDown(Cause cause, String why) {
    NotificationMessage last =
        cause == Cause.BFD
            ? new NotificationMessage(NotificationMessage.CEASE, NotificationMessage.BFD_DOWN)
            : null;
    for (Side side : Side.values()) {
      if (leg(side).phase == Phase.ESTABLISHED) {
        end(side, last, cause, why);
      }
    }
  }

  /** Ends a connection, plans the next attempt and reports the end. */
  private void end(Side side, @Nullable NotificationMessage notification, Cause cause, String why) {
    Leg leg = leg(side);
    if (leg.phase == Phase.NONE) {
      return;
    }
    boolean wasUp = leg.phase == Phase.ESTABLISHED;
    Negotiated negotiated = leg.negotiated;
    closeSilently(side, notification);
    SessionEnd end =
        new SessionEnd(
            cause,
            why,
            wasUp && negotiated != null && options.gracefulRestart()
                ? negotiated.keptFamilies(cause)
                : List.of());
    if (wasUp) {
      /*
       * The first retry comes soon only after a session that was up for 10 s, so a flapping session
       * backs off.
       */
      if (clock.nanoTime() - establishedNs > STABLE_NS) {
        backoff.reset();
      }
      planRetry(cause.deservesPenalty());
      actions.down(end);
    } else {
      Side other = side == Side.OUTBOUND ? Side.INBOUND : Side.OUTBOUND;
      if (leg(other).phase == Phase.NONE || leg(other).phase == Phase.CONNECTING) {
        planRetry(cause.deservesPenalty() && leg(other).phase == Phase.NONE);
      }
      actions.attemptFailed(end);
    }
  }

  private void planRetry(boolean idle) {
    if (!running) {
      return;
    }
    isInIdleHold = idle;
    retrying = true;
    retryNs = clock.nanoTime() + backoff.nextNs();
  }

  /** Closes a connection without planning an attempt or reporting an end. */
  private void closeSilently(Side side, @Nullable NotificationMessage notification) {
    Leg leg = leg(side);
    if (notification != null && leg.phase != Phase.CONNECTING) {
      actions.send(side, notification);
    }
    leg.phase = Phase.NONE;
    leg.hasDeadline = false;
    leg.negotiated = null;
    actions.close(side);
  }

  /** Handles expired deadlines. */
  void tick() {
    long nowNs = clock.nanoTime();
    for (Side side : Side.values()) {
      Leg leg = leg(side);
      boolean holds = leg.phase == Phase.OPEN_CONFIRM || leg.phase == Phase.ESTABLISHED;
      if (leg.hasDeadline && leg.deadlineNs - nowNs <= 0) {
        expired(side, leg, holds);
      } else if (holds && leg.holdNs != FOREVER_NS && leg.keepaliveNs - nowNs <= 0) {
        leg.keepaliveNs = nowNs + leg.holdNs / 3;
        actions.send(side, KeepaliveMessage.INSTANCE);
      }
    }
    if (retrying && retryNs - nowNs <= 0) {
      retrying = false;
      isInIdleHold = false;
      attempt();
    }
  }

  private void expired(Side side, Leg leg, boolean holds) {
    if (leg.phase == Phase.CONNECTING) {
      end(side, null, Cause.UNREACHABLE, options.describeFailedConnect());
      return;
    }
    String what =
        holds
            ? "the peer sent nothing for " + leg.holdNs / 1_000_000_000L + " s"
            : options.describeSilence("the peer sent no OPEN");
    end(
        side,
        new NotificationMessage(NotificationMessage.HOLD_TIMER_EXPIRED, 0),
        Cause.HOLD_TIMER,
        what);
  }

  /** Returns the nanoseconds until {@link #tick} is due. */
  long nextDeadlineNs() {
    long nowNs = clock.nanoTime();
    long next = FOREVER_NS;
    for (Side side : Side.values()) {
      Leg leg = leg(side);
      if (leg.hasDeadline) {
        next = Math.min(next, leg.deadlineNs - nowNs);
      }
      boolean holds = leg.phase == Phase.OPEN_CONFIRM || leg.phase == Phase.ESTABLISHED;
      if (holds && leg.holdNs != FOREVER_NS) {
        next = Math.min(next, leg.keepaliveNs - nowNs);
      }
    }
    if (retrying) {
      next = Math.min(next, retryNs - nowNs);
    }
    return Math.max(0, next);
  }

  private void arm(Leg leg, long afterNs) {
    leg.hasDeadline = afterNs != FOREVER_NS;
    leg.deadlineNs = clock.nanoTime() + afterNs;
  }

  private Leg leg(Side side) {
    return side == Side.OUTBOUND ? outbound : inbound;
  }
}
