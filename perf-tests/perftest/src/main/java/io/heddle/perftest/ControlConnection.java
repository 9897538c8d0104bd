package io.heddle.perftest;

import io.heddle.addr.AddressText;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * TCP connection between the two ends of a test. A separate thread reads the connection, so that a
 * measured loop can check by one volatile read whether the peer is still there.
 */
final class ControlConnection implements AutoCloseable {
  private static final int CONNECT_TIMEOUT_MS = 10_000;
  private static final int LARGEST_PENDING_BYTES = 1 << 20;

  private final Socket socket;
  private final OutputStream output;
  private final boolean server;
  private final String peer;
  private final Thread reader;
  private byte[] pending = new byte[4096];
  private int pendingBytes;
  private String ending = "";
  private volatile boolean ended;

  private ControlConnection(Socket socket, boolean server, String peer) throws IOException {
    this.socket = socket;
    this.server = server;
    this.peer = peer;
    socket.setTcpNoDelay(true);
    socket.setKeepAlive(true);
    output = socket.getOutputStream();
    reader = new Thread(this::read, "heddle-perftest-control");
    reader.setDaemon(true);
    reader.start();
  }

  /** Listener for clients, on a port at all addresses of this host. */
  static final class Listener implements AutoCloseable {
    private final ServerSocket socket;

    Listener(int port) {
      try {
        socket = new ServerSocket();
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(port), 1);
      } catch (IOException refused) {
        throw new HeddleException(
            "can't listen on TCP port "
                + port
                + ": "
                + refused.getMessage()
                + "; another server may use it; choose another port with -p",
            refused);
      }
    }

    int port() {
      return socket.getLocalPort();
    }

    ControlConnection accept() {
      try {
        Socket client = socket.accept();
        return new ControlConnection(client, true, text(client.getInetAddress()));
      } catch (IOException failed) {
        throw new HeddleException(
            "waiting for a client on TCP port " + port() + " failed: " + failed.getMessage(),
            failed);
      }
    }

    @Override
    public void close() {
      closeQuietly(socket);
    }
  }

  /** Connects to the first address of the host that accepts the connection. */
  static ControlConnection connect(String host, int port) {
    InetAddress[] addresses;
    try {
      addresses = InetAddress.getAllByName(host);
    } catch (UnknownHostException unknown) {
      throw new HeddleException(
          "unknown host " + host + ": check the name or use an address", unknown);
    }
    IOException why = new IOException("it has no address");
    for (InetAddress address : addresses) {
      Socket socket = new Socket();
      try {
        socket.connect(new InetSocketAddress(address, port), CONNECT_TIMEOUT_MS);
        return new ControlConnection(socket, false, host + " port " + port);
      } catch (IOException refused) {
        why = refused;
        closeQuietly(socket);
      }
    }
    throw new HeddleException(
        "can't connect to "
            + host
            + " port "
            + port
            + ": "
            + why.getMessage()
            + "; start the server first, with the same command but without a host",
        why);
  }

  private static void closeQuietly(java.io.Closeable socket) {
    try {
      socket.close();
    } catch (IOException alreadyBroken) {
      /* Ignored: the connection is unusable in any case. */
    }
  }

  private static String text(InetAddress address) {
    return AddressText.of(address);
  }

  boolean isServer() {
    return server;
  }

  /** Returns the other end's name, for error messages. */
  String peer() {
    return peer;
  }

  /**
   * Returns whether the peer has closed the connection. Bytes that arrived before that can still be
   * taken.
   */
  boolean ended() {
    return ended;
  }

  private void read() {
    byte[] buffer = new byte[4096];
    String why = "it closed its connection";
    try {
      for (int count = socket.getInputStream().read(buffer); count >= 0; ) {
        if (!append(buffer, count)) {
          why = "it sent more than " + LARGEST_PENDING_BYTES + " unexpected bytes";
          break;
        }
        count = socket.getInputStream().read(buffer);
      }
    } catch (IOException broken) {
      why = "its connection broke: " + broken.getMessage();
    } catch (Throwable failed) {
      why = "this end failed to read from it: " + failed;
    }
    synchronized (this) {
      ending = why;
      ended = true;
      notifyAll();
    }
  }

  private synchronized boolean append(byte[] bytes, int count) {
    if (pendingBytes + count > LARGEST_PENDING_BYTES) {
      return false;
    }
    if (pendingBytes + count > pending.length) {
      pending = Arrays.copyOf(pending, Math.max(2 * pending.length, pendingBytes + count));
    }
    System.arraycopy(bytes, 0, pending, pendingBytes, count);
    pendingBytes += count;
    notifyAll();
    return true;
  }

  /**
   * Writes all bytes in one system call: perftest treats a record that arrives in pieces as a
   * failure.
   */
  void write(byte[] bytes) {
    try {
      output.write(bytes);
    } catch (IOException broken) {
      throw gone("");
    }
  }

  /**
   * Returns the next bytes of the peer.
   *
   * @param limitMs time to wait, or 0 to wait for ever
   * @param awaited name of the bytes, for error messages
   */
  synchronized byte[] take(int count, long limitMs, String awaited) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
    while (pendingBytes < count) {
      if (ended) {
        throw gone(" while this end waited for " + awaited);
      }
      long leftMs =
          limitMs == 0 ? 0 : TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()) + 1;
      if (limitMs > 0 && leftMs <= 0) {
        throw new HeddleException(
            peer + " sent nothing for " + limitMs / 1000 + " s; " + awaited + " was expected");
      }
      pause(leftMs);
    }
    byte[] taken = Arrays.copyOf(pending, count);
    System.arraycopy(pending, count, pending, 0, pendingBytes - count);
    pendingBytes -= count;
    return taken;
  }

  /** Returns all received bytes that were not taken yet. */
  synchronized byte[] peek() {
    return Arrays.copyOf(pending, pendingBytes);
  }

  /** Waits until the peer has closed the connection, or the limit has expired. */
  synchronized void awaitEnd(long limitMs) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMs);
    while (!ended) {
      long leftMs = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
      if (leftMs <= 0) {
        return;
      }
      pause(leftMs);
    }
  }

  private synchronized void pause(long limitMs) {
    try {
      wait(limitMs);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new HeddleException("interrupted while connected to " + peer, interrupted);
    }
  }

  /** Returns the failure that describes the end of this connection. */
  synchronized HeddleException gone(String when) {
    return new HeddleException(
        peer + " disconnected" + when + (ending.isEmpty() ? "" : " (" + ending + ")"));
  }

  /** Shuts down the sending direction of this end. */
  void finish() {
    try {
      socket.shutdownOutput();
    } catch (IOException alreadyClosed) {
      /* The connection is already closed, so the peer knows. */
    }
  }

  @Override
  public void close() {
    closeQuietly(socket);
    try {
      reader.join(1_000);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
