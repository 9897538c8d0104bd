package io.heddle.transport;

import io.heddle.platform.Log;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlListener;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
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

  /* How long somebody who knew the token and hung up before there was a connection may take to call again. */
  private static final long NEXT_CALL_NS = 5_000_000_000L;

  private final ControlLoop loop;
  private final Log log;
  private final Queue<Handshake<RecvComm>> ended = new ConcurrentLinkedQueue<>();

  /* Control thread only. */
  private final List<Handshake<RecvComm>> conversations = new ArrayList<>();
  private final Deque<Handshake<RecvComm>> hungUp = new ArrayDeque<>();

  /* Those that are older than one that led to a connection: that was perhaps their caller's next call. */
  private final Set<Handshake<RecvComm>> overtaken = new HashSet<>();
  private int strangers;
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
    int place = conversations.indexOf(conversation);
    boolean expected = conversations.remove(conversation);
    boolean late = overtaken.remove(conversation);
    Handshake.Outcome<RecvComm> outcome = conversation.outcome();
    if (expected && outcome != null && outcome.comm() != null) {
      overtaken.addAll(conversations.subList(0, place));
    }
    if (conversation.wasHungUp() && late) {
      log.info(
          "%s, while a later call was answered", outcome == null ? "hung up" : outcome.failure());
    } else if (conversation.wasHungUp()) {
      /* Its caller may be on the way to our next address, and is with us once that conversation ends. */
      hungUp.add(conversation);
      awaitNextCall(conversation);
    } else if (conversation.isAuthenticated()) {
      hungUp.poll();
      ended.add(conversation);
    } else if (expected && outcome != null && Integer.bitCount(++strangers) == 1) {
      log.warn(
          "turned away at a control port (%d so far at this listener): %s",
          strangers, outcome.failure());
    }
  }

  /* As long as one goes on with somebody who knows the token, that may be the next call: on a slow host it takes its time. */
  private void awaitNextCall(Handshake<RecvComm> conversation) {
    loop.schedule(
        NEXT_CALL_NS,
        () -> {
          if (hungUp.contains(conversation)
              && conversations.stream().anyMatch(Handshake::isAuthenticated)) {
            awaitNextCall(conversation);
          } else if (hungUp.remove(conversation)) {
            ended.add(conversation);
          }
        });
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
