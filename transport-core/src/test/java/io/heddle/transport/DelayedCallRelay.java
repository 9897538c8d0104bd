package io.heddle.transport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Relay in front of a listener that accepts one connection, as the kernel does for a sleeping
 * process, and lets it through later.
 */
final class DelayedCallRelay implements AutoCloseable {
  private static final int LIMIT_MS = 10_000;

  private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  DelayedCallRelay() throws IOException {
    listening.setSoTimeout(LIMIT_MS);
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listening.getLocalSocketAddress();
  }

  /** Waits for the relay's one connection and accepts it. */
  void awaitCall() throws IOException {
    sockets.add(listening.accept());
  }

  /** Forwards all data, earlier data included. */
  void forwardTo(InetSocketAddress behind) throws IOException {
    if (sockets.isEmpty()) {
      awaitCall();
    }
    Socket near = sockets.getFirst();
    Socket far = new Socket(behind.getAddress(), behind.getPort());
    sockets.add(far);
    Thread.ofVirtual().start(() -> carry(near, far));
    Thread.ofVirtual().start(() -> carry(far, near));
  }

  private void carry(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException closed) {
      // One side has closed, which the other side sees when the relay closes.
    } finally {
      close();
    }
  }

  @Override
  public void close() {
    try {
      listening.close();
      for (Socket each : sockets) {
        each.close();
      }
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }
}
