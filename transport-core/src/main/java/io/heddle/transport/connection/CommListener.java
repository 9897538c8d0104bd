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
 * Listener for one kind of communicator; may serve several accepts. Handshakes proceed whether or
 * not accept is called: finished connections wait in a queue.
 */
public class CommListener<C extends Communicator> implements AutoCloseable {
  /* Maximum number of concurrent handshakes; unauthenticated channels don't count. */
  private static final int MAX_HANDSHAKES = 1024;

  /*
   * Maximum number of calls, that is connects of peers, whose decided outcome is remembered. A
   * call's channels end within seconds, so older calls aren't needed.
   */
  private static final int MAX_SETTLED = 4096;

  /* Time in which a peer that disconnected during the handshake may call again. */
  private static final long NEXT_CALL_LIMIT_NS = 5_000_000_000L;

  private final ControlLoop loop;
  private final Log log;
  private final Queue<Handshake<C>> ended = new ConcurrentLinkedQueue<>();

  /* Control thread only. */
  private final List<Handshake<C>> handshakes = new ArrayList<>();

  /* Numbers of the calls whose outcome is decided; a peer may use several channels for one call. */
  private final Set<Long> settled = new LinkedHashSet<>();
  /* Last handshake of each call that the peer has interrupted, by number of the call. */
  private final Long2ObjectHashMap<Handshake<C>> interrupted = new Long2ObjectHashMap<>();
  private int unauthenticatedCount;
  private int silentCount;
  /*
   * Set by close. A channel that was accepted before is then refused at its first message, since
   * its connection would never be accepted or closed.
   */
  private boolean closed;
  private List<ControlListener> listeners = List.of();

  CommListener(ControlLoop loop, Log log) {
    this.loop = loop;
    this.log = log;
  }

  void setListeners(List<ControlListener> controls) {
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
    if (closed || handshakes.size() >= MAX_HANDSHAKES) {
      with.send(
          new ControlMessage.Refused(
              closed ? "this listener has closed" : "too many connections at this listener"));
      with.closeWhenSent();
      return;
    }
    Handshake<C> handshake = maker.get();
    handshakes.add(handshake);
    handshake.start(with, first);
  }

  /**
   * Handles the end of a handshake. Accept doesn't report unauthenticated peers; they are logged at
   * the first, second, fourth, eighth … time. Control thread.
   */
  void ended(Handshake<C> handshake) {
    boolean expected = handshakes.remove(handshake);
    HandshakeOutcome<C> outcome = handshake.outcome();
    if (handshake.isAuthenticated()) {
      endedAuthenticated(handshake, outcome != null && outcome.comm() != null);
    } else if (expected && outcome != null) {
      logRejected(outcome.failure());
    }
  }

  private void logRejected(String why) {
    if (Integer.bitCount(++unauthenticatedCount) == 1) {
      log.warn(
          "rejected at a control port (%d so far at this listener): %s", unauthenticatedCount, why);
    }
  }

  /*
   * Handles the end of an authenticated handshake. Each call gets one outcome, although it may have
   * several channels: if this end is slow, the peer sends Hello on several channels and continues
   * on one of them.
   */
  private void endedAuthenticated(Handshake<C> handshake, boolean connected) {
    long call = handshake.call();
    if (connected) {
      settle(handshake);
    } else if (!settled.contains(call) && !isCallActive(call)) {
      if (handshake.hasPeerClosed()) {
        interrupted.put(call, handshake);
        loop.schedule(NEXT_CALL_LIMIT_NS, () -> settleInterrupted(handshake));
      } else {
        settle(handshake);
      }
    }
  }

  /*
   * Returns whether another channel of the call is still open. Then that channel's end decides the
   * outcome of the call.
   */
  private boolean isCallActive(long call) {
    return handshakes.stream().anyMatch(each -> each.isAuthenticated() && each.call() == call);
  }

  private void settleInterrupted(Handshake<C> handshake) {
    long call = handshake.call();
    if (interrupted.get(call) == handshake && !isCallActive(call)) {
      settle(handshake);
    }
  }

  private void settle(Handshake<C> handshake) {
    settled.add(handshake.call());
    if (settled.size() > MAX_SETTLED) {
      settled.remove(settled.iterator().next());
    }
    interrupted.remove(handshake.call());
    ended.add(handshake);
  }

  /** Returns the outcome of the next handshake that ended; null while there is none. */
  @Nullable HandshakeOutcome<C> next() {
    Handshake<C> handshake = ended.poll();
    return handshake == null ? null : handshake.outcome();
  }

  /** Stops listening, abandons handshakes, and closes connections that weren't accepted. */
  @Override
  public void close() {
    listeners.forEach(ControlListener::close);
    loop.execute(() -> {
      closed = true;
      List<Handshake<C>> unfinished = List.copyOf(handshakes);
      handshakes.clear();
      unfinished.forEach(Handshake::abandon);
      for (Handshake<C> left = ended.poll(); left != null; left = ended.poll()) {
        HandshakeOutcome<C> outcome = left.outcome();
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
      } else if (open != null && Integer.bitCount(++silentCount) == 1) {
        log.info(
            "a connection to a control port sent nothing (%d so far at this listener): %s",
            silentCount, reason);
      }
    }
  }
}
