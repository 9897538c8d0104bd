package io.heddle.transport.connection;

import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.RandomBytes;
import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.control.ControlTasks;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.device.NetDevice;
import io.heddle.verbs.VerbsException;
import java.security.MessageDigest;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One end of the handshake that makes a connection; {@link ControlSession} continues on its
 * channel.
 *
 * <pre>
 * connecting                       accepting
 *   Hello             ──────────▶    checks version and token first
 *                     ◀──────────  Hello
 *   PlaneList         ──────────▶
 *                     ◀──────────  PlaneList
 *     both pair planes by marks and make queue pairs
 *   Endpoints         ◀─────────▶  Endpoints
 *     both connect their queue pairs and post receives
 *   ReconnectAddresses, Ready      ◀─────────▶  ReconnectAddresses, Ready
 * </pre>
 *
 * <p>The connecting end may send Hello on several channels ({@link ConnectAttempts}). It continues
 * on the first that is answered, and the accepting end does nothing for the others.
 *
 * <p>Runs on the control thread; {@link #outcome} is read by other threads.
 *
 * @param <C> kind of communicator that the handshake makes
 */
public final class Handshake<C extends Communicator> implements ControlChannel.Listener {
  private enum Stage {
    HELLO,
    PLANES,
    ENDPOINTS,
    CONNECTING,
    READY,
    ESTABLISHED,
    OVER
  }

  private static final String UNREACHABLE = "the listener can't be reached: ";

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final NetDevice device;
  private final ReconnectTicket ticket;
  private final ConnectionTerms terms;
  private final boolean connecting;
  private final Log log;
  private final BiFunction<Connection, Runnable, C> maker;
  private final Consumer<Handshake<C>> ended;
  private final SilenceLimit silence;

  /* Taken before a failure needs it, since there may be no memory then. */
  private final HandshakeOutcome<C> localError = HandshakeOutcome.localError();

  private Stage stage = Stage.HELLO;
  private byte[] listenerPlaneDigest = {};
  private @Nullable ConnectAttempts calls;

  /* Until this is set, the owner expects no notification of the handshake's end. */
  private boolean begun;
  private boolean authenticated;
  private long call;
  private boolean hungUp;
  private boolean isEndNotified;
  private boolean isPeersFailure;
  /* The connection is to be closed as soon as it is made. */
  private boolean isAbandoned;
  private boolean spansAllPlanes;
  private boolean peerIsReady;
  private int connectRetries;
  private @Nullable ControlChannel channel;
  private @Nullable Connection connection;
  private ControlMessage.ReconnectAddresses peerAddresses =
      new ControlMessage.ReconnectAddresses(new byte[ControlCodec.TOKEN_BYTES], List.of());
  private @Nullable ControlSession link;
  private volatile @Nullable HandshakeOutcome<C> outcome;

  Handshake(
      ControlLoop loop,
      NetDevice device,
      ReconnectListeners listeners,
      ConnectionTerms terms,
      boolean connecting,
      Log log,
      BiFunction<Connection, Runnable, C> maker,
      Consumer<Handshake<C>> ended) {
    this.loop = loop;
    tasks = loop.tasksOf(thrown -> failLocally());
    this.device = device;
    ticket = new ReconnectTicket(listeners);
    this.terms = terms;
    this.spansAllPlanes = connecting && terms.spansAllPlanes();
    this.connecting = connecting;
    this.log = log;
    this.maker = maker;
    this.ended = ended;
    silence = new SilenceLimit(loop, tasks, terms.timeoutNs(), this::onSilence);
  }

  /** Returns the outcome; null while the handshake runs. Any thread. */
  @Nullable HandshakeOutcome<C> outcome() {
    return outcome;
  }

  /**
   * Returns the communicator, once it is connected; null while the handshake runs. Any thread.
   *
   * @throws HeddleException when the connection can't be made
   */
  public @Nullable C poll() {
    HandshakeOutcome<C> reached = outcome;
    return reached == null ? null : reached.require();
  }

  private void onSilence() {
    if (stage != Stage.ESTABLISHED && stage != Stage.OVER) {
      failFromPeer(timeoutReason());
    }
  }

  private String timeoutReason() {
    ConnectAttempts unanswered = calls;
    return unanswered != null && stage == Stage.HELLO
        ? UNREACHABLE + unanswered.failuresAfter(terms.timeoutNs())
        : "%s did not answer within %s ms (waited for %s)"
            .formatted(peer(), terms.timeoutNs() / 1_000_000, stage);
  }

  /** Connects to the listener that wrote this handle. Control thread. */
  void call(ConnectionHandle handle) {
    tasks.run(() -> {
      begun = true;
      if (stage == Stage.OVER) {
        notifyEnd();
        return;
      }
      silence.begin();
      listenerPlaneDigest = handle.planeDigest();
      call = RandomBytes.nextLong();
      ConnectAttempts made =
          new ConnectAttempts(
              loop,
              tasks,
              handle.addresses(),
              ControlMessage.Hello.of(false, spansAllPlanes, terms.token(), call),
              terms.timeoutNs(),
              this::onAnswer,
              troubles -> failFromPeer(UNREACHABLE + troubles));
      calls = made;
      made.connectNext();
    });
  }

  private void onAnswer(ControlChannel by, ControlMessage.Hello hello) {
    String troubles = requirePresent(calls, "calls").failures();
    silence.heard();
    channel = by;
    by.setListener(this);
    authenticated = true;
    if (spansAllPlanes && !hello.spansAllPlanes()) {
      refuse(ConnectAttempts.noPacketPolicy(peer()));
      return;
    }
    if (!troubles.isEmpty()) {
      log.info("%s answered at last, after %s", peer(), troubles);
    }
    stage = Stage.PLANES;
    by.send(PlaneOffers.of(device, terms));
  }

  @Override
  public void onConnected(ControlChannel connected) {
    channel = connected;
  }

  /** Takes over an accepted channel and its first message. Control thread. */
  void start(ControlChannel caller, ControlMessage first) {
    begun = true;
    silence.heard();
    channel = caller;
    caller.setListener(this);
    onMessage(first);
    if (authenticated) {
      caller.markAuthenticated();
      silence.await();
    }
  }

  @Override
  public void onMessage(ControlMessage message) {
    silence.heard();
    try {
      switch (message) {
        case ControlMessage.Hello hello when stage == Stage.HELLO -> onHello(hello);
        case ControlMessage.PlaneList planes when stage == Stage.PLANES -> onPlanes(planes);
        case ControlMessage.Endpoints endpoints when stage == Stage.ENDPOINTS ->
            onEndpoints(endpoints);
        case ControlMessage.Ready ready when stage == Stage.CONNECTING -> peerIsReady = true;
        case ControlMessage.Ready ready when stage == Stage.READY -> onReady();
        case ControlMessage.ReconnectAddresses addresses
            when stage == Stage.ENDPOINTS || stage == Stage.CONNECTING || stage == Stage.READY ->
            peerAddresses = addresses;
        case ControlMessage.Refused refused -> fail(peer() + " refused: " + refused.reason());
        default ->
            fail(peer() + " sent " + message.getClass().getSimpleName() + " in stage " + stage);
      }
    } catch (HeddleException failure) {
      refuse(String.valueOf(failure.getMessage()));
    }
  }

  /* Handles the initiator's Hello; ConnectAttempts handles the listener's. */
  private void onHello(ControlMessage.Hello hello) {
    if (hello.version() != ControlCodec.VERSION) {
      refuse(ConnectAttempts.otherVersion(peer(), hello));
      return;
    }
    if (hello.isAnswer()) {
      fail(peer() + " sent an answer instead of a request; it isn't a connecting end");
      return;
    }
    if (!MessageDigest.isEqual(hello.token(), terms.token())) {
      /* A peer without the token gets no answer. */
      fail(ConnectAttempts.otherToken(peer()));
      return;
    }
    authenticated = true;
    call = hello.call();
    spansAllPlanes = hello.spansAllPlanes();
    if (spansAllPlanes && device.context().maxLinks() == 1) {
      refuse(device.needsLinks());
      return;
    }
    stage = Stage.PLANES;
    channel().send(ControlMessage.Hello.of(true, spansAllPlanes, terms.token(), call));
  }

  private void onPlanes(ControlMessage.PlaneList planes) {
    if (!connecting) {
      channel().send(PlaneOffers.of(device, terms));
    }
    Connection made = new Connection(device, terms.inlineBytes());
    connection = made;
    PlanePairing pairing = made.pair(planes, terms.queuePairsPerPlane(), spansAllPlanes);
    pairing.logDifferences(made.peer(), log);
    if (connecting) {
      PlaneOffers.warnIfPlanesChanged(listenerPlaneDigest, planes, made, log);
    }
    PlaneOffers.logQueuePairs(terms, planes, made, log);
    stage = Stage.ENDPOINTS;
    channel().send(made.endpoints());
  }

  private void onEndpoints(ControlMessage.Endpoints endpoints) {
    stage = Stage.CONNECTING;
    Connection made = connection();
    for (boolean connected = false; !connected; ) {
      try {
        made.connect(endpoints, terms.settings());
        connected = true;
      } catch (VerbsException refused) {
        if (terms.retries().allows(connectRetries, refused.errno())) {
          retryConnect(endpoints, refused);
          return;
        }
        made.pairs().leaveUnconnected(refused);
      }
    }
    stage = Stage.READY;
    ControlChannel open = channel();
    open.send(ticket.newMessage());
    open.send(new ControlMessage.Ready());
    if (peerIsReady && stage == Stage.READY) {
      onReady();
    }
  }

  private void retryConnect(ControlMessage.Endpoints endpoints, VerbsException refused) {
    if (connectRetries++ == 0) {
      terms.retries().report(refused, log);
    }
    tasks.schedule(
        terms.retries().pauseNs(),
        () -> {
          if (stage == Stage.CONNECTING) {
            try {
              onEndpoints(endpoints);
            } catch (HeddleException failure) {
              refuse(String.valueOf(failure.getMessage()));
            }
          }
        });
  }

  private void onReady() {
    stage = Stage.ESTABLISHED;
    tasks.cancelScheduled();
    Connection made = connection();
    ControlChannel open = channel();
    C comm = maker.apply(made, this::close);
    ControlSession session =
        new ControlSession(
            loop,
            made,
            comm,
            new Reconnector.ReconnectTarget(
                connecting, peerAddresses.ticket(), peerAddresses.addresses()),
            ticket,
            terms.graceNs(),
            log);
    made.health().setFailureListener(session::reportFailure);
    link = session;
    session.begin(open);
    channel = null;
    outcome = new HandshakeOutcome<>(comm, "", false);
    notifyEnd();
    if (isAbandoned) {
      comm.close();
    }
  }

  /* Notifies the owner of the end, once. */
  private void notifyEnd() {
    if (begun && !isEndNotified) {
      isEndNotified = true;
      ended.accept(this);
    }
  }

  @Override
  public void onClosed(ControlChannel.Ending how, String reason) {
    if (how == ControlChannel.Ending.LOCAL_ERROR) {
      failLocally();
      return;
    }
    hungUp = authenticated && link == null && stage != Stage.OVER;
    switch (how) {
      case PEER, REFUSED, NETWORK -> failFromPeer(reason);
      case PROTOCOL_ERROR, NO_DESCRIPTOR, LOCAL_ERROR, EVICTED -> fail(reason);
    }
  }

  private void refuse(String reason) {
    ControlChannel open = channel;
    if (open != null) {
      open.send(new ControlMessage.Refused(reason));
      open.closeWhenSent();
      channel = null;
    }
    fail(reason);
  }

  /*
   * Fails after an exception in a task. The handshake's state may be inconsistent. The first step
   * needs no memory, which may be lacking.
   */
  private void failLocally() {
    if (outcome == null) {
      outcome = localError;
    }
    fail(localError.failure());
    ControlSession session = link;
    if (session != null && outcome == localError) {
      session.discard();
    }
  }

  private void failFromPeer(String reason) {
    isPeersFailure = true;
    fail(reason);
  }

  /* Ends the handshake for this reason. The owner is notified even if the clean-up fails. */
  private void fail(String reason) {
    try {
      giveUp(reason);
    } finally {
      notifyEnd();
      hangUp();
    }
  }

  private void giveUp(String reason) {
    Connection made = connection;
    ControlSession session = link;
    if (session != null) {
      session.lose(reason);
    } else if (stage != Stage.OVER) {
      stage = Stage.OVER;
      if (outcome == null) {
        outcome = new HandshakeOutcome<>(null, reason, isPeersFailure);
      }
      if (made != null) {
        connection = null;
        made.close();
      }
    }
  }

  private void hangUp() {
    tasks.cancelScheduled();
    ControlChannel open = channel;
    ConnectAttempts unanswered = calls;
    channel = null;
    if (open != null) {
      open.close();
    }
    if (unanswered != null) {
      unanswered.hangUp();
    }
  }

  /** Closes as {@link ControlSession#close} does. Any thread, once there is a communicator. */
  void close() {
    requirePresent(link, "communicator").close();
  }

  /**
   * Abandons the handshake; if it has finished, its connection is closed. If this end has sent
   * Ready, it still waits for the peer's Ready: the peer may have established the connection, which
   * must then be closed with Closing. Any thread.
   */
  public void abandon() {
    tasks.execute(() -> {
      HandshakeOutcome<C> reached = outcome;
      C made = reached == null ? null : reached.comm();
      if (made != null) {
        made.close();
      } else if (stage == Stage.READY) {
        isAbandoned = true;
        connection().health().leave();
      } else {
        fail("the local end gave up");
      }
    });
  }

  /**
   * Returns whether the authenticated peer disconnected without a message before there was a
   * connection. Control thread.
   */
  boolean hasPeerClosed() {
    return hungUp;
  }

  /** Returns whether the other end has shown the token. Control thread. */
  boolean isAuthenticated() {
    return authenticated;
  }

  /**
   * Returns the number that the connecting end gave this connect; all its channels send the same
   * number.
   */
  long call() {
    return call;
  }

  private String peer() {
    Connection made = connection;
    ControlChannel open = channel;
    if (open == null) {
      return "the peer";
    }
    return (made == null ? "" : made.peer() + " ") + open.peer();
  }

  private ControlChannel channel() {
    return requirePresent(channel, "channel");
  }

  private Connection connection() {
    return requirePresent(connection, "connection");
  }

  private <T> T requirePresent(@Nullable T part, String what) {
    if (part == null) {
      throw new IllegalStateException("no " + what + " in stage " + stage);
    }
    return part;
  }
}
