package io.heddle.transport.control;

import io.heddle.addr.AddressText;
import io.heddle.platform.OpenFiles;
import io.heddle.platform.OwnDescriptors;
import io.heddle.transport.control.ControlMessage.Malformed;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;

/**
 * One end of a control connection. Control thread only.
 *
 * <p>A peer whose process dies is noticed at once, since its kernel closes the connection. A peer
 * whose host dies is noticed by TCP keepalive, within {@value #DEAD_PEER_SECONDS} seconds.
 */
public final class ControlChannel implements ControlLoop.Handler {
  /** Time until TCP keepalive declares a silent peer dead. */
  public static final int DEAD_PEER_SECONDS = 10;

  /** Cause of a channel's end. */
  public enum Ending {
    /** The peer closed the channel, or its kernel did after its process died. */
    PEER,
    /** The peer sent bytes that are no message, or a message that can't be handled. */
    PROTOCOL_ERROR,
    /** No process listens at that address: the kernel there refused the connection. */
    REFUSED,
    /** This process has no free descriptor. */
    NO_DESCRIPTOR,
    /** The network doesn't reach that address, or no longer carries traffic. */
    NETWORK,
    /** This end failed internally while it served the channel. */
    LOCAL_ERROR,
    /**
     * This end evicted the channel: it was unauthenticated for too long, or there were too many
     * such channels.
     */
    EVICTED
  }

  /** Listener of a channel's events. */
  public interface Listener {
    void onConnected(ControlChannel channel);

    /** Handles a message; never {@link Malformed}, which closes the channel. */
    void onMessage(ControlMessage message);

    /** Handles the channel's end; called once, and never after {@link ControlChannel#close}. */
    void onClosed(Ending how, String reason);
  }

  private static final byte[] NOTHING = {};

  private final ControlLoop loop;
  private final SocketChannel socket;
  private final String peer;
  private final long sinceNs;
  private final InetAddress remoteAddress;
  private Listener listener;
  private final ByteBuffer arrived;
  private final ByteBuffer scratch;
  /* Received part of an incomplete frame. */
  private byte[] begun = NOTHING;
  private final ArrayDeque<ByteBuffer> out = new ArrayDeque<>();
  private @Nullable SelectionKey key;
  private int descriptor = -1; /* known once the socket is connected */
  private boolean authenticated = true;
  private boolean heard;
  /* Whether the peer has sent a whole message on this channel. */
  private boolean hasSent;
  private boolean closeWhenSent;
  /*
   * Whether close() was called. A closed socket doesn't show that: Java also closes a socket that
   * fails to connect.
   */
  private boolean closed;

  private ControlChannel(
      ControlLoop loop, SocketChannel socket, InetSocketAddress peer, Listener listener) {
    this.loop = loop;
    this.sinceNs = loop.clock().nanoTime();
    this.arrived = loop.arrivedBytes();
    this.scratch = loop.scratchFrame();
    this.socket = socket;
    this.peer = AddressText.of(peer);
    this.remoteAddress = peer.getAddress();
    this.listener = listener;
  }

  /**
   * Begins to connect. The listener is notified of the outcome, failure included, perhaps before
   * this returns.
   *
   * @return the channel; closing it stops notifications
   */
  public static @Nullable ControlChannel connect(
      ControlLoop loop, InetSocketAddress to, Listener listener) {
    ControlChannel channel;
    boolean connected;
    try {
      channel = new ControlChannel(loop, SocketChannel.open(), to, listener);
    } catch (IOException failure) {
      listener.onClosed(
          Ending.NO_DESCRIPTOR,
          "no socket for " + AddressText.of(to) + ": " + OpenFiles.explain(failure));
      return null;
    }
    try {
      channel.configure();
      connected = channel.socket.connect(to);
      channel.key =
          loop.register(
              channel.socket, connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT, channel);
    } catch (IOException failure) {
      channel.close();
      listener.onClosed(
          unconnected(failure),
          "can't connect to " + AddressText.of(to) + ": " + failure.getMessage());
      return null;
    }
    if (connected) {
      channel.preventInheritance();
      listener.onConnected(channel);
    }
    return channel;
  }

  /** Takes over an accepted connection; it is unauthenticated until {@link #markAuthenticated}. */
  static ControlChannel accepted(
      ControlLoop loop, SocketChannel socket, InetSocketAddress from, Listener listener)
      throws IOException {
    ControlChannel channel = new ControlChannel(loop, socket, from, listener);
    channel.configure();
    channel.preventInheritance();
    channel.key = loop.register(socket, SelectionKey.OP_READ, channel);
    channel.authenticated = false;
    loop.unauthenticated().add(channel);
    return channel;
  }

  /**
   * Marks the channel as authenticated: it is no longer evicted, and the peer may send longer
   * frames.
   */
  public void markAuthenticated() {
    authenticated = true;
    loop.unauthenticated().remove(this);
  }

  /** Returns the other end's address. */
  public InetAddress remoteAddress() {
    return remoteAddress;
  }

  /** Returns this end's address. */
  public InetAddress localAddress() {
    return socket.socket().getLocalAddress();
  }

  /** Returns the time at which the channel began. */
  long sinceNs() {
    return sinceNs;
  }

  /** Reads pending input now. */
  void readNow() {
    SelectionKey mine = key;
    if (mine != null && mine.isValid()) {
      loop.guarded(this::read, told -> onBroken(mine));
    }
  }

  /** Closes an unauthenticated channel. */
  void evict(String why) {
    fail(Ending.EVICTED, why);
  }

  /*
   * Keeps child processes from inheriting the descriptor: their copies would keep the connection
   * open after this process's end.
   */
  private void preventInheritance() {
    if (descriptor < 0) {
      descriptor =
          OwnDescriptors.opened(
              (InetSocketAddress) socket.socket().getLocalSocketAddress(),
              (InetSocketAddress) socket.socket().getRemoteSocketAddress());
    }
  }

  private void configure() throws IOException {
    socket.configureBlocking(false);
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    socket.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 4);
    socket.setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 2);
    socket.setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 3);
  }

  /** Replaces the listener. */
  public void setListener(Listener next) {
    listener = next;
  }

  /** Returns the other end's address and port, for the log. */
  public String peer() {
    return peer;
  }

  /** Returns whether any byte has come from the other end. */
  public boolean hasHeard() {
    return heard;
  }

  /**
   * Returns whether the channel's address is {@code here} at this end or {@code there} at the other
   * end.
   */
  public boolean hasEitherAddress(InetAddress here, InetAddress there) {
    return here.equals(localAddress()) || there.equals(remoteAddress());
  }

  /** Sends a message, now or when the socket has room. */
  public void send(ControlMessage message) {
    ByteBuffer frame = ControlCodec.encode(message, scratch);
    /*
     * Copies only the frame's bytes, to allocate little: pings are sent for the connection's
     * lifetime.
     */
    out.add(ByteBuffer.allocate(frame.remaining()).put(frame).flip());
    if (socket.isConnected()) {
      flush();
    }
  }

  @Override
  public void onReady(SelectionKey ready) {
    if (ready.isConnectable() && !finishConnect(ready)) {
      return;
    }
    if (ready.isValid() && ready.isWritable()) {
      flush();
    }
    if (ready.isValid() && ready.isReadable()) {
      read();
    }
  }

  @Override
  public void onBroken(SelectionKey broken) {
    fail(Ending.LOCAL_ERROR, "this end failed to serve it");
  }

  private boolean finishConnect(SelectionKey ready) {
    try {
      socket.finishConnect();
    } catch (IOException failure) {
      fail(unconnected(failure), "can't connect: " + failure.getMessage());
      return false;
    }
    ready.interestOps(SelectionKey.OP_READ);
    preventInheritance();
    listener.onConnected(this);
    flush();
    return true;
  }

  private void flush() {
    SelectionKey mine = key;
    if (mine == null || !mine.isValid()) {
      return;
    }
    try {
      for (ByteBuffer first = out.peek(); first != null; first = out.peek()) {
        socket.write(first);
        if (first.hasRemaining()) {
          mine.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
          return;
        }
        out.remove();
      }
    } catch (IOException failure) {
      fail(broken(failure), "writing failed: " + failure.getMessage());
      return;
    }
    mine.interestOps(SelectionKey.OP_READ);
    if (closeWhenSent) {
      close();
    }
  }

  /*
   * All channels of the loop share one buffer; only an incomplete frame is kept from one read to
   * the next.
   */
  private void read() {
    ByteBuffer in = arrived.clear().put(begun);
    begun = NOTHING;
    try {
      int count = socket.read(in);
      if (count < 0) {
        fail(Ending.PEER, "the peer closed the connection");
        return;
      }
      heard |= count > 0;
    } catch (IOException failure) {
      fail(broken(failure), "reading failed: " + failure.getMessage());
      return;
    }
    in.flip();
    while (in.remaining() >= ControlCodec.LENGTH_BYTES) {
      int length = in.getInt(in.position());
      if (length < 1 || length > mostBytes()) {
        String size = "a frame of " + Integer.toUnsignedString(length) + " bytes";
        fail(Ending.PROTOCOL_ERROR, hasSent ? size : ForeignProtocol.describe(in, size));
        return;
      }
      if (in.remaining() < ControlCodec.LENGTH_BYTES + length) {
        break;
      }
      in.position(in.position() + ControlCodec.LENGTH_BYTES);
      ByteBuffer frame = in.slice(in.position(), length);
      in.position(in.position() + length);
      ControlMessage message = ControlCodec.decode(frame);
      if (message instanceof Malformed malformed) {
        fail(Ending.PROTOCOL_ERROR, malformed.reason());
        return;
      }
      hasSent = true;
      listener.onMessage(message);
      if (closed) {
        return;
      }
    }
    if (in.hasRemaining()) {
      begun = new byte[in.remaining()];
      in.get(begun);
    }
  }

  private int mostBytes() {
    if (!authenticated) {
      return ControlCodec.MAX_UNAUTHENTICATED_FRAME_BYTES;
    }
    return hasSent ? ControlCodec.MAX_FRAME_BYTES : ControlCodec.MAX_FIRST_FRAME_BYTES;
  }

  /*
   * Returns the cause of a failed connect. Java throws the same exception class for a refused
   * connection and for an unanswered one. A reset comes from a listener that closed while the
   * connection waited to be accepted.
   */
  private static Ending unconnected(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    boolean isRefused = failure instanceof ConnectException && !message.contains("timed out");
    return isRefused || message.contains("reset") ? Ending.REFUSED : Ending.NETWORK;
  }

  /*
   * Returns the cause of a failed read or write. A reset comes from the peer's kernel after the
   * peer's process died; a missing answer is the network's fault.
   */
  private static Ending broken(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return message.contains("reset") || message.contains("Broken pipe")
        ? Ending.PEER
        : Ending.NETWORK;
  }

  private void fail(Ending how, String reason) {
    if (!closed) {
      close();
      listener.onClosed(how, peer + ": " + reason);
    }
  }

  /** Closes once the queued messages are sent; {@link #close} doesn't wait for them. */
  public void closeWhenSent() {
    closeWhenSent = true;
    if (out.isEmpty()) {
      close();
    }
  }

  /** Closes at once, without notifying the listener. */
  public void close() {
    closed = true;
    if (!authenticated) {
      markAuthenticated();
    }
    SelectionKey mine = key;
    if (mine != null) {
      mine.cancel();
    }
    OwnDescriptors.closing(descriptor);
    descriptor = -1;
    try {
      socket.close();
    } catch (IOException failure) {
      // The descriptor is gone either way, and no listener is left to notify.
      out.clear();
    }
  }
}
