package io.heddle.bgp.session;

import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.net.EventLoop;
import io.heddle.bgp.net.TcpSocket;
import io.heddle.bgp.session.SessionEnd.Cause;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.MessageFault;
import io.heddle.bgp.wire.NotificationMessage;
import io.heddle.bgp.wire.OrfEntry;
import io.heddle.bgp.wire.RouteRefreshMessage;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Log;
import io.heddle.platform.NanoClock;
import io.heddle.platform.SystemCallException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Session with one peer: connects, keeps the session up and passes its routes to the listener.
 * Created by {@link BgpSpeaker#add}; all methods are for the speaker's thread.
 */
public final class PeerSession {
  /* RFC 9687 §4: the send hold time is twice the hold time, and at least 8 minutes. */
  private static final long SEND_HOLD_LEAST_NS = 480_000_000_000L;
  private static final long RETRY_TICK_NS = 1_000_000_000;

  private final BgpSpeaker speaker;
  private final EventLoop loop;
  private final PeerOptions options;
  private final SessionListener listener;
  private final Log log;
  private final SessionFsm fsm;
  private final PeerPath path;
  private final ReceivedRoutes received;
  private final Effects effects = new Effects();
  private @Nullable PeerConnection outbound;
  private @Nullable PeerConnection inbound;
  private @Nullable PeerConnection current;
  private @Nullable Negotiated negotiated;
  private @Nullable InetAddress remote;
  private @Nullable Endpoint ownEndpoint;
  private @Nullable SessionEnd lastEnd;
  private EventLoop.@Nullable Timer tick;
  private long tickDueNs;
  private long establishedNs;
  private long timesEstablished;
  private long failedAttempts;
  private long rejected;
  /* Error after which a rejected connection was last logged. */
  private @Nullable SessionEnd loggedEnd;

  /* Number of the session during which a rejected connection was last logged. */
  private long loggedSession;

  PeerSession(BgpSpeaker speaker, PeerOptions options, SessionListener listener) {
    this.speaker = speaker;
    this.loop = speaker.loop();
    this.options = options;
    this.listener = listener;
    this.log = loop.log();
    this.remote = options.remote();
    this.path = new PeerPath(speaker, options);
    this.received = new ReceivedRoutes(this, loop, listener);
    /*
     * Each session has its own generator. A ThreadLocalRandom obtained on this thread and used on
     * the loop's thread would yield the same numbers in every process.
     */
    Backoff backoff =
        new Backoff(
            options.retryFirstMs() * 1_000_000,
            options.retryMostMs() * 1_000_000,
            new SplittableRandom());
    this.fsm = new SessionFsm(options, NanoClock.SYSTEM, backoff, effects);
  }

  public PeerOptions options() {
    return options;
  }

  public String name() {
    return options.name();
  }

  /** Starts to connect; does nothing if started already. */
  public void start() {
    path.open(this::routerFound);
    fsm.start();
    rearm();
  }

  /** Ends the session with a sentence for the peer's operator, and stays idle. */
  public void stop(String sentence) {
    fsm.stop(NotificationMessage.cease(NotificationMessage.ADMINISTRATIVE_SHUTDOWN, sentence));
    received.forgetStale();
    path.close();
    rearm();
  }

  /*
   * The first router is the peer until it disappears: a second one on the link doesn't end the
   * session.
   */
  private void routerFound(Inet6Address address) {
    if (options.remote() == null && current == null && !address.equals(remote)) {
      remoteFound(address);
    }
  }

  /** Sets the address of a peer discovered on the link. */
  public void remoteFound(Inet6Address address) {
    if (!address.equals(remote)) {
      remote = address;
      speaker.keyChanged(this);
    }
    fsm.retryNow();
    rearm();
  }

  /** Retries now instead of after the back-off, for instance because the carrier came back. */
  public void retryNow() {
    fsm.retryNow();
    rearm();
  }

  /** Ends the session because BFD reports a broken path. */
  public void pathDown(String why) {
    fsm.pathDown(Cause.BFD, why);
    rearm();
  }

  /** Ends the session because the link is down. */
  void linkDown(String why) {
    fsm.pathDown(Cause.LINK_DOWN, why);
    rearm();
  }

  /** Returns the peer's address and port; null while the address is unknown. */
  public @Nullable Endpoint remote() {
    InetAddress address = remote;
    return address == null ? null : Endpoint.of(address, scope(), options.port());
  }

  private int scope() {
    return options.interfaceName().isEmpty()
        ? 0
        : LinuxCalls.interfaceIndex(options.interfaceName());
  }

  /**
   * Announces and withdraws our routes, except those of families that the peer doesn't speak. Does
   * nothing if the session isn't up.
   */
  public void send(UpdateMessage update) {
    PeerConnection connection = current;
    if (connection != null) {
      connection.send(update);
    }
  }

  /**
   * Requests all routes of a family again. Returns false if no session is up, or if the peer
   * doesn't support route refresh or the family.
   */
  public boolean requestRefresh(AddressFamily family) {
    PeerConnection connection = current;
    Negotiated agreed = negotiated;
    if (connection == null
        || agreed == null
        || !agreed.routeRefresh()
        || !agreed.families().has(family)) {
      return false;
    }
    connection.send(RouteRefreshMessage.request(family));
    return true;
  }

  /**
   * Sends entries of an address prefix filter, in as many messages as needed. The peer sends its
   * routes only after the last message. Returns false if no session is up, or if the peer accepts
   * no filters for that family.
   */
  public boolean sendFilter(AddressFamily family, List<OrfEntry> lines) {
    for (int from = 0; from < lines.size(); from += OrfEntry.HOSTS_PER_MESSAGE) {
      int to = Math.min(lines.size(), from + OrfEntry.HOSTS_PER_MESSAGE);
      if (!sendFilter(family, to == lines.size(), lines.subList(from, to))) {
        return false;
      }
    }
    return true;
  }

  /**
   * Sends one message of a filter, after which the peer waits for a later message before it sends
   * routes.
   */
  public boolean sendDeferredFilter(AddressFamily family, List<OrfEntry> lines) {
    return sendFilter(family, false, lines);
  }

  private boolean sendFilter(AddressFamily family, boolean immediate, List<OrfEntry> lines) {
    PeerConnection connection = current;
    Negotiated agreed = negotiated;
    if (connection == null || agreed == null || !agreed.filtered().contains(family)) {
      return false;
    }
    connection.send(RouteRefreshMessage.filter(family, immediate, lines));
    return true;
  }

  public SessionState state() {
    return fsm.state();
  }

  public SessionStatus status() {
    Endpoint endpoint = remote();
    long retryNs = fsm.retryInNs();
    return new SessionStatus(
        name(),
        fsm.state(),
        endpoint == null ? "" : endpoint.toString(),
        negotiated,
        lastEnd,
        retryNs < 0 ? -1 : retryNs / 1_000_000,
        fsm.idleHoldLeftNs() < 0 ? -1 : fsm.idleHoldLeftNs() / 1_000_000,
        current == null ? -1 : (System.nanoTime() - establishedNs) / 1_000_000,
        received.counters(rejected, timesEstablished, failedAttempts));
  }

  /** Accepts a connection from the peer; closes it if the session's state doesn't allow one. */
  void accepted(TcpSocket socket) {
    if (!fsm.acceptsConnection()) {
      logRejection();
      socket.close();
      return;
    }
    try {
      socket.configure(options.tcp());
    } catch (SystemCallException refused) {
      log.warn(
          "peer %s: its connection can't be used: %s",
          name(), String.valueOf(refused.getMessage()));
      socket.close();
      return;
    }
    inbound = new PeerConnection(loop, socket, false, effects);
    fsm.connected(SessionFsm.Side.INBOUND);
    rearm();
  }

  /* Logs one rejection per idle hold time, and one per session that is already up. */
  private void logRejection() {
    rejected++;
    SessionEnd end = lastEnd;
    long idleNs = fsm.idleHoldLeftNs();
    if (idleNs >= 0 && end != null && end != loggedEnd) {
      loggedEnd = end;
      log.warn(
          "peer %s: it connects, and is rejected for another %.1f s, since the last session"
              + " ended with an error: %s",
          name(), idleNs / 1e9, end.why());
    } else if (fsm.state() == SessionState.ESTABLISHED && loggedSession != timesEstablished) {
      loggedSession = timesEstablished;
      log.warn("peer %s: it connects again, and is rejected while its session is up", name());
    }
  }

  /**
   * Returns our address of the session. Null if the session isn't up, or if the peer runs on this
   * host and has the same address.
   */
  @Nullable Endpoint ownEndpoint() {
    return ownEndpoint;
  }

  byte[] md5Key() {
    return options.tcp().md5Key();
  }

  private void rearm() {
    long dueNs = System.nanoTime() + fsm.nextDeadlineNs();
    EventLoop.Timer armed = tick;
    if (armed != null && tickDueNs - dueNs <= 0) {
      return;
    }
    if (armed != null) {
      armed.cancel();
    }
    tickDueNs = dueNs;
    tick = loop.schedule(Math.max(0, dueNs - System.nanoTime()), this::onTick);
  }

  /* Schedules another tick even if a deadline's action throws. */
  private void onTick() {
    tick = null;
    try {
      runDeadlines();
    } finally {
      if (tick == null) {
        tickDueNs = System.nanoTime() + RETRY_TICK_NS;
        tick = loop.schedule(RETRY_TICK_NS, this::onTick);
      }
    }
  }

  private void runDeadlines() {
    PeerConnection connection = current;
    Negotiated agreed = negotiated;
    if (connection != null && agreed != null && agreed.holdTimeSeconds() > 0) {
      long limitNs = Math.max(SEND_HOLD_LEAST_NS, 2_000_000_000L * agreed.holdTimeSeconds());
      if (connection.blockedForNs() > limitNs) {
        fsm.onSendHoldExpired(
            side(connection), "the peer read nothing for " + limitNs / 1_000_000_000 + " s");
      }
    }
    fsm.tick();
    rearm();
  }

  private SessionFsm.Side side(PeerConnection connection) {
    return connection == outbound ? SessionFsm.Side.OUTBOUND : SessionFsm.Side.INBOUND;
  }

  private boolean isGone(PeerConnection connection) {
    return connection != outbound && connection != inbound;
  }

  private void onRefresh(RouteRefreshMessage message) {
    Negotiated agreed = negotiated;
    AddressFamily family = message.family();
    if (agreed == null || !agreed.families().has(family)) {
      return;
    }
    if (message.subtype() == RouteRefreshMessage.REQUEST) {
      speaker.refreshRequested(this, family);
    } else {
      received.refresh(family, message.subtype());
    }
  }

  /** Handler of the state machine's actions and of the connections' events. */
  private final class Effects implements SessionFsm.Actions, PeerConnection.Owner {
    @Override
    public void connect() {
      Endpoint endpoint = remote();
      if (endpoint == null || endpoint.isLinkLocal() && endpoint.scope() == 0) {
        String why =
            endpoint == null
                ? "no router has advertised itself on " + options.interfaceName() + " yet"
                : "there is no interface " + options.interfaceName();
        loop.execute(() -> outboundFailed(why));
        return;
      }
      InetAddress local = options.localAddress();
      try {
        TcpSocket socket =
            TcpSocket.connect(
                loop,
                local == null ? null : Endpoint.of(local, endpoint.scope(), 0),
                endpoint,
                options.tcp());
        outbound = new PeerConnection(loop, socket, true, this);
      } catch (SystemCallException failure) {
        loop.execute(() -> outboundFailed(String.valueOf(failure.getMessage())));
      }
    }

    private void outboundFailed(String why) {
      if (outbound == null && fsm.state() != SessionState.IDLE) {
        fsm.lost(SessionFsm.Side.OUTBOUND, why);
        rearm();
      }
    }

    @Override
    public void send(SessionFsm.Side side, BgpMessage message) {
      PeerConnection connection = side == SessionFsm.Side.OUTBOUND ? outbound : inbound;
      if (connection != null) {
        connection.send(message);
      }
    }

    @Override
    public void agreed(SessionFsm.Side side, Negotiated outcome) {
      PeerConnection connection = side == SessionFsm.Side.OUTBOUND ? outbound : inbound;
      if (connection != null) {
        connection.setWireOptions(outcome.wire());
      }
    }

    @Override
    public void close(SessionFsm.Side side) {
      PeerConnection connection = side == SessionFsm.Side.OUTBOUND ? outbound : inbound;
      if (connection != null) {
        connection.close();
        if (connection == current) {
          current = null;
          negotiated = null;
          ownEndpoint = null;
        }
      }
      if (side == SessionFsm.Side.OUTBOUND) {
        outbound = null;
      } else {
        inbound = null;
      }
    }

    @Override
    public void established(SessionFsm.Side side, Negotiated outcome) {
      PeerConnection connection = side == SessionFsm.Side.OUTBOUND ? outbound : inbound;
      current = connection;
      negotiated = outcome;
      establishedNs = System.nanoTime();
      timesEstablished++;
      if (connection != null) {
        Endpoint ours = connection.socket().localEndpoint();
        Endpoint peer = remote();
        ownEndpoint = peer != null && ours.hasSameAddress(peer) ? null : ours;
        path.sessionUp(ours, remote(), PeerSession.this::pathDown);
      }
      log.info(
          "peer %s: established with AS %d, hold time %d s",
          name(), outcome.peerAs(), outcome.holdTimeSeconds());
      listener.established(PeerSession.this, outcome);
      /* A restarting peer waits for End-of-RIB before it sends routes (RFC 4724 §4.1). */
      UpdateMessage.endsOfRib(outcome.families()).forEach(PeerSession.this::send);
      received.established(outcome);
    }

    @Override
    public void down(SessionEnd end) {
      lastEnd = end;
      path.sessionDown();
      log.warn("peer %s: down: %s", name(), end.why());
      received.down(end);
      listener.down(PeerSession.this, end);
    }

    @Override
    public void attemptFailed(SessionEnd end) {
      boolean news = lastEnd == null || !lastEnd.why().equals(end.why());
      lastEnd = end;
      failedAttempts++;
      if (news && end.cause() != Cause.COLLISION) {
        log.warn("peer %s: no session: %s; trying again", name(), end.why());
      }
      listener.attemptFailed(PeerSession.this, end);
    }

    @Override
    public void connected(PeerConnection connection) {
      fsm.connected(side(connection));
      rearm();
    }

    @Override
    public void received(PeerConnection connection, BgpMessage message) {
      if (isGone(connection)) {
        return;
      }
      boolean forRoutes = fsm.received(side(connection), message);
      if (forRoutes && message instanceof UpdateMessage update) {
        received.update(update);
      } else if (forRoutes && message instanceof RouteRefreshMessage refresh) {
        onRefresh(refresh);
      } else {
        rearm();
      }
    }

    @Override
    public void malformedMessage(PeerConnection connection, MessageFault fault) {
      if (!isGone(connection)) {
        fsm.malformedMessage(side(connection), fault);
        rearm();
      }
    }

    @Override
    public void lost(PeerConnection connection, String why) {
      if (!isGone(connection)) {
        fsm.lost(side(connection), why);
        rearm();
      }
    }
  }
}
