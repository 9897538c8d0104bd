package io.heddle.transport;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Another program's server for any number of clients: it echoes, or sends a fixed text. */
final class ForeignServer implements AutoCloseable {
  private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private final byte[] piece;

  /**
   * @param piece text sent after the client's first bytes; empty for an echo
   */
  ForeignServer(byte[] piece) throws IOException {
    this.piece = piece;
    Thread.ofVirtual().start(this::serveAll);
  }

  static ForeignServer echo() throws IOException {
    return new ForeignServer(new byte[0]);
  }

  /** Returns a server that answers like an HTTP/1.1 server to a malformed request. */
  static ForeignServer http() throws IOException {
    String answer =
        "HTTP/1.1 400 Bad Request\r\nServer: test\r\nConnection: close\r\n\r\n<html></html>";
    return new ForeignServer(answer.getBytes(StandardCharsets.US_ASCII));
  }

  InetSocketAddress address() {
    return (InetSocketAddress) listening.getLocalSocketAddress();
  }

  private void serveAll() {
    try {
      while (!listening.isClosed()) {
        Socket caller = listening.accept();
        sockets.add(caller);
        Thread.ofVirtual().start(() -> serve(caller));
      }
    } catch (IOException closed) {
      // The test is over.
    }
  }

  private void serve(Socket caller) {
    try (InputStream in = caller.getInputStream();
        OutputStream out = caller.getOutputStream()) {
      byte[] heard = new byte[512];
      for (int count = in.read(heard); count > 0; count = in.read(heard)) {
        if (piece.length > 0) {
          out.write(piece);
          return;
        }
        out.write(heard, 0, count);
        out.flush();
      }
    } catch (IOException hungUp) {
      // The client has closed.
    }
  }

  @Override
  public void close() throws IOException {
    listening.close();
    for (Socket each : sockets) {
      each.close();
    }
  }
}
