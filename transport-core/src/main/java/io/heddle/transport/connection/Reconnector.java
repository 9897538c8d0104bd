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
 * Calls the other end's {@link ReconnectListeners}: for the next control channel, where the present
 * one is given up, or, where it is in doubt, to learn whether the other end is slow. Who answers at
 * a door has said on the channel first where it is. What doesn't come then, soon, won't: the
 * channel is given up. An end that only knocks has no channel made by that, but tells the other
 * that it needs one. Control thread; times are those in which it ran.
 */
final class Reconnector {
  private static final long ROUND_NS = 500_000_000;
  private static final long RECHECK_NS = 20_000_000;

  /* By so much an answer on the channel may come behind that at a door. */
  private static final long REPLY_GRACE_NS = 50_000_000;

  /* So long a call that was taken lies at the door of a slow peer before it is made again. */
  private static final long ACCEPTED_LIMIT_NS = 4_000_000_000L;

  private static final String PROCESS_GONE =
      ", and nobody is behind its doors any more: its process is gone";

  /**
   * The way back to the other end.
   *
   * @param calls whether this end makes the channel anew; the other only knocks, to learn whether
   *     anybody is there
   * @param doors of the other end, at the start
   */
  record ReconnectTarget(boolean calls, byte[] ticket, List<InetSocketAddress> doors) {
    ReconnectTarget {
      doors = List.copyOf(doors);
    }
  }

  /** Whose channel it is. */
  interface Owner {
    boolean isOver();

    /** What a channel begins with. */
    Ping ping();

    /** Where this end can be called. */
    ControlMessage.ReconnectAddresses ownDoors();

    /** Whether something has come by the present channel since then. */
    boolean isHeardSince(long since);

    /** The other end has had so many of our messages; returns how many it is known to have. */
    long acknowledged(long count);

    /** This is the next channel. */
    void useChannel(ControlChannel fresh, Ping theirs);

    /** The other end is gone. */
    void lose(String reason);
  }

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final Connection connection;
  private final ReconnectTarget target;
  private final long graceNs;
  private final Owner owner;
  private List<InetSocketAddress> doors;
  private final Log log;

  private List<Attempt> attempts = List.of();
  private long rounds;
  private String trouble = "";
  /* Since when doors are called; 0 while they aren't. */
  private long lostNs;
  private long calledNs;
  private boolean closedByPeer;
  private @Nullable Answer answer;

  /* Whether the channel is given up; else it is in doubt, and kept where it says something and so many of our messages are
  acknowledged. */
  private boolean sure;
  private long owed;

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
    doors = target.doors();
    this.graceNs = graceNs;
    this.owner = owner;
    this.log = log;
    calledNs = loop.nanoTime() - 2 * ROUND_NS;
  }

  private void report(PeerEvents.Kind kind, String what) {
    String peer = connection.peer();
    connection.events().report(kind, connection, peer, log, List.of(peer + ": " + what));
  }

  /** The other end is called here from the next round on. */
  void setPeerAddresses(List<InetSocketAddress> theirs) {
    doors = List.copyOf(theirs);
  }

  /** There is a channel. */
  void channelFound() {
    lostNs = 0;
    sure = false;
    closedByPeer = false;
  }

  /** The channel is closed, perhaps only because the other end goes on by another. */
  void closed(String reason, boolean byPeer) {
    closedByPeer = byPeer;
    replaceChannel(reason);
  }

  /** The other end, which can't call, was answered at a door and hears nothing on the channel. */
  void peerCannotHear() {
    if (lostNs != 0 || loop.nanoTime() - calledNs > ROUND_NS) {
      replaceChannel("the other end knocks");
    }
  }

  /** The channel is given up: the first door that answers is the next one. */
  void replaceChannel(String reason) {
    if (owner.isOver() || sure) {
      return;
    }
    sure = true;
    report(PeerEvents.Kind.RENEWED, "the control channel is made anew: " + reason);
    Answer first = answer;
    if (first != null && first.at.channel != null) {
      switchTo(first);
    } else {
      hangUp();
      callPeer(reason);
    }
  }

  /**
   * The channel is in doubt, but the other end may be slow.
   *
   * @param acknowledged so many of our messages should have been acknowledged on it
   */
  void probe(String reason, long acknowledged) {
    if (!owner.isOver() && lostNs == 0) {
      owed = acknowledged;
      report(PeerEvents.Kind.DOUBTED, "asking at its doors whether it is there: " + reason);
      callPeer(reason);
    }
  }

  private void callPeer(String reason) {
    lostNs = loop.nanoTime();
    trouble = reason;
    round(lostNs);
  }

  /** Something has come by the channel, and so many of our messages are acknowledged. */
  void endProbe(long acknowledged) {
    if (lostNs != 0 && !sure && owner.isHeardSince(lostNs) && acknowledged >= owed) {
      hangUp();
      report(
          PeerEvents.Kind.HEARD,
          "it is there, and goes on by the same control channel, after %s ms"
              .formatted((loop.nanoTime() - lostNs) / 1_000_000));
      lostNs = 0;
    }
  }

  private void round(long since) {
    calledNs = loop.nanoTime();
    long number = ++rounds;
    List<Attempt> begun = new ArrayList<>();
    attempts = begun;
    for (InetSocketAddress door : doors) {
      begun.add(new Attempt(door, number));
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
    boolean isTaken = reached && attempts.stream().anyMatch(each -> !each.gone);
    if (!sure && isTaken && loop.nanoTime() - calledNs < ACCEPTED_LIMIT_NS) {
      /* Its kernel has taken the call; a second one would only lie there, too. */
      tasks.schedule(ROUND_NS, () -> endRound(since, number));
      return;
    }
    boolean isAnyDoorShut = attempts.stream().anyMatch(each -> each.refused);
    hangUp();
    if (sure && owner.isHeardSince(since)) {
      lostNs = 0;
      sure = false;
    } else if (!reached && closedByPeer && isAnyDoorShut) {
      owner.lose(trouble + PROCESS_GONE);
    } else if (!reached && loop.nanoTime() - since > graceNs) {
      owner.lose(
          "%s, and none of its doors %s has answered since"
              .formatted(trouble, doors.stream().map(AddressText::of).toList()));
    } else {
      round(since);
    }
  }

  /* Somebody took a call who may be the other end. */
  private boolean isReached() {
    return attempts.stream().anyMatch(each -> each.taken && !each.foreign);
  }

  /** Where the other end answered, and what it said there. */
  private record Answer(Attempt at, Ping ping) {}

  private void answered(Answer first) {
    owner.acknowledged(first.ping.received());
    if (sure) {
      switchTo(first);
    } else if (answer == null) {
      answer = first;
      long since = lostNs;
      tasks.schedule(REPLY_GRACE_NS, () -> judge(first, since));
    }
  }

  /* The other end is there. What it has said on the channel before it answered at the door has come, or won't. */
  private void judge(Answer first, long since) {
    endProbe(owner.acknowledged(0));
    if (owner.isOver() || lostNs != since || answer != first) {
      return;
    }
    if (first.at.channel == null) {
      answer = null;
    } else if (target.calls()) {
      replaceChannel(trouble);
    } else {
      report(PeerEvents.Kind.UNHEARD, "this end hears nothing on the control channel: " + trouble);
      switchTo(first);
    }
  }

  /* Who only knocks says that it has to, and the other end calls. */
  private void switchTo(Answer first) {
    ControlChannel open = first.at.channel;
    if (open == null) {
      return;
    }
    if (!target.calls()) {
      /* First: where all of ours have moved, the other end couldn't call. */
      open.send(owner.ownDoors());
      open.send(owner.ping());
      open.closeWhenSent();
      first.at.channel = null;
      first.at.gone = true;
      answer = null;
      return;
    }
    first.at.channel = null;
    hangUp();
    report(
        PeerEvents.Kind.FOUND,
        "the control channel goes by way of " + AddressText.of(first.at.door));
    owner.useChannel(open, first.ping);
  }

  /** Ends all calls. */
  void hangUp() {
    List<Attempt> old = attempts;
    attempts = List.of();
    answer = null;
    old.forEach(Attempt::hangUp);
  }

  /** One call at one door. */
  private final class Attempt implements ControlChannel.Listener {
    private final InetSocketAddress door;
    private final long number;
    private @Nullable ControlChannel channel;
    private boolean taken;
    private boolean refused;
    private boolean gone;

    /* Another program has the door's port: it echoes, or speaks otherwise. */
    private boolean foreign;

    Attempt(InetSocketAddress door, long number) {
      this.door = door;
      this.number = number;
    }

    void call() {
      ControlChannel begun = ControlChannel.connect(loop, door, this);
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
      taken = true;
      connected.send(new ControlMessage.Hello(ControlCodec.VERSION, 0, target.ticket(), number));
    }

    @Override
    public void onMessage(ControlMessage message) {
      ControlChannel open = channel;
      if (open == null || !attempts.contains(this)) {
        return;
      }
      if (message instanceof Ping ping) {
        answered(new Answer(this, ping));
      } else if (message instanceof ControlMessage.Refused no) {
        owner.lose("%s, and then it said: %s".formatted(trouble, no.reason()));
      } else if (message instanceof ControlMessage.Hello) {
        hangUp();
        onClosed(ControlChannel.Ending.PROTOCOL_ERROR, "it echoes");
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      refused = how == ControlChannel.Ending.REFUSED;
      foreign = how == ControlChannel.Ending.PROTOCOL_ERROR;
      gone = true;
      channel = null;
      if (!attempts.contains(this) || attempts.stream().anyMatch(each -> !each.gone)) {
        return;
      }
      if (attempts.stream().anyMatch(each -> each.refused)
          && attempts.stream().allMatch(each -> each.refused || each.foreign)) {
        owner.lose(trouble + PROCESS_GONE);
      } else if (closedByPeer && loop.nanoTime() - lostNs < ROUND_NS) {
        /* Perhaps a process whose doors are shut after its channel. */
        long since = lostNs;
        tasks.schedule(RECHECK_NS, () -> endRound(since, number));
      }
    }
  }
}
