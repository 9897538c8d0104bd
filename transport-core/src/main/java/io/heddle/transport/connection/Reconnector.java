package io.heddle.transport.connection;

import io.heddle.addr.AddressText;
import io.heddle.platform.Log;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.control.ControlMessage.Ping;
import io.heddle.transport.control.ControlTasks;
import io.heddle.transport.device.PeerEvents;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reconnection to the peer's {@link ReconnectListeners}: gets the next control channel where the
 * present one is given up, or probes whether the peer is merely slow. The peer sends a Ping on the
 * old channel before it answers at a listener. If that Ping doesn't come soon after, the channel is
 * given up. Only one of the two ends makes new channels; the other one connects only to notify the
 * peer that it needs one. Control thread; times count only while that thread runs.
 */
final class Reconnector {
  private static final long ROUND_NS = 500_000_000;
  private static final long RECHECK_NS = 20_000_000;

  /* Time for which a Ping on the channel is awaited after the answer at a listener. */
  private static final long REPLY_GRACE_NS = 50_000_000;

  /* Time that an accepted connection may wait at a slow peer's listener before it is made again. */
  private static final long ACCEPTED_LIMIT_NS = 4_000_000_000L;

  private static final String PROCESS_GONE =
      ", and its reconnect listeners refuse connections: its process is gone";

  /**
   * The peer's reconnect addresses at the start, and this end's role.
   *
   * @param isCaller whether this end makes the new channel; otherwise it connects only to learn
   *     whether the peer is alive, and requests a new channel
   * @param addresses the peer's reconnect addresses
   */
  record ReconnectTarget(boolean isCaller, byte[] ticket, List<InetSocketAddress> addresses) {
    ReconnectTarget {
      addresses = List.copyOf(addresses);
    }
  }

  /** Owner of the control channel that this reconnector probes or replaces. */
  interface Owner {
    boolean isOver();

    /** Returns the first message of a channel. */
    Ping ping();

    /** Returns this end's reconnect addresses. */
    ControlMessage.ReconnectAddresses ownAddresses();

    /** Returns whether anything has come on the present channel since this time. */
    boolean isHeardSince(long since);

    /**
     * Records that the peer has received this many of our messages. Returns the highest number so
     * far.
     */
    long acknowledged(long count);

    /** Switches to the new channel. */
    void useChannel(ControlChannel fresh, Ping theirs);

    /** Handles the final loss of the peer. */
    void lose(String reason);
  }

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final Connection connection;
  private final ReconnectTarget target;
  private final long graceNs;
  private final Owner owner;
  private List<InetSocketAddress> addresses;
  private final Log log;

  private List<Attempt> attempts = List.of();
  private long rounds;
  private String failure = "";
  /* Start of the reconnection or probe; 0 while there is none. */
  private long lostNs;
  private long calledNs;
  private boolean closedByPeer;
  private @Nullable Answer answer;

  /* Whether the channel is given up. If not, it is only being probed. */
  private boolean isChannelLost;
  /*
   * Number of this end's messages that the peer must have acknowledged before a probed channel is
   * kept. A message must also arrive on the channel during the probe.
   */
  private long unacknowledged;

  Reconnector(
      ControlLoop loop,
      ControlTasks tasks,
      Connection connection,
      ReconnectTarget target,
      long graceNs,
      Owner owner,
      Log log) {
    this.loop = loop;
    this.tasks = tasks;
    this.connection = connection;
    this.target = target;
    addresses = target.addresses();
    this.graceNs = graceNs;
    this.owner = owner;
    this.log = log;
    calledNs = loop.nanoTime() - 2 * ROUND_NS;
  }

  private void report(PeerEvents.Kind kind, String what) {
    String peer = connection.peer();
    connection.events().report(kind, connection, peer, log, List.of(peer + ": " + what));
  }

  /** Sets the peer's reconnect addresses, which are used from the next round of attempts on. */
  void setPeerAddresses(List<InetSocketAddress> theirs) {
    addresses = List.copyOf(theirs);
  }

  /** Resets this reconnector: there is a working channel. */
  void onChannelFound() {
    lostNs = 0;
    isChannelLost = false;
    closedByPeer = false;
  }

  /** Handles the close of the channel, which may mean only that the peer switched to another. */
  void closed(String reason, boolean byPeer) {
    closedByPeer = byPeer;
    replaceChannel(reason);
  }

  /**
   * Handles a request for a new channel. The peer sends it when it receives nothing on the present
   * channel, and isn't the end that connects.
   */
  void onPeerRequest() {
    if (lostNs != 0 || loop.nanoTime() - calledNs > ROUND_NS) {
      replaceChannel("the peer requests it");
    }
  }

  /** Gives up the channel: the first listener that answers provides the next one. */
  void replaceChannel(String reason) {
    if (owner.isOver() || isChannelLost) {
      return;
    }
    isChannelLost = true;
    report(PeerEvents.Kind.CHANNEL_REPLACED, "the control channel is replaced: " + reason);
    Answer first = answer;
    if (first != null && first.at.channel != null) {
      switchTo(first);
    } else {
      hangUp();
      callPeer(reason);
    }
  }

  /**
   * Probes a suspect channel: the peer may be slow.
   *
   * @param acknowledged number of our messages that should have been acknowledged on it
   */
  void probe(String reason, long acknowledged) {
    if (!owner.isOver() && lostNs == 0) {
      unacknowledged = acknowledged;
      report(PeerEvents.Kind.CHANNEL_PROBED, "probing it at its reconnect addresses: " + reason);
      callPeer(reason);
    }
  }

  private void callPeer(String reason) {
    lostNs = loop.nanoTime();
    failure = reason;
    round(lostNs);
  }

  /**
   * Ends a probe once a message has come on the channel and this many of our messages are
   * acknowledged.
   */
  void endProbe(long acknowledged) {
    if (lostNs != 0
        && !isChannelLost
        && owner.isHeardSince(lostNs)
        && acknowledged >= unacknowledged) {
      hangUp();
      report(
          PeerEvents.Kind.CHANNEL_KEPT,
          "it is alive, and the control channel stays in use, after %s ms"
              .formatted((loop.nanoTime() - lostNs) / 1_000_000));
      lostNs = 0;
    }
  }

  private void round(long since) {
    calledNs = loop.nanoTime();
    long number = ++rounds;
    List<Attempt> begun = new ArrayList<>();
    attempts = begun;
    for (InetSocketAddress address : addresses) {
      begun.add(new Attempt(address, number));
    }
    for (Attempt attempt : begun) {
      attempt.call();
    }
    tasks.schedule(ROUND_NS, () -> endRound(since, number));
  }

  private void endRound(long since, long number) {
    if (owner.isOver() || lostNs != since || rounds != number) {
      return;
    }
    boolean reached = isReached();
    boolean isTaken = reached && attempts.stream().anyMatch(each -> !each.hasNoProcess);
    if (!isChannelLost && isTaken && loop.nanoTime() - calledNs < ACCEPTED_LIMIT_NS) {
      /*
       * The peer's kernel has accepted the connection; a second connection would only wait for the
       * same process.
       */
      tasks.schedule(ROUND_NS, () -> endRound(since, number));
      return;
    }
    boolean isAnyRefused = attempts.stream().anyMatch(each -> each.refused);
    hangUp();
    if (isChannelLost && owner.isHeardSince(since)) {
      lostNs = 0;
      isChannelLost = false;
    } else if (!reached && closedByPeer && isAnyRefused) {
      owner.lose(failure + PROCESS_GONE);
    } else if (!reached && loop.nanoTime() - since > graceNs) {
      owner.lose(
          "%s, and none of its reconnect addresses %s has answered since"
              .formatted(failure, addresses.stream().map(AddressText::of).toList()));
    } else {
      round(since);
    }
  }

  /* Returns whether some listener, perhaps the peer's, has accepted a connection. */
  private boolean isReached() {
    return attempts.stream().anyMatch(each -> each.isUsed && !each.isForeignProtocol);
  }

  /** Answer of the peer at one listener. */
  private record Answer(Attempt at, Ping ping) {}

  private void onAnswer(Answer first) {
    owner.acknowledged(first.ping.received());
    if (isChannelLost) {
      switchTo(first);
    } else if (answer == null) {
      answer = first;
      long since = lostNs;
      tasks.schedule(REPLY_GRACE_NS, () -> decideAfterAnswer(first, since));
    }
  }

  /*
   * Decides whether the channel stays, some time after the answer. The peer is alive. The Ping that
   * it sent on the channel before this answer has arrived by now, or will never arrive.
   */
  private void decideAfterAnswer(Answer first, long since) {
    endProbe(owner.acknowledged(0));
    if (owner.isOver() || lostNs != since || answer != first) {
      return;
    }
    if (first.at.channel == null) {
      answer = null;
    } else if (target.isCaller()) {
      replaceChannel(failure);
    } else {
      report(PeerEvents.Kind.CHANNEL_SILENT, "nothing arrives on the control channel: " + failure);
      switchTo(first);
    }
  }

  /*
   * Continues on the channel on which this answer came. An end that doesn't connect only requests a
   * new channel there, and the peer then connects.
   */
  private void switchTo(Answer first) {
    ControlChannel open = first.at.channel;
    if (open == null) {
      return;
    }
    if (!target.isCaller()) {
      /* Sent first: the peer can't connect if it doesn't know this end's new addresses. */
      open.send(owner.ownAddresses());
      open.send(owner.ping());
      open.closeWhenSent();
      first.at.channel = null;
      first.at.hasNoProcess = true;
      answer = null;
      return;
    }
    first.at.channel = null;
    hangUp();
    report(
        PeerEvents.Kind.CHANNEL_FOUND,
        "the control channel now uses " + AddressText.of(first.at.address));
    owner.useChannel(open, first.ping);
  }

  /** Ends all attempts. */
  void hangUp() {
    List<Attempt> old = attempts;
    attempts = List.of();
    answer = null;
    old.forEach(Attempt::hangUp);
  }

  /** Attempt at one listener. */
  private final class Attempt implements ControlChannel.Listener {
    private final InetSocketAddress address;
    private final long number;
    private @Nullable ControlChannel channel;
    private boolean isUsed;
    private boolean refused;
    private boolean hasNoProcess;

    /* Another program has the listener's port: it echoes, or speaks another protocol. */
    private boolean isForeignProtocol;

    Attempt(InetSocketAddress address, long number) {
      this.address = address;
      this.number = number;
    }

    void call() {
      ControlChannel begun = ControlChannel.connect(loop, address, this);
      channel = channel == null ? begun : channel;
    }

    void hangUp() {
      ControlChannel open = channel;
      channel = null;
      if (open != null) {
        open.close();
      }
    }

    @Override
    public void onConnected(ControlChannel connected) {
      channel = connected;
      isUsed = true;
      connected.send(new ControlMessage.Hello(ControlCodec.VERSION, 0, target.ticket(), number));
    }

    @Override
    public void onMessage(ControlMessage message) {
      ControlChannel open = channel;
      if (open == null || !attempts.contains(this)) {
        return;
      }
      if (message instanceof Ping ping) {
        onAnswer(new Answer(this, ping));
      } else if (message instanceof ControlMessage.Refused no) {
        owner.lose("%s, and then it said: %s".formatted(failure, no.reason()));
      } else if (message instanceof ControlMessage.Hello) {
        hangUp();
        onClosed(ControlChannel.Ending.PROTOCOL_ERROR, "it echoes");
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      refused = how == ControlChannel.Ending.REFUSED;
      isForeignProtocol = how == ControlChannel.Ending.PROTOCOL_ERROR;
      hasNoProcess = true;
      channel = null;
      if (!attempts.contains(this) || attempts.stream().anyMatch(each -> !each.hasNoProcess)) {
        return;
      }
      if (attempts.stream().anyMatch(each -> each.refused)
          && attempts.stream().allMatch(each -> each.refused || each.isForeignProtocol)) {
        owner.lose(failure + PROCESS_GONE);
      } else if (closedByPeer && loop.nanoTime() - lostNs < ROUND_NS) {
        /* The peer's process may be ending: its channel closes before its listeners. */
        long since = lostNs;
        tasks.schedule(RECHECK_NS, () -> endRound(since, number));
      }
    }
  }
}
