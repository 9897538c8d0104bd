package io.heddle.bgp.session;

import io.heddle.bgp.bfd.BfdSpeaker;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.net.EventLoop;
import io.heddle.bgp.net.LinkWatch;
import io.heddle.bgp.net.TcpSocket;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.SystemCallException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * BGP speaker of a host: one thread, a listening socket for each address family, a session for each
 * peer.
 *
 * <p>{@link #execute} runs work of other threads on the speaker's thread; {@link #callOnLoop} also
 * waits for the result.
 */
public final class BgpSpeaker implements AutoCloseable {
  private static final long ANSWER_LIMIT_SECONDS = 10;
  private static final long ACCEPT_PAUSE_NS = 100_000_000;

  private final EventLoop loop;
  private final List<PeerSession> sessions = new ArrayList<>();
  private final List<TcpSocket> listeners = new ArrayList<>();
  private @Nullable BfdSpeaker bfd;
  private @Nullable LinkWatch links;
  private BiConsumer<PeerSession, AddressFamily> refresh = (session, family) -> {};
  private long unknownPeers;
  private long acceptFailures;

  public BgpSpeaker(Log log) {
    loop = new EventLoop(log);
  }

  public EventLoop loop() {
    return loop;
  }

  /** Runs a task soon on the speaker's thread. For any thread. */
  public void execute(Runnable task) {
    loop.execute(task);
  }

  /**
   * Returns the result of a supplier that runs on the speaker's thread. For any thread.
   *
   * @throws HeddleException if the supplier threw, or gave no result within 10 s
   */
  public <T> T callOnLoop(Supplier<T> supplier) {
    if (loop.isLoopThread()) {
      return supplier.get();
    }
    CompletableFuture<T> result = new CompletableFuture<>();
    loop.execute(() -> {
      try {
        result.complete(supplier.get());
      } catch (RuntimeException failure) {
        result.completeExceptionally(failure);
      } catch (Error failure) {
        result.completeExceptionally(failure);
        throw failure;
      }
    });
    try {
      return result.get(ANSWER_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException("interrupted while waiting for the BGP thread", interrupted);
    } catch (ExecutionException failed) {
      throw new HeddleException("the BGP thread: " + failed.getCause(), failed);
    } catch (TimeoutException silent) {
      throw new HeddleException("the BGP thread gave no answer within 10 s", silent);
    }
  }

  /**
   * Starts to accept peers' connections to one address, of either family. For any thread.
   *
   * @param local address and port to listen on; port 0 for any free port
   * @return port on which the socket listens
   * @throws HeddleException if the port is in use or needs privileges
   */
  public int listen(Endpoint local) {
    return callOnLoop(() -> {
      TcpSocket socket = TcpSocket.listen(loop, local);
      listeners.add(socket);
      sessions.forEach(session -> setKey(socket, session));
      limitHops();
      loop.register(socket.fd(), EventLoop.READABLE, events -> accept(socket));
      return socket.localEndpoint().port();
    });
  }

  /**
   * Adds a peer and returns its session, which {@link PeerSession#start} starts. For any thread.
   */
  public PeerSession add(PeerOptions options, SessionListener routes) {
    return callOnLoop(() -> {
      PeerSession session = new PeerSession(this, options, routes);
      sessions.add(session);
      if (!options.interfaceName().isEmpty()) {
        watchLinks();
      }
      keyChanged(session);
      limitHops();
      return session;
    });
  }

  private void watchLinks() {
    if (links == null) {
      try {
        links = new LinkWatch(loop, this::linkChanged);
      } catch (SystemCallException refused) {
        loop.log()
            .warn(
                "sessions get no notice of lost carriers: %s",
                String.valueOf(refused.getMessage()));
      }
    }
  }

  private void linkChanged(String interfaceName, boolean up) {
    for (PeerSession session : List.copyOf(sessions)) {
      if (!session.options().interfaceName().equals(interfaceName)) {
        continue;
      }
      if (up) {
        session.retryNow();
      } else {
        session.linkDown("the interface " + interfaceName + " is down or has lost its carrier");
      }
    }
  }

  /** Ends the session with a peer and removes the peer. For any thread. */
  public void remove(PeerSession session, String sentence) {
    execute(() -> {
      session.stop(sentence);
      sessions.remove(session);
      Endpoint remote = session.remote();
      if (remote != null && session.md5Key().length > 0) {
        for (TcpSocket socket : listeners) {
          if (socket.isIpv4() == remote.isIpv4()) {
            socket.setMd5Key(remote, new byte[0]);
          }
        }
      }
      limitHops();
    });
  }

  /*
   * Sets the hop limit of the listening sockets, which the kernel checks before a connection is
   * accepted: the smallest that any peer allows. If one peer has no limit, these sockets have none.
   */
  private void limitHops() {
    int least =
        sessions.stream().mapToInt(session -> session.options().minHopLimit()).min().orElse(0);
    for (TcpSocket socket : listeners) {
      try {
        socket.setMinHopLimit(least);
      } catch (SystemCallException refused) {
        loop.log()
            .warn(
                "the hop limit of connections isn't checked before they are accepted: %s",
                String.valueOf(refused.getMessage()));
      }
    }
  }

  /** Sets the action for a peer's route refresh request. */
  public void onRefreshRequest(BiConsumer<PeerSession, AddressFamily> action) {
    execute(() -> refresh = action);
  }

  /** Returns the number of connections from addresses that belong to no peer. For any thread. */
  public long unknownPeers() {
    return callOnLoop(() -> unknownPeers);
  }

  /**
   * Returns the BFD speaker that serves all peers; opens it at the first call.
   *
   * @throws SystemCallException if its port is in use
   */
  BfdSpeaker bfd() {
    BfdSpeaker opened = bfd;
    if (opened == null) {
      opened = new BfdSpeaker(loop);
      bfd = opened;
    }
    return opened;
  }

  void refreshRequested(PeerSession session, AddressFamily family) {
    refresh.accept(session, family);
  }

  /**
   * Sets the session's MD5 key on the listening sockets. Called when the peer's address becomes
   * known or changes.
   */
  void keyChanged(PeerSession session) {
    listeners.forEach(socket -> setKey(socket, session));
  }

  private void setKey(TcpSocket socket, PeerSession session) {
    Endpoint remote = session.remote();
    if (remote != null && remote.isIpv4() == socket.isIpv4() && session.md5Key().length > 0) {
      try {
        socket.setMd5Key(remote, session.md5Key());
      } catch (SystemCallException refused) {
        loop.log()
            .warn(
                "peer %s can't connect to us: %s",
                session.name(), String.valueOf(refused.getMessage()));
      }
    }
  }

  private void accept(TcpSocket socket) {
    try {
      acceptAll(socket);
    } catch (SystemCallException outOfDescriptors) {
      pauseAccepting(socket, outOfDescriptors);
    }
  }

  /*
   * Pauses before the next accept: the connection still waits, so epoll would report it again at
   * once and the loop would spin.
   */
  private void pauseAccepting(TcpSocket socket, SystemCallException why) {
    loop.schedule(
        ACCEPT_PAUSE_NS,
        () -> {
          if (listeners.contains(socket)) {
            loop.change(socket.fd(), EventLoop.READABLE);
          }
        });
    loop.change(socket.fd(), 0);
    if (Long.bitCount(++acceptFailures) == 1) {
      loop.log()
          .warn(
              "connections of peers wait (%d times so far): %s; raise the limit of open files",
              acceptFailures, String.valueOf(why.getMessage()));
    }
  }

  private void acceptAll(TcpSocket socket) {
    for (TcpSocket accepted = socket.accept(); accepted != null; accepted = socket.accept()) {
      Endpoint from = remoteOf(accepted);
      PeerSession session = from == null ? null : sessionFor(from);
      if (session != null) {
        session.accepted(accepted);
      } else {
        if (unknownPeers++ == 0 && from != null) {
          loop.log().warn("%s connected, but is no peer; later ones are counted", from);
        }
        accepted.close();
      }
    }
  }

  /* Returns the connection's remote address; null if the connection has already ended. */
  private static @Nullable Endpoint remoteOf(TcpSocket socket) {
    try {
      return socket.remoteEndpoint();
    } catch (SystemCallException alreadyGone) {
      return null;
    }
  }

  private @Nullable PeerSession sessionFor(Endpoint from) {
    for (PeerSession session : sessions) {
      Endpoint remote = session.remote();
      if (remote != null && remote.hasSameAddress(from)) {
        return session;
      }
    }
    return null;
  }

  /**
   * Closes all sessions with a NOTIFICATION and ends the thread. For any thread but the speaker's.
   */
  @Override
  public void close() {
    execute(() -> {
      sessions.forEach(session -> session.stop(""));
      sessions.clear();
      listeners.forEach(TcpSocket::close);
      listeners.clear();
      BfdSpeaker paths = bfd;
      if (paths != null) {
        paths.close();
        bfd = null;
      }
      LinkWatch watch = links;
      if (watch != null) {
        watch.close();
        links = null;
      }
    });
    loop.close();
  }
}
