package io.heddle.transport.connection;

import io.heddle.platform.Log;
import io.heddle.transport.control.ControlChannel;
import io.heddle.transport.control.ControlListener;
import io.heddle.transport.control.ControlLoop;
import io.heddle.transport.control.ControlMessage;
import io.heddle.transport.data.Communicator;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Listener for one kind of communicator; may serve several accepts. Handshakes proceed without
 * accept: finished connections wait in a queue.
 */
public sealed class CommListener<C extends Communicator> implements AutoCloseable
    permits ListenComm, SignalListener {
  /* Maximum number of concurrent handshakes; unauthenticated channels don't count. */
  private static final int MAX_HANDSHAKES = 1024;

  /*
   * Maximum number of settled calls that are remembered. A call's channels end within seconds, so
   * older ones aren't needed.
   */
  private static final int MAX_SETTLED = 4096;

  /* Time in which a peer that disconnected during the handshake may call again. */
  private static final long RECALL_LIMIT_NS = 5_000_000_000L;

  private final ControlLoop loop;
  private final Log log;
  private final Queue<Handshake<C>> ended = new ConcurrentLinkedQueue<>();

  /* Control thread only. */
  private final List<Handshake<C>> conversations = new ArrayList<>();

  /*
   * A peer may use several channels for one call. The first field has the calls whose outcome
   * accept has returned; the second has the last handshake of each interrupted call.
   */
  private final Set<Long> settled = new LinkedHashSet<>();
  private final Long2ObjectHashMap<Handshake<C>> interrupted = new Long2ObjectHashMap<>();
  private int strangers;
  private int silent;
  /*
   * A channel that was accepted before the close is refused at its first message: nobody would
   * accept or close its connection.
   */
  private boolean closed;
  private List<ControlListener> listeners = List.of();

  CommListener(ControlLoop loop, Log log) {
    this.loop = loop;
    this.log = log;
  }

  void listenWith(List<ControlListener> controls) {
    listeners = List.copyOf(controls);
  }

  /** Returns the addresses of this listener. */
  List<InetSocketAddress> addresses() {
    return listeners.stream().map(ControlListener::address).toList();
  }

  /**
   * Returns the listener of the next connection, whose first message starts its handshake. Control
   * thread.
   */
  ControlChannel.Listener firstMessageListener(Supplier<Handshake<C>> maker) {
    return new FirstMessageListener(maker);
  }

  private void begin(Supplier<Handshake<C>> maker, ControlChannel with, ControlMessage first) {
    if (closed || conversations.size() >= MAX_HANDSHAKES) {
      with.send(
          new ControlMessage.Refused(
              closed ? "this listener has closed" : "too many connections at this listener"));
      with.closeWhenSent();
      return;
    }
    Handshake<C> conversation = maker.get();
    conversations.add(conversation);
    conversation.start(with, first);
  }

  /**
   * Handles the end of a handshake. Unauthenticated peers don't concern accept; they are logged at
   * the first, second, fourth, eighth … time. Control thread.
   */
  void ended(Handshake<C> conversation) {
    boolean expected = conversations.remove(conversation);
    Handshake.Outcome<C> outcome = conversation.outcome();
    if (conversation.isAuthenticated()) {
      endedAuthenticated(conversation, outcome != null && outcome.comm() != null);
    } else if (expected && outcome != null) {
      logRejected(outcome.failure());
    }
  }

  private void logRejected(String why) {
    if (Integer.bitCount(++strangers) == 1) {
      log.warn("rejected at a control port (%d so far at this listener): %s", strangers, why);
    }
  }

  /*
   * Each call gets one outcome. If this end is slow, a peer sends Hello on several channels and
   * continues on one of them.
   */
  private void endedAuthenticated(Handshake<C> conversation, boolean connected) {
    long call = conversation.call();
    if (connected) {
      settle(conversation);
    } else if (!settled.contains(call) && !goesOn(call)) {
      if (conversation.peerHungUp()) {
        interrupted.put(call, conversation);
        loop.schedule(RECALL_LIMIT_NS, () -> giveUp(conversation));
      } else {
        settle(conversation);
      }
    }
  }

  /*
   * Returns whether another channel of the call is still open; the end of that channel then
   * decides.
   */
  private boolean goesOn(long call) {
    return conversations.stream().anyMatch(each -> each.isAuthenticated() && each.call() == call);
  }

  private void giveUp(Handshake<C> conversation) {
    long call = conversation.call();
    if (interrupted.get(call) == conversation && !goesOn(call)) {
      settle(conversation);
    }
  }

  private void settle(Handshake<C> conversation) {
    settled.add(conversation.call());
    if (settled.size() > MAX_SETTLED) {
      settled.remove(settled.iterator().next());
    }
    interrupted.remove(conversation.call());
    ended.add(conversation);
  }

  /** Returns the outcome of the next handshake that ended; null while there is none. */
  Handshake.@Nullable Outcome<C> next() {
    Handshake<C> conversation = ended.poll();
    return conversation == null ? null : conversation.outcome();
  }

  /** Stops listening, abandons handshakes, and closes connections that weren't accepted. */
  @Override
  public void close() {
    listeners.forEach(ControlListener::close);
    loop.execute(() -> {
      closed = true;
      List<Handshake<C>> unfinished = List.copyOf(conversations);
      conversations.clear();
      unfinished.forEach(Handshake::abandon);
      for (Handshake<C> left = ended.poll(); left != null; left = ended.poll()) {
        Handshake.Outcome<C> outcome = left.outcome();
        C comm = outcome == null ? null : outcome.comm();
        if (comm != null) {
          comm.close();
        }
      }
    });
  }

  /**
   * Listener of a new connection's first message; until then the connection costs only its channel
   * and this object.
   */
  private final class FirstMessageListener implements ControlChannel.Listener {
    private final Supplier<Handshake<C>> maker;
    private @Nullable ControlChannel channel;

    FirstMessageListener(Supplier<Handshake<C>> maker) {
      this.maker = maker;
    }

    @Override
    public void onConnected(ControlChannel connected) {
      channel = connected;
    }

    @Override
    public void onMessage(ControlMessage message) {
      ControlChannel open = channel;
      channel = null;
      if (open != null) {
        begin(maker, open, message);
      }
    }

    @Override
    public void onClosed(ControlChannel.Ending how, String reason) {
      ControlChannel open = channel;
      channel = null;
      if (open != null && open.hasHeard()) {
        logRejected(reason);
      } else if (open != null && Integer.bitCount(++silent) == 1) {
        log.info(
            "a connection to a control port sent nothing (%d so far at this listener): %s",
            silent, reason);
      }
    }
  }
}
