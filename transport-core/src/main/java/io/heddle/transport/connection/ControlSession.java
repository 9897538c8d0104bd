package io.heddle.transport.connection;

import io.heddle.platform.Log;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.control.ControlMessage.Ping;
import io.heddle.transport.control.ControlTasks;
import io.heddle.transport.control.Heartbeats;
import io.heddle.transport.data.Communicator;
import io.heddle.transport.data.ConnectionHealth;
import io.heddle.transport.failover.Failover;
import io.heddle.transport.failover.PeerChannel;
import org.jspecify.annotations.Nullable;

/**
 * Control session of an established connection: delivers messages between its two ends in order and
 * exactly once, over successive TCP connections. Control thread.
 *
 * <p>Both ends number their messages and keep them until a {@link Ping} acknowledges them; a
 * running process acknowledges at once. The end that connected replaces the channel if it breaks,
 * if the peer closes it without a {@code Closing} message, or if its plane is out of use. To do so,
 * it connects to the peer's {@link ReconnectListeners}. If those refuse, the peer is gone.
 *
 * <p>If a channel falls silent, or a message isn't acknowledged, the peer may merely be slow. So
 * this end probes the peer's reconnect listeners. Before the peer answers the probe, it sends a
 * Ping on the present channel. The channel is replaced only if that Ping doesn't arrive. Times
 * count only while this thread runs ({@link ControlLoop#nanoTime}).
 */
public final class ControlSession
    implements PeerChannel, ReconnectListeners.Session, Heartbeats.Member {
  private static final long ANSWER_NS = 160_000_000;

  /**
   * Failure reason of a connection for whose messages the control thread threw an exception; a
   * constant, since there may be no memory then.
   */
  private static final String LOCAL_ERROR =
      "the control thread failed while it handled this connection; the error is logged before"
          + " this line";

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final Connection connection;
  private final Failover failover;
  private final Reconnector.ReconnectTarget target;
  private final ReconnectTicket ticket;
  private final long graceNs;
  private final Log log;

  private @Nullable SessionChannel current;
  private final SentMessages sent = new SentMessages();
  private long received;
  private long heardNs;

  private final Reconnector calls;
  private long adoptedChannel;

  private boolean failureReported;
  private boolean closing;
  private boolean over;
  private boolean ended;
  private final Runnable guardedEnd = this::endGuarded;

  /**
   * @param ticket this end's reconnect addresses, valid until the session ends
   */
  ControlSession(
      ControlLoop loop,
      Connection connection,
      Communicator end,
      Reconnector.ReconnectTarget target,
      ReconnectTicket ticket,
      long graceNs,
      Log log) {
    this.loop = loop;
    tasks = loop.tasksOf(thrown -> failLocally());
    this.connection = connection;
    this.target = target;
    this.graceNs = graceNs;
    heardNs = loop.nanoTime();
    this.ticket = ticket;
    this.log = log;
    calls = new Reconnector(loop, tasks, connection, target, graceNs, new ReconnectorOwner(), log);
    failover = new Failover(tasks, connection, end, this, graceNs, log);
    connection.setFailover(failover);
    end.setPlaneFailureListener(failover);
  }

  /**
   * Continues on the handshake's channel. Planes that the handshake couldn't connect have failed.
   */
  void begin(ControlChannel channel) {
    makeCurrent(channel, 0);
    ticket.expect(this);
    sendPing();
    if (ticket.haveAddressesChanged()) {
      ownAddressesChanged();
    }
    connection.pairs().unconnected().forEach(failover::reportFailureNow);
  }

  private void makeCurrent(ControlChannel channel, long number) {
    drop();
    SessionChannel active = new SessionChannel(channel, number);
    channel.setListener(active);
    current = active;
    heardNs = loop.nanoTime();
    calls.onChannelFound();
  }

  /* Detaches the current channel, if any: it is neither read nor written any more. */
  private @Nullable SessionChannel drop() {
    SessionChannel old = current;
    current = null;
    if (old != null) {
      old.heartbeat.leave(this);
    }
    return old;
  }

  /** TCP connection of this session. Only the current one's messages are handled. */
  private final class SessionChannel implements ControlChannel.Listener {
    final ControlChannel channel;
    final long begunNs = loop.nanoTime();
    final Heartbeats.Heartbeat heartbeat;
    private long number;

    SessionChannel(ControlChannel channel, long number) {
      this.channel = channel;
      this.number = number;
      heartbeat = loop.heartbeats().join(connection.peer(), channel, ControlSession.this);
    }

    @Override
    public void onConnected(ControlChannel connected) {
      throw new IllegalStateException("connected before it was a active");
    }

    @Override
    public void onMessage(ControlMessage message) {
      if (this != current) {
        return;
      }
      heardNs = loop.nanoTime();
      heartbeat.heard();
      if (message instanceof Ping ping) {
        sent.acknowledge(ping.received());
        number = ping.next();
        calls.endProbe(sent.acknowledged());
      } else if (number > received) {
        lose("it skipped message " + received);
      } else if (number++ == received) {
        received++;
        onPeerMessage(message);
        sendPing();
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      if (this == current) {
        drop();
        if (how == ControlChannel.Ending.LOCAL_ERROR) {
          failLocally();
        } else if (how == ControlChannel.Ending.PROTOCOL_ERROR
            || !connection.health().isPeerAlive()) {
          lose("its control channel broke: " + reason);
        } else {
          /*
           * The peer may merely have switched to another channel that this end doesn't know yet.
           * The peer's reconnect listeners will show whether it is gone.
           */
          calls.closed(reason, how == ControlChannel.Ending.PEER);
        }
      }
    }
  }

  private void onPeerMessage(ControlMessage message) {
    switch (message) {
      case ControlMessage.PlaneMessage plane -> failover.onMessage(plane);
      case ControlMessage.Closing closed -> {
        if (closing) {
          end();
        } else {
          connection.health().peerGone(ConnectionHealth.Peer.CLOSED, "it closed its end");
        }
      }
      case ControlMessage.Failed failed -> {
        /*
         * The peer's failure doesn't end a session that closes: the peer still sends Closing when
         * NCCL closes its communicator. Until then the peer may retransmit if our last
         * acknowledgements were lost.
         */
        if (!closing) {
          connection.health().peerGone(ConnectionHealth.Peer.FAILED, failed.reason());
        }
      }
      case ControlMessage.Hello hello -> unexpected(hello);
      case ControlMessage.PlaneList list -> unexpected(list);
      case ControlMessage.Endpoints endpoints -> unexpected(endpoints);
      case ControlMessage.ReconnectAddresses theirs -> peerAddressesChanged(theirs);
      case ControlMessage.Ready ready -> unexpected(ready);
      case ControlMessage.Refused refused -> unexpected(refused);
      case ControlMessage.Ping ping -> unexpected(ping);
      case ControlMessage.Malformed malformed -> unexpected(malformed);
    }
  }

  private void unexpected(ControlMessage message) {
    lose("it sent " + message.getClass().getSimpleName() + " on an established connection");
  }

  @Override
  public boolean send(ControlMessage.PlaneMessage message) {
    return send((ControlMessage) message);
  }

  private boolean send(ControlMessage message) {
    if (over) {
      return false;
    }
    sent.add(message);
    SessionChannel active = current;
    if (active != null) {
      active.channel.send(message);
    }
    awaitAcknowledgement(sent.next(), loop.nanoTime());
    return true;
  }

  /* Probes the peer if it doesn't acknowledge this many of our messages in time. */
  private void awaitAcknowledgement(long count, long sinceNs) {
    tasks.schedule(
        ANSWER_NS,
        () -> {
          if (over || sent.acknowledged() >= count) {
            return;
          }
          long now = loop.nanoTime();
          SessionChannel active = current;
          /*
           * A channel newer than ANSWER_NS has just carried the message again, so the peer gets
           * more time.
           */
          if (active == null || now - active.begunNs >= ANSWER_NS) {
            calls.probe("no answer within " + (now - sinceNs) / 1_000_000 + " ms", count);
          }
          awaitAcknowledgement(count, sinceNs);
        });
  }

  /** Reports this end's failure to the peer, once. Any thread. */
  void reportFailure(String reason) {
    tasks.execute(() -> sendFailure(reason));
  }

  private void sendFailure(String reason) {
    if (!closing && !failureReported && !over) {
      failureReported = true;
      send(new ControlMessage.Failed(reason));
    }
  }

  /**
   * Returns the first message of a channel: the number of messages received so far, and the number
   * of the first unacknowledged message, which is sent next.
   */
  Ping ping() {
    return new Ping(received, sent.acknowledged());
  }

  /* Sends the number of received messages, and the number of our next message. */
  @Override
  public void sendPing() {
    SessionChannel active = current;
    if (active != null) {
      tasks.run(() -> active.channel.send(new Ping(received, sent.next())));
    }
  }

  @Override
  public void onSilence() {
    tasks.run(() -> calls.probe("silent for " + Heartbeats.SILENT_NS / 1_000_000 + " ms", 0));
  }

  /** Runs a task on the session's thread. Any thread. */
  public void execute(Runnable task) {
    tasks.execute(task);
  }

  /** Replaces the channel, regardless of its state. Any thread. */
  public void renew(String reason) {
    tasks.execute(() -> calls.replaceChannel(reason));
  }

  /*
   * Replaces the channel if it uses the path of the failed carrier. Otherwise messages about the
   * failure would wait until the channel counts as silent.
   */
  @Override
  public void failCarrier(int carrier) {
    Connection.PlaneRoute route = connection.routeOf(carrier);
    SessionChannel active = current;
    if (route != null
        && active != null
        && active.channel.hasEitherAddress(route.here(), route.there())) {
      calls.replaceChannel("plane " + route.plane() + " is left");
    }
  }

  @Override
  public Ping pingForReconnect() {
    sendPing();
    return ping();
  }

  @Override
  public void reconnected(ControlChannel fresh, Ping theirs, long number) {
    if (target.isCaller()) {
      fresh.close();
      calls.onPeerRequest();
    } else {
      adopt(fresh, theirs, number);
    }
  }

  @Override
  public void peerAddressesChanged(ControlMessage.ReconnectAddresses theirs) {
    calls.setPeerAddresses(theirs.addresses());
  }

  @Override
  public void ownAddressesChanged() {
    send(ticket.newMessage());
  }

  private final class ReconnectorOwner implements Reconnector.Owner {
    @Override
    public boolean isOver() {
      return over;
    }

    @Override
    public Ping ping() {
      return ControlSession.this.ping();
    }

    @Override
    public ControlMessage.ReconnectAddresses ownAddresses() {
      return ticket.newMessage();
    }

    @Override
    public boolean isHeardSince(long since) {
      return current != null && heardNs - since > 0;
    }

    @Override
    public long acknowledged(long count) {
      sent.acknowledge(count);
      return sent.acknowledged();
    }

    @Override
    public void useChannel(ControlChannel fresh, Ping theirs) {
      takeOver(fresh, theirs);
    }

    @Override
    public void lose(String reason) {
      ControlSession.this.lose(reason);
    }
  }

  /*
   * Switches to the new channel. The old one stays open until the peer has switched, too: a close
   * before would look as if this process had ended.
   */
  private void takeOver(ControlChannel fresh, Ping theirs) {
    SessionChannel old = current;
    if (old != null) {
      ControlChannel left = old.channel;
      left.setListener(DiscardingListener.INSTANCE);
      loop.schedule(ConnectionHealth.LINGER_NS, left::close);
    }
    resume(fresh, theirs);
  }

  /**
   * Switches to this channel with the peer, unless a later one has been adopted since.
   *
   * @param number number of the round of attempts that made the channel
   */
  private void adopt(ControlChannel fresh, Ping theirs, long number) {
    if (over || number <= adoptedChannel) {
      fresh.close();
      return;
    }
    adoptedChannel = number;
    calls.hangUp();
    SessionChannel old = drop();
    if (old != null) {
      old.channel.close();
    }
    resume(fresh, theirs);
  }

  private void resume(ControlChannel fresh, Ping theirs) {
    sent.acknowledge(theirs.received());
    makeCurrent(fresh, theirs.next());
    fresh.send(ping());
    sent.resend(fresh);
  }

  /** Ends the session because the peer is lost, or finishes the close. Control thread. */
  void lose(String reason) {
    calls.hangUp();
    if (over) {
      return;
    }
    if (closing) {
      end();
      return;
    }
    over = true;
    connection.health().peerGone(ConnectionHealth.Peer.LOST, reason);
    failover.peerUnreachable();
    leaveChannel();
    ticket.forget();
  }

  private void leaveChannel() {
    SessionChannel open = drop();
    if (open != null) {
      open.channel.closeWhenSent();
    }
  }

  /**
   * Sends Closing. The queue pairs stay, because the peer may retransmit after a lost
   * acknowledgement of ours. They end when the peer has sent Closing too, is gone or exceeds the
   * linger time, or when too many connections linger. Any thread.
   */
  void close() {
    connection.health().leave();
    tasks.execute(() -> {
      boolean peerThere = connection.health().isPeerAlive();
      boolean said = send(new ControlMessage.Closing());
      closing = true;
      if (peerThere && said) {
        tasks.schedule(ConnectionHealth.LINGER_NS, this::end);
        loop.lingering().add(guardedEnd);
      } else {
        end();
      }
    });
  }

  private void endGuarded() {
    tasks.run(this::end);
  }

  private void end() {
    if (ended) {
      return;
    }
    ended = true;
    boolean first = !over;
    over = true;
    loop.lingering().remove(guardedEnd);
    calls.hangUp();
    failover.end();
    leaveChannel();
    tasks.cancelScheduled();
    connection.close();
    if (first) {
      ticket.forget();
    }
  }

  /*
   * Fails the connection after an exception in a task, which is already logged. The connection's
   * state may be inconsistent. The first step needs no memory, which may be lacking.
   */
  private void failLocally() {
    connection.health().onDeviceFailure(LOCAL_ERROR);
    sendFailure(LOCAL_ERROR);
    lose(LOCAL_ERROR);
  }

  /** Abandons a connection that has no communicator whose close would end it. */
  void discard() {
    failLocally();
    end();
  }
}
