package io.heddle.transport;

import io.heddle.transport.control.ConnectionHandle;
import io.heddle.transport.control.ControlCodec;
import io.heddle.transport.control.ControlMessage;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * Relay between the two ends of a control channel that forwards everything until it is stuck. Then
 * each end keeps receiving the other's last ping, and no new message.
 */
final class StuckChannelRelay implements AutoCloseable {
  private static final int AGAIN_MS = 20;

  private final ServerSocket listening = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final InetSocketAddress behind;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean stuck;

  /* Has the count 1 while the listener's Ready and its later messages are held back. */
  private volatile CountDownLatch gate = new CountDownLatch(0);

  private StuckChannelRelay(InetSocketAddress behind) throws IOException {
    this.behind = behind;
  }

  /** Makes a relay in front of the listener of this handle. */
  static StuckChannelRelay inFrontOf(long handle) throws IOException {
    ConnectionHandle real = ConnectionHandle.read(handle);
    if (real == null) {
      throw new IllegalArgumentException("not a handle");
    }
    StuckChannelRelay relay = new StuckChannelRelay(real.addresses().getFirst());
    InetSocketAddress front = (InetSocketAddress) relay.listening.getLocalSocketAddress();
    new ConnectionHandle(real.token(), real.planeDigest(), List.of(front)).write(handle);
    Thread.ofVirtual().start(relay::join);
    return relay;
  }

  private void join() {
    try {
      Socket near = listening.accept();
      Socket far = new Socket(behind.getAddress(), behind.getPort());
      sockets.addAll(List.of(near, far));
      Thread.ofVirtual().start(() -> carry(near, far, new CountDownLatch(0)));
      carry(far, near, gate);
    } catch (IOException closed) {
      close();
    }
  }

  private void carry(Socket from, Socket to, CountDownLatch beforeReady) {
    try {
      DataInputStream in = new DataInputStream(from.getInputStream());
      DataOutputStream out = new DataOutputStream(to.getOutputStream());
      byte[] ping = null;
      while (true) {
        byte[] frame = frame(from, in);
        if (frame != null && isPing(frame) && !stuck) {
          ping = frame;
        }
        if (frame != null && isReady(frame)) {
          beforeReady.await();
        }
        byte[] next = stuck ? ping : frame;
        if (next != null) {
          out.writeInt(next.length);
          out.write(next);
        }
      }
    } catch (IOException closed) {
      close();
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
      close();
    }
  }

  /*
   * Reads a frame; returns null if none begins for a while. Waits for the rest of a frame that has
   * begun.
   */
  private static byte @Nullable [] frame(Socket from, DataInputStream in) throws IOException {
    int first;
    from.setSoTimeout(AGAIN_MS);
    try {
      first = in.readUnsignedByte();
    } catch (SocketTimeoutException nothing) {
      return null;
    } finally {
      from.setSoTimeout(0);
    }
    byte[] rest = new byte[Integer.BYTES - 1];
    in.readFully(rest);
    int length = first << 24 | (rest[0] & 0xff) << 16 | (rest[1] & 0xff) << 8 | rest[2] & 0xff;
    byte[] frame = new byte[length];
    in.readFully(frame);
    return frame;
  }

  private static boolean isPing(byte[] frame) {
    return ControlCodec.decode(ByteBuffer.wrap(frame)) instanceof ControlMessage.Ping;
  }

  private static boolean isReady(byte[] frame) {
    return ControlCodec.decode(ByteBuffer.wrap(frame)) instanceof ControlMessage.Ready;
  }

  /** Holds back the listener's Ready. Called before a peer connects. */
  StuckChannelRelay withReadyHeld() {
    gate = new CountDownLatch(1);
    return this;
  }

  void releaseReady() {
    gate.countDown();
  }

  /** Forwards nothing new from now on. */
  void stopForwarding() {
    stuck = true;
  }

  @Override
  public void close() {
    releaseReady();
    try {
      listening.close();
      for (Socket each : sockets) {
        each.close();
      }
    } catch (IOException failure) {
      throw new java.io.UncheckedIOException(failure);
    }
  }
}
