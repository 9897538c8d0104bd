package io.heddle.transport.control;

import io.heddle.platform.HeddleException;
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

  private final ControlLoop loop;
  private final ServerSocketChannel server;
  private final Supplier<ControlChannel.Listener> accepted;
  private final InetSocketAddress address;

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
          "can't listen for control connections on "
              + address.getHostAddress()
              + "; NCCL_SOCKET_IFNAME names the interface to use",
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
        ControlChannel.Listener listener = accepted.get();
        listener.onConnected(ControlChannel.accepted(loop, socket, listener));
      }
    } catch (IOException failure) {
      throw new HeddleException("accepting a control connection failed", failure);
    }
  }

  /** Stops listening; accepted connections live on. Any thread. */
  public void close() {
    loop.execute(
        () -> {
          try {
            server.close();
          } catch (IOException failure) {
            throw new HeddleException("closing a control listener failed", failure);
          }
        });
  }
}
