package io.heddle.transport.control;

import io.heddle.addr.AddressText;
import io.heddle.platform.HeddleException;
import io.heddle.platform.OpenFiles;
import io.heddle.platform.OwnDescriptors;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Listening control socket. Each accepted connection gets its own {@link ControlChannel.Listener},
 * which handles its events.
 */
public final class ControlListener implements ControlLoop.Handler {
  private static final int BACKLOG = 1024;
  private static final long PAUSE_NS = 20_000_000;

  /*
   * Maximum number of connections that are accepted in one round of the control loop; input of
   * accepted connections is read between two rounds.
   */
  private static final int MAX_ACCEPTS_PER_ROUND = 64;
  private static final long RETRY_NS = 10_000_000;

  private final ControlLoop loop;
  private final ControlTasks tasks;
  private final ServerSocketChannel server;
  private final Supplier<ControlChannel.Listener> accepted;
  private final InetSocketAddress address;
  private final int descriptor;
  private int failures; /* control thread */
  private @Nullable SocketChannel
      waiting; /* accepted; waits until another channel may be admitted; control thread */

  /**
   * Listens on an ephemeral port of this address. Any thread.
   *
   * @param accepted supplies the listener of each new connection
   */
  public ControlListener(
      ControlLoop loop, InetAddress address, Supplier<ControlChannel.Listener> accepted) {
    this.loop = loop;
    tasks = loop.tasksOf(this::startAgain);
    this.accepted = accepted;
    try {
      server = listening(address);
      this.address = (InetSocketAddress) server.getLocalAddress();
      descriptor = OwnDescriptors.opened(this.address, null);
    } catch (IOException failure) {
      throw new HeddleException(
          "can't listen for control connections on %s: %s%s"
              .formatted(
                  AddressText.of(address),
                  OpenFiles.explain(failure),
                  OpenFiles.isLimit(failure)
                      ? ""
                      : "; NCCL_SOCKET_IFNAME names the interface to use"),
          failure);
    }
    tasks.execute(this::start);
  }

  private static ServerSocketChannel listening(InetAddress address) throws IOException {
    ServerSocketChannel server = ServerSocketChannel.open();
    boolean listens = false;
    try {
      server.configureBlocking(false);
      server.bind(new InetSocketAddress(address, 0), BACKLOG);
      listens = true;
    } finally {
      if (!listens) {
        ControlLoop.closeQuietly(server);
      }
    }
    return server;
  }

  private void start() {
    if (server.isOpen()) {
      try {
        loop.register(server, SelectionKey.OP_ACCEPT, this);
      } catch (IOException failure) {
        throw new HeddleException("can't accept control connections on " + address, failure);
      }
    }
  }

  private void startAgain(Throwable thrown) {
    tasks.schedule(PAUSE_NS, this::start);
  }

  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void onReady(SelectionKey key) {
    try {
      for (int i = 0; i < MAX_ACCEPTS_PER_ROUND; i++) {
        SocketChannel socket = waiting == null ? server.accept() : waiting;
        waiting = null;
        if (socket == null) {
          return;
        }
        if (!startChannel(socket)) {
          waiting = socket;
          pauseFor(key, RETRY_NS);
          return;
        }
      }
    } catch (IOException failure) {
      if (!(OpenFiles.isLimit(failure) && acceptWithSpareDescriptor())) {
        pause(key, failure);
      }
    }
  }

  /*
   * Accepts a connection with the spare descriptor. The handshake then fails for lack of the
   * next descriptor, and both ends get the reason.
   */
  private boolean acceptWithSpareDescriptor() {
    if (!loop.releaseSpareDescriptor()) {
      return false;
    }
    try {
      SocketChannel socket = server.accept();
      if (socket != null && !startChannel(socket)) {
        waiting = socket;
      }
      return true;
    } catch (IOException takenByAnother) {
      return false;
    }
  }

  /*
   * Starts a channel for the accepted socket. Returns false while there is no room for another
   * connection.
   */
  private boolean startChannel(SocketChannel socket) {
    ControlChannel.Listener listener = null;
    boolean begun = false;
    try {
      InetSocketAddress from = (InetSocketAddress) socket.getRemoteAddress();
      if (!loop.unauthenticated().admits(from.getAddress())) {
        begun = true;
        return false;
      }
      listener = accepted.get();
      ControlChannel channel = ControlChannel.accepted(loop, socket, from, listener);
      begun = true;
      listener.onConnected(channel);
    } catch (IOException goneAgain) {
      if (listener != null) {
        listener.onClosed(
            ControlChannel.Ending.PEER,
            "an accepted connection can't be used: " + goneAgain.getMessage());
      }
    } finally {
      if (!begun) {
        ControlLoop.closeQuietly(socket);
      }
    }
    return true;
  }

  @Override
  public void onBroken(SelectionKey key) {
    pauseFor(key, PAUSE_NS);
  }

  /*
   * Pauses accepting after a failure, most likely a lack of descriptors. The connection stays in
   * the kernel's queue, so selecting for it at once would spin.
   */
  private void pause(SelectionKey key, IOException failure) {
    if (Integer.bitCount(++failures) == 1) {
      loop.log()
          .warn(
              "accepting control connections on %s fails (%d times so far): %s",
              address, failures, OpenFiles.explain(failure));
    }
    boolean any =
        loop.unauthenticated()
            .evictOldest("sent no valid token, and this process has no descriptors for others");
    pauseFor(key, any ? RETRY_NS : PAUSE_NS);
  }

  private void pauseFor(SelectionKey key, long forNs) {
    loop.schedule(forNs, () -> resume(key));
    key.interestOps(0);
  }

  private void resume(SelectionKey key) {
    if (key.isValid()) {
      key.interestOps(SelectionKey.OP_ACCEPT);
      /* The waiting connection is accepted already, so the selector doesn't report it. */
      if (waiting != null) {
        loop.dispatch(key);
      }
    }
  }

  /** Stops listening; accepted connections stay open. Any thread. */
  public void close() {
    loop.execute(() -> {
      SocketChannel last = waiting;
      waiting = null;
      if (last != null) {
        ControlLoop.closeQuietly(last);
      }
      OwnDescriptors.closing(descriptor);
      ControlLoop.closeQuietly(server);
    });
  }
}
