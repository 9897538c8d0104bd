package io.heddle.transport;

import io.heddle.platform.Log;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlListener;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A listener; one may serve several accepts. Conversations go on while nobody accepts: a finished
 * connection waits in the queue.
 */
public final class ListenComm implements AutoCloseable {
  /* Conversations at a time: strangers who connect and say nothing can't use up memory or descriptors. */
  private static final int MOST_CONVERSATIONS = 1024;

  /* How long a peer that broke off before there was a connection may take to call again. */
  private static final long NEXT_CALL_NS = 5_000_000_000L;

  private final ControlLoop loop;
  private final Log log;
  private final Queue<Handshake<RecvComm>> ended = new ConcurrentLinkedQueue<>();

  /* Control thread only. */
  private final List<Handshake<RecvComm>> conversations = new ArrayList<>();

  /* Of the calls that peers made, on however many channels: those that accept was told of, and the last conversation of
  each that broke off. */
  private final Set<Long> settled = new HashSet<>();
  private final Map<Long, Handshake<RecvComm>> brokenOff = new HashMap<>();
  private int strangers;
  private int silent;
  private List<ControlListener> listeners = List.of();

  ListenComm(ControlLoop loop, Log log) {
    this.loop = loop;
    this.log = log;
  }

  void listenWith(List<ControlListener> controls) {
    listeners = List.copyOf(controls);
  }

  /** Gives the next connection its conversation. Control thread. */
  ControlChannel.Listener converse(Supplier<Handshake<RecvComm>> maker) {
    if (conversations.size() >= MOST_CONVERSATIONS) {
      return new TurnedAway();
    }
    Handshake<RecvComm> conversation = maker.get();
    conversation.start();
    conversations.add(conversation);
    return conversation;
  }

  /**
   * A conversation ended. Peers that never showed the token are no business of accept; they are
   * told of at the first, second, fourth, eighth … time. Control thread.
   */
  void ended(Handshake<RecvComm> conversation) {
    boolean expected = conversations.remove(conversation);
    Handshake.Outcome<RecvComm> outcome = conversation.outcome();
    if (conversation.isAuthenticated()) {
      endedKnown(conversation, outcome != null && outcome.comm() != null);
    } else if (expected && outcome != null && conversation.hasHeardNothing()) {
      if (Integer.bitCount(++silent) == 1) {
        log.info(
            "no word from who called a control port (%d so far at this listener): %s",
            silent, outcome.failure());
      }
    } else if (expected && outcome != null && Integer.bitCount(++strangers) == 1) {
      log.warn(
          "turned away at a control port (%d so far at this listener): %s",
          strangers, outcome.failure());
    }
  }

  /* One call, one outcome: a peer says hello on several channels where we are slow, and goes on with one of them. */
  private void endedKnown(Handshake<RecvComm> conversation, boolean connected) {
    long call = conversation.call();
    if (connected) {
      settle(conversation);
    } else if (!settled.contains(call) && !goesOn(call)) {
      if (conversation.wasHungUp()) {
        brokenOff.put(call, conversation);
        loop.schedule(NEXT_CALL_NS, () -> giveUp(conversation));
      } else {
        settle(conversation);
      }
    }
  }

  /* On another channel, whose end decides. */
  private boolean goesOn(long call) {
    return conversations.stream().anyMatch(each -> each.isAuthenticated() && each.call() == call);
  }

  private void giveUp(Handshake<RecvComm> conversation) {
    long call = conversation.call();
    if (brokenOff.get(call) == conversation && !goesOn(call)) {
      settle(conversation);
    }
  }

  private void settle(Handshake<RecvComm> conversation) {
    settled.add(conversation.call());
    brokenOff.remove(conversation.call());
    ended.add(conversation);
  }

  /** The next conversation that ended; null while there is none. */
  Handshake.@Nullable Outcome<RecvComm> next() {
    Handshake<RecvComm> conversation = ended.poll();
    return conversation == null ? null : conversation.outcome();
  }

  /** Stops listening, gives up what goes on, and closes connections that nobody accepted. */
  @Override
  public void close() {
    listeners.forEach(ControlListener::close);
    loop.execute(() -> {
      List<Handshake<RecvComm>> unfinished = List.copyOf(conversations);
      conversations.clear();
      unfinished.forEach(Handshake::abandon);
      for (Handshake<RecvComm> left = ended.poll(); left != null; left = ended.poll()) {
        Handshake.Outcome<RecvComm> outcome = left.outcome();
        RecvComm comm = outcome == null ? null : outcome.comm();
        if (comm != null) {
          comm.close();
        }
      }
    });
  }

  /** What a connection gets that is one too many. */
  private static final class TurnedAway implements ControlChannel.Listener {
    @Override
    public void onConnected(ControlChannel channel) {
      channel.send(new ControlMessage.Refused("too many connections at this listener"));
      channel.closeWhenSent();
    }

    @Override
    public void onMessage(ControlMessage message) {
      // It is being turned away; whatever it says, the answer is on its way.
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      // Nothing was begun.
    }
  }
}
