package io.heddle.transport.control;

import io.heddle.addr.AddressText;
import io.heddle.platform.HeddleException;
import io.heddle.platform.OpenFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.function.Supplier;

/** A listening control socket. Accepted connections are handed to a listener of their own each. */
public final class ControlListener implements ControlLoop.Handler {
  private static final int BACKLOG = 1024;
  private static final long PAUSE_NS = 20_000_000;

  private final ControlLoop loop;
  private final ServerSocketChannel server;
  private final Supplier<ControlChannel.Listener> accepted;
  private final InetSocketAddress address;
  private int failures; /* control thread */

  /**
   * Listens on an ephemeral port of this address. Any thread.
   *
   * @param accepted gives the listener of each new connection
   */
  public ControlListener(
      ControlLoop loop, InetAddress address, Supplier<ControlChannel.Listener> accepted) {
    this.loop = loop;
    this.accepted = accepted;
    try {
      server = ServerSocketChannel.open();
      server.configureBlocking(false);
      server.bind(new InetSocketAddress(address, 0), BACKLOG);
      this.address = (InetSocketAddress) server.getLocalAddress();
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
    loop.execute(this::start);
  }

  private void start() {
    try {
      loop.register(server, SelectionKey.OP_ACCEPT, this);
    } catch (IOException closedAlready) {
      throw new HeddleException("the control listener was closed before it began", closedAlready);
    }
  }

  public InetSocketAddress address() {
    return address;
  }

  @Override
  public void onReady(SelectionKey key) {
    try {
      for (SocketChannel socket = server.accept(); socket != null; socket = server.accept()) {
        converse(socket);
      }
    } catch (IOException failure) {
      if (!(OpenFiles.isLimit(failure) && acceptInPlaceOfSpare())) {
        pause(key, failure);
      }
    }
  }

  /*
   * Who calls hears why there is no connection, and so does who accepts: this call has the descriptor that was kept for it,
   * and the conversation ends for want of the next one.
   */
  private boolean acceptInPlaceOfSpare() {
    if (!loop.giveSpare()) {
      return false;
    }
    try {
      SocketChannel socket = server.accept();
      if (socket != null) {
        converse(socket);
      }
      return true;
    } catch (IOException takenByAnother) {
      return false;
    }
  }

  private void converse(SocketChannel socket) {
    ControlChannel.Listener listener;
    try {
      listener = accepted.get();
    } catch (RuntimeException failure) {
      ControlLoop.closeQuietly(socket);
      throw failure;
    }
    ControlChannel channel;
    try {
      channel = ControlChannel.accepted(loop, socket, listener);
    } catch (IOException failure) {
      /* Gone again before it was looked at. */
      ControlLoop.closeQuietly(socket);
      listener.onClosed(
          ControlChannel.Ending.PEER,
          "an accepted connection can't be used: " + failure.getMessage());
      return;
    }
    listener.onConnected(channel);
  }

  @Override
  public void onBroken(SelectionKey key) {
    rest(key);
  }

  /* Out of descriptors, most likely. The connection still waits: selecting for it at once would spin. */
  private void pause(SelectionKey key, IOException failure) {
    if (Integer.bitCount(++failures) == 1) {
      loop.log()
          .warn(
              "accepting control connections on %s fails (%d times so far): %s",
              address, failures, OpenFiles.explain(failure));
    }
    rest(key);
  }

  private void rest(SelectionKey key) {
    key.interestOps(0);
    loop.schedule(
        PAUSE_NS,
        () -> {
          if (key.isValid()) {
            key.interestOps(SelectionKey.OP_ACCEPT);
          }
        });
  }

  /** Stops listening; accepted connections live on. Any thread. */
  public void close() {
    loop.execute(() -> {
      try {
        server.close();
      } catch (IOException failure) {
        throw new HeddleException("closing a control listener failed", failure);
      }
    });
  }
}
