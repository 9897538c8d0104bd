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
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * What the two ends of a connection say to each other once it is there, in order and once each,
 * whatever becomes of the TCP connections below. Control thread.
 *
 * <p>Messages are numbered by both ends and kept until a {@link Ping} acknowledges them, which an
 * end that lives says at once. A channel that breaks, that the other end closed without a goodbye,
 * or whose plane is left, is made anew by the end that connected: it calls the other's {@link
 * ReconnectListeners}. ReconnectListeners that are shut are the peer's end.
 *
 * <p>Where a channel falls silent, or a message stays without its acknowledgement, the peer may
 * merely be slow. So it is asked at its doors, and who answers there says first on the channel
 * where it is: a channel on which that doesn't come is made anew, any other goes on. All times are
 * those in which this thread ran ({@link ControlLoop#nanoTime}).
 */
public final class ControlSession
    implements PeerChannel, ReconnectListeners.Session, Heartbeats.Member {
  private static final long ANSWER_NS = 160_000_000;

  /**
   * What callers hear whom this end failed. Made before it is needed, since there may be no memory.
   */
  private static final String LOCAL_ERROR =
      "the control thread met an error of its own while it dealt with this connection, which it has"
          + " told before";

  /* A channel that is left refers to no connection. */
  private static final ControlChannel.Listener DISCARD = new DiscardingListener();

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final Connection connection;
  private final Failover failover;
  private final Reconnector.ReconnectTarget target;
  private final ReconnectTicket doors;
  private final long graceNs;
  private final Log log;

  private @Nullable SessionChannel current;
  private final ArrayDeque<ControlMessage> kept = new ArrayDeque<>();
  private long keptFrom;
  private long received;
  private long heardNs;

  private final Reconnector calls;
  private long adopted;

  private boolean failureTold;
  private boolean closing;
  private boolean over;
  private boolean ended;
  private final Runnable guardedEnd = this::endGuarded;

  /**
   * @param doors where the other end finds it until nothing more will be said
   */
  ControlSession(
      ControlLoop loop,
      Connection connection,
      Communicator end,
      Reconnector.ReconnectTarget target,
      ReconnectTicket doors,
      long graceNs,
      Log log) {
    this.loop = loop;
    tasks = loop.tasksOf(this::broken);
    this.connection = connection;
    this.target = target;
    this.graceNs = graceNs;
    heardNs = loop.nanoTime();
    this.doors = doors;
    this.log = log;
    calls = new Reconnector(loop, tasks, connection, target, graceNs, new ReconnectorOwner(), log);
    failover = new Failover(tasks, connection, end, this, graceNs, log);
    connection.begin(failover);
    end.setPlaneFailureListener(failover);
  }

  /** Goes on with the channel of the handshake. Planes that it couldn't connect have failed. */
  void begin(ControlChannel channel) {
    use(channel, 0);
    doors.expect(this);
    sendPing();
    if (doors.haveMoved()) {
      ownAddressesChanged();
    }
    connection.pairs().unconnected().forEach(failover::noticedNow);
  }

  private void use(ControlChannel channel, long number) {
    drop();
    SessionChannel active = new SessionChannel(channel, number);
    channel.handTo(active);
    current = active;
    heardNs = loop.nanoTime();
    calls.channelFound();
  }

  /* The channel that was in use until now, if any: nothing is said or heard there any more. */
  private @Nullable SessionChannel drop() {
    SessionChannel old = current;
    current = null;
    if (old != null) {
      old.heartbeat.leave(this);
    }
    return old;
  }

  /** One TCP connection; only the current one is listened to. */
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
        acknowledged(ping.received());
        number = ping.next();
        calls.endProbe(keptFrom);
      } else if (number > received) {
        lose("it left out message " + received);
      } else if (number++ == received) {
        received++;
        heard(message);
        sendPing();
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      if (this == current) {
        drop();
        if (how == ControlChannel.Ending.LOCAL_ERROR) {
          breakOff();
        } else if (how == ControlChannel.Ending.PROTOCOL_ERROR
            || !connection.health().isPeerAlive()) {
          lose("its control channel broke: " + reason);
        } else {
          /* Perhaps it merely goes on by another one, of which we are too slow to have heard. Its doors will tell. */
          calls.closed(reason, how == ControlChannel.Ending.PEER);
        }
      }
    }
  }

  private void heard(ControlMessage message) {
    switch (message) {
      case ControlMessage.PlaneMessage plane -> failover.heard(plane);
      case ControlMessage.Closing goodbye -> {
        if (closing) {
          end();
        } else {
          connection.health().peerGone(ConnectionHealth.Peer.CLOSED, "it closed its end");
        }
      }
      case ControlMessage.Failed failed -> {
        /* While we close, its goodbye comes when NCCL closes it; our last answers may be asked for again. */
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
    lose("it sent " + message.getClass().getSimpleName() + " on a connection that is there");
  }

  private void acknowledged(long count) {
    while (keptFrom < count && !kept.isEmpty()) {
      kept.remove();
      keptFrom++;
    }
  }

  @Override
  public boolean say(ControlMessage.PlaneMessage message) {
    return say((ControlMessage) message);
  }

  private boolean say(ControlMessage message) {
    if (over) {
      return false;
    }
    kept.add(message);
    SessionChannel active = current;
    if (active != null) {
      active.channel.send(message);
    }
    expect(keptFrom + kept.size(), loop.nanoTime());
    return true;
  }

  /** The listener of a channel that has been left: nothing is heard there any more. */
  private static final class DiscardingListener implements ControlChannel.Listener {
    @Override
    public void onConnected(ControlChannel channel) {
      throw new IllegalStateException("connected after it was left");
    }

    @Override
    public void onMessage(ControlMessage message) {
      // The other end says all of it again on the channel that it goes on by.
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      // The connection doesn't depend on it.
    }
  }

  /* So many messages of ours are acknowledged soon, or the channel carries them no more. */
  private void expect(long count, long sinceNs) {
    tasks.schedule(
        ANSWER_NS,
        () -> {
          if (over || keptFrom >= count) {
            return;
          }
          long now = loop.nanoTime();
          SessionChannel active = current;
          /* One that has just begun has just been told. */
          if (active == null || now - active.begunNs >= ANSWER_NS) {
            calls.probe("no answer within " + (now - sinceNs) / 1_000_000 + " ms", count);
          }
          expect(count, sinceNs);
        });
  }

  /** Tells the peer, once, that this end has failed. Any thread. */
  void reportFailure(String story) {
    tasks.execute(() -> {
      if (!closing && !failureTold) {
        failureTold = true;
        say(new ControlMessage.Failed(story));
      }
    });
  }

  /** What a channel begins with: where we are, and that all we keep will follow. */
  Ping ping() {
    return new Ping(received, keptFrom);
  }

  /* How much we have had, and which number our next message has. */
  @Override
  public void sendPing() {
    SessionChannel active = current;
    if (active != null) {
      tasks.run(() -> active.channel.send(new Ping(received, keptFrom + kept.size())));
    }
  }

  @Override
  public void silent() {
    tasks.run(() -> calls.probe("silent for " + Heartbeats.SILENT_NS / 1_000_000 + " ms", 0));
  }

  /** Does this on the thread that this conversation is held by. Any thread. */
  public void execute(Runnable task) {
    tasks.execute(task);
  }

  /** Makes the channel anew, whatever it is like. Any thread. */
  public void renew(String reason) {
    tasks.execute(() -> calls.replaceChannel(reason));
  }

  /* What is to be said of the plane would wait for the silence of a channel that goes the same way. */
  @Override
  public void leave(int carrier) {
    Connection.PlaneRoute route = connection.routeOf(carrier);
    SessionChannel active = current;
    if (route != null && active != null && active.channel.goesBy(route.here(), route.there())) {
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
    if (target.calls()) {
      fresh.close();
      calls.peerCannotHear();
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
    say(doors.message());
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
    public ControlMessage.ReconnectAddresses ownDoors() {
      return doors.message();
    }

    @Override
    public boolean isHeardSince(long since) {
      return current != null && heardNs - since > 0;
    }

    @Override
    public long acknowledged(long count) {
      ControlSession.this.acknowledged(count);
      return keptFrom;
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

  /* The old channel stays until the other end has left it: its end would be taken for ours. */
  private void takeOver(ControlChannel fresh, Ping theirs) {
    SessionChannel old = current;
    if (old != null) {
      ControlChannel left = old.channel;
      left.handTo(DISCARD);
      loop.schedule(ConnectionHealth.LINGER_NS, left::close);
    }
    resume(fresh, theirs);
  }

  /**
   * The other end goes on by this channel, unless it has gone on by a later one since.
   *
   * @param number of its round of calls
   */
  private void adopt(ControlChannel fresh, Ping theirs, long number) {
    if (over || number <= adopted) {
      fresh.close();
      return;
    }
    adopted = number;
    calls.hangUp();
    SessionChannel old = drop();
    if (old != null) {
      old.channel.close();
    }
    resume(fresh, theirs);
  }

  private void resume(ControlChannel fresh, Ping theirs) {
    acknowledged(theirs.received());
    use(fresh, theirs.next());
    fresh.send(ping());
    kept.forEach(fresh::send);
  }

  /* The end. */

  private void lose(String reason) {
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
    doors.forget();
  }

  private void leaveChannel() {
    SessionChannel open = drop();
    if (open != null) {
      open.channel.closeWhenSent();
    }
  }

  /**
   * Says goodbye. The connection's queue pairs live on until the peer has said so too, or is gone,
   * or has had its time, or too many others wait as well: an acknowledgement of ours may have been
   * lost, and then the peer asks again. Any thread.
   */
  void close() {
    connection.health().leave();
    tasks.execute(() -> {
      boolean peerThere = connection.health().isPeerAlive();
      boolean said = say(new ControlMessage.Closing());
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
      doors.forget();
    }
  }

  /* Something of this connection was told and is half done. The first step needs no memory. */
  private void broken(Throwable told) {
    breakOff();
  }

  private void breakOff() {
    connection.health().deviceFailed(LOCAL_ERROR);
    if (!closing && !failureTold && !over) {
      failureTold = true;
      say(new ControlMessage.Failed(LOCAL_ERROR));
    }
    lose(LOCAL_ERROR);
  }

  /** The local end gives up, and there is no communicator whose close would end it. */
  void discard() {
    breakOff();
    end();
  }

  /** The local end gives up. Control thread. */
  void abandon(String reason) {
    lose(reason);
  }
}
