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
 * <p>A peer whose process dies is noticed at once, since its kernel closes the connection; a peer
 * whose host dies, by TCP keepalive, within {@value #DEAD_PEER_SECONDS} seconds.
 */
public final class ControlChannel implements ControlLoop.Handler {
  /** How long a silent peer is believed alive. */
  public static final int DEAD_PEER_SECONDS = 10;

  /** By whose doing a channel ended. */
  public enum Ending {
    /** The peer's, or its kernel's for a process that is gone: it was closed. */
    PEER,
    /** What came is no message, or can't be dealt with. */
    PROTOCOL_ERROR,
    /** Nobody listens at that address: its kernel turned the call away. */
    REFUSED,
    /** This process has no descriptor for it. */
    NO_DESCRIPTOR,
    /** The network doesn't lead there, or doesn't carry any more. */
    NETWORK,
    /** This end's: it met an error of its own while it served the channel. */
    LOCAL_ERROR,
    /** This end's: it was a stranger's for too long, or one of too many. */
    EVICTED
  }

  /** Who is told what happens on a channel. */
  public interface Listener {
    void onConnected(ControlChannel channel);

    /** Never {@link Malformed}: that closes the channel. */
    void onMessage(ControlMessage message);

    /** The channel is gone; said once, and not after {@link ControlChannel#close}. */
    void onClosed(Ending how, String reason);
  }

  private static final byte[] NOTHING = {};

  private final ControlLoop loop;
  private final SocketChannel socket;
  private final String peer;
  private final long sinceNs;
  private final InetAddress there;
  private Listener listener;
  private final ByteBuffer arrived;
  private final ByteBuffer scratch;
  /* The beginning of a frame whose rest hasn't come. */
  private byte[] begun = NOTHING;
  private final ArrayDeque<ByteBuffer> out = new ArrayDeque<>();
  private @Nullable SelectionKey key;
  private int descriptor = -1; /* known once it is connected */
  private boolean authenticated = true;
  private boolean heard;
  /* A whole message came. */
  private boolean spoken;
  private boolean closeWhenSent;
  private boolean
      closed; /* not socket.isOpen(): a connect that fails closes the socket by itself */

  private ControlChannel(
      ControlLoop loop, SocketChannel socket, InetSocketAddress peer, Listener listener) {
    this.loop = loop;
    this.sinceNs = loop.clock().nanoTime();
    this.arrived = loop.arrivedBytes();
    this.scratch = loop.scratchFrame();
    this.socket = socket;
    this.peer = AddressText.of(peer);
    this.there = peer.getAddress();
    this.listener = listener;
  }

  /**
   * Begins to connect; the listener hears of the outcome, failure included, perhaps before this
   * returns.
   *
   * @return the channel, which may be closed to hear no more of it
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

  /** Takes over an accepted connection, a stranger's until {@link #markAuthenticated}. */
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

  /** The other end has shown that it is a peer: it has its time, and may say longer things. */
  public void markAuthenticated() {
    authenticated = true;
    loop.unauthenticated().forget(this);
  }

  /** Where the other end is. */
  public InetAddress there() {
    return there;
  }

  /** Where this end is. */
  public InetAddress here() {
    return socket.socket().getLocalAddress();
  }

  /** When the channel began. */
  long sinceNs() {
    return sinceNs;
  }

  /** Takes what has come, now. */
  void hear() {
    SelectionKey mine = key;
    if (mine != null && mine.isValid()) {
      loop.guarded(this::read, told -> onBroken(mine));
    }
  }

  /** Ends a stranger's. */
  void evict(String why) {
    fail(Ending.EVICTED, why);
  }

  /* A child's copy would keep the connection open when this process is gone. */
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

  /** From now on somebody else hears what comes. */
  public void handTo(Listener next) {
    listener = next;
  }

  /** The other end's address, for people. */
  public String peer() {
    return peer;
  }

  /** Whether any byte came from the other end. */
  public boolean hasHeard() {
    return heard;
  }

  /** Whether it goes from the one of these addresses, or to the other. */
  public boolean goesBy(InetAddress here, InetAddress there) {
    return here.equals(here()) || there.equals(there());
  }

  /** Sends a message, now or when the socket has room. */
  public void send(ControlMessage message) {
    ByteBuffer frame = ControlCodec.encode(message, scratch);
    /* No longer than it is: pings go for as long as the connection lives. */
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

  /* One buffer serves all channels of the loop: what is kept from one read to the next is a frame that hasn't come whole. */
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
        fail(Ending.PROTOCOL_ERROR, spoken ? size : ForeignProtocol.describe(in, size));
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
      spoken = true;
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
    return spoken ? ControlCodec.MAX_FRAME_BYTES : ControlCodec.MAX_FIRST_FRAME_BYTES;
  }

  /* Java's class of exception is the same for a call that was turned away and for one that nobody answered; a reset is a
  listener that closed while the call waited to be accepted. */
  private static Ending unconnected(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    boolean isRefused = failure instanceof ConnectException && !message.contains("timed out");
    return isRefused || message.contains("reset") ? Ending.REFUSED : Ending.NETWORK;
  }

  /* A reset is the peer's kernel speaking for a process that is gone; that no answer comes is the network. */
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

  /** Sends what is queued, then closes; at the latest with {@link #close}. */
  public void closeWhenSent() {
    closeWhenSent = true;
    if (out.isEmpty()) {
      close();
    }
  }

  /** Closes at once; the listener hears nothing more. */
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
      // The descriptor is gone either way, and there is nobody left to tell.
      out.clear();
    }
  }
}
