package io.heddle.bgp.session;

import io.heddle.bgp.net.EventLoop;
import io.heddle.bgp.net.TcpSocket;
import io.heddle.bgp.wire.BgpMessage;
import io.heddle.bgp.wire.DecodeResult;
import io.heddle.bgp.wire.MessageDecoder;
import io.heddle.bgp.wire.MessageEncoder;
import io.heddle.bgp.wire.MessageFault;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.bgp.wire.WireOptions;
import io.heddle.platform.Errno;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** TCP connection with a peer, which carries messages in both directions. For the loop's thread. */
final class PeerConnection {
  /** Listener for events of the connection; may close it. */
  interface Owner {
    void connected(PeerConnection connection);

    void received(PeerConnection connection, BgpMessage message);

    void malformedMessage(PeerConnection connection, MessageFault fault);

    void lost(PeerConnection connection, String why);
  }

  private static final int ERROR_OR_HANG_UP = 8 | 16;
  private static final int INPUT_BYTES = 4 * BgpMessage.MAX_EXTENDED_BYTES;
  /*
   * Limit of reads per event: a busy peer must leave time for timers and for other peers' messages.
   */
  private static final int READS_PER_EVENT = 8;

  private final EventLoop loop;
  private final TcpSocket socket;
  private final Owner owner;
  private final byte[] input = new byte[INPUT_BYTES];
  private final Deque<byte[]> output = new ArrayDeque<>();
  private int inputBytes;
  private int outputOffset;
  private long blockedSinceNs;
  private boolean connecting;
  private boolean wantsToWrite;
  private boolean closed;
  private MessageDecoder decoder = new MessageDecoder(WireOptions.DEFAULT);
  private MessageEncoder encoder = new MessageEncoder(WireOptions.DEFAULT);

  /**
   * @param connecting whether the socket has yet to connect
   */
  PeerConnection(EventLoop loop, TcpSocket socket, boolean connecting, Owner owner) {
    this.loop = loop;
    this.socket = socket;
    this.owner = owner;
    this.connecting = connecting;
    loop.register(
        socket.fd(),
        connecting ? EventLoop.WRITABLE : EventLoop.READABLE,
        new EventLoop.Handler() {
          @Override
          public void onReady(int events) {
            serve(events);
          }

          @Override
          public boolean onBroken(Throwable thrown) {
            return onTaskFailure(thrown);
          }
        });
  }

  /**
   * Sets the agreed encoding of messages. A side that offers extended messages may receive them
   * even if the other side doesn't offer them (RFC 8654 §4). We always offer them.
   */
  void setWireOptions(WireOptions options) {
    decoder = new MessageDecoder(options.withMaxMessageBytes(BgpMessage.MAX_EXTENDED_BYTES));
    encoder = new MessageEncoder(options);
  }

  TcpSocket socket() {
    return socket;
  }

  /*
   * Ends the session whose message caused an exception. Returns false for an error of the JVM, such
   * as a lack of memory: that isn't limited to one session.
   */
  private boolean onTaskFailure(Throwable thrown) {
    if (thrown instanceof VirtualMachineError) {
      return false;
    }
    owner.lost(this, "processing of the peer's message failed: " + thrown);
    return true;
  }

  private void serve(int events) {
    if (connecting) {
      finishConnect();
      return;
    }
    if ((events & EventLoop.WRITABLE) != 0) {
      flush();
    }
    if (!closed && (events & (EventLoop.READABLE | ERROR_OR_HANG_UP)) != 0) {
      read();
    }
  }

  private void finishConnect() {
    int error = socket.connectError();
    if (error != 0) {
      owner.lost(this, "can't connect: " + Errno.describe(error));
      return;
    }
    connecting = false;
    loop.change(socket.fd(), EventLoop.READABLE);
    owner.connected(this);
  }

  private void read() {
    for (int count = 0; count < READS_PER_EVENT && !closed; count++) {
      int got = socket.read(input, inputBytes, input.length - inputBytes);
      if (got == TcpSocket.WOULD_BLOCK) {
        return;
      }
      if (got < 0) {
        owner.lost(
            this,
            got == -Errno.ECONNRESET
                ? "the peer closed the connection"
                : "reading failed: " + Errno.describe(-got));
        return;
      }
      inputBytes += got;
      decode();
    }
  }

  private void decode() {
    int at = 0;
    while (!closed && at < inputBytes) {
      DecodeResult decoded = decoder.decode(input, at, inputBytes - at);
      if (decoded == null) {
        break;
      }
      if (decoded instanceof MessageFault fault) {
        owner.malformedMessage(this, fault);
        return;
      }
      at += MessageDecoder.messageBytes(input, at);
      owner.received(this, (BgpMessage) decoded);
    }
    if (at > 0) {
      System.arraycopy(input, at, input, 0, inputBytes - at);
      inputBytes -= at;
    }
  }

  /** Writes a message now, or as soon as the peer reads. */
  void send(BgpMessage message) {
    List<byte[]> messages =
        message instanceof UpdateMessage update
            ? encoder.encodeAll(update)
            : List.of(encoder.encode(message));
    output.addAll(messages);
    flush();
  }

  private void flush() {
    while (!output.isEmpty() && !closed) {
      byte[] first = output.peek();
      int sent = socket.write(first, outputOffset, first.length - outputOffset);
      if (sent == TcpSocket.WOULD_BLOCK) {
        break;
      }
      if (sent < 0) {
        /*
         * The connection is broken. A later read reports its end, after the messages that the peer
         * sent before.
         */
        output.clear();
        break;
      }
      blockedSinceNs = System.nanoTime();
      outputOffset += sent;
      if (outputOffset == first.length) {
        output.remove();
        outputOffset = 0;
      }
    }
    boolean wants = !output.isEmpty();
    if (wants && !wantsToWrite) {
      blockedSinceNs = System.nanoTime();
    }
    if (wants != wantsToWrite && !closed && !connecting) {
      wantsToWrite = wants;
      loop.change(socket.fd(), EventLoop.READABLE | (wants ? EventLoop.WRITABLE : 0));
    }
  }

  /**
   * Returns the nanoseconds for which TCP has accepted no data while data waits; 0 if none waits.
   */
  long blockedForNs() {
    return output.isEmpty() ? 0 : System.nanoTime() - blockedSinceNs;
  }

  void close() {
    if (!closed) {
      closed = true;
      socket.close();
    }
  }
}
