package io.heddle.perf;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;

/** TCP connection with one thread that drives both ends. */
final class TcpLink implements AutoCloseable {
  static final TcpLink NONE = new TcpLink(null, null, 0);

  private final @Nullable SocketChannel sender;
  private final @Nullable SocketChannel receiver;
  private final ByteBuffer out;
  private final ByteBuffer in;

  private TcpLink(@Nullable SocketChannel sender, @Nullable SocketChannel receiver, int bytes) {
    this.sender = sender;
    this.receiver = receiver;
    out = ByteBuffer.allocateDirect(bytes);
    in = ByteBuffer.allocateDirect(bytes);
  }

  static TcpLink connect(int bytes) throws IOException {
    try (ServerSocketChannel server = ServerSocketChannel.open()) {
      server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      SocketChannel sender = SocketChannel.open(server.getLocalAddress());
      SocketChannel receiver = server.accept();
      sender.setOption(StandardSocketOptions.TCP_NODELAY, true);
      sender.configureBlocking(false);
      receiver.configureBlocking(false);
      return new TcpLink(sender, receiver, bytes);
    }
  }

  /** Sends one message and receives it. */
  void exchange() throws IOException {
    if (sender == null || receiver == null) {
      throw new IllegalStateException("not connected");
    }
    out.clear();
    in.clear();
    while (in.hasRemaining()) {
      if (out.hasRemaining()) {
        sender.write(out);
      }
      if (receiver.read(in) < 0) {
        throw new IOException("the connection ended");
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (sender != null && receiver != null) {
      sender.close();
      receiver.close();
    }
  }
}
