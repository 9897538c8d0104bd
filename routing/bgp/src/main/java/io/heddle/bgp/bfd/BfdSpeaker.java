package io.heddle.bgp.bfd;

import io.heddle.bgp.net.DatagramSocket6;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.net.EventLoop;
import io.heddle.platform.NanoClock;
import io.heddle.platform.SystemCallException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * BFD for all peers of a BGP speaker: a receiving socket on port 3784 for each address family, and
 * a sending socket for each peer. For the loop's thread.
 */
public final class BfdSpeaker implements AutoCloseable {
  /** Listener for the state of one path. */
  public interface PathListener {
    void pathUp();

    /**
     * @param why reason as a sentence, with the values
     */
    void pathDown(String why);
  }

  /** BFD session with one peer; closing it ends the session. */
  public final class Path implements AutoCloseable {
    private final Endpoint remote;
    private final DatagramSocket6 socket;
    private final PathListener listener;
    private final BfdSession session;
    private EventLoop.@Nullable Timer timer;
    private boolean closed;

    private Path(
        Endpoint remote, DatagramSocket6 socket, BfdOptions options, PathListener listener) {
      this.remote = remote.withPort(CONTROL_PORT);
      this.socket = socket;
      this.listener = listener;
      this.session =
          new BfdSession(
              options,
              unusedDiscriminator(),
              NanoClock.SYSTEM,
              new SplittableRandom(),
              new BfdSession.Actions() {
                @Override
                public void send(BfdPacket packet) {
                  /*
                   * An error is ignored: if sends keep failing, the peer misses packets and reports
                   * the path as down.
                   */
                  Path.this.socket.send(packet.encode(), Path.this.remote);
                }

                @Override
                public void changed(boolean up, String why) {
                  loop.execute(() -> report(up, why));
                }
              });
    }

    private void report(boolean up, String why) {
      if (closed) {
        return;
      }
      if (up) {
        listener.pathUp();
      } else {
        listener.pathDown(why);
      }
    }

    public BfdState state() {
      return session.state();
    }

    private void tick() {
      if (!closed) {
        /* Scheduled in advance, so that another tick follows even if this one throws. */
        timer = loop.schedule(RETRY_TICK_NS, this::tick);
        session.tick();
        rearm();
      }
    }

    private void rearm() {
      EventLoop.Timer armed = timer;
      if (armed != null) {
        armed.cancel();
      }
      timer = closed ? null : loop.schedule(session.nextDeadlineNs(), this::tick);
    }

    @Override
    public void close() {
      if (!closed) {
        session.stop();
        closed = true;
        rearm();
        paths.remove(session.discriminator());
        socket.close();
      }
    }
  }

  private static final long RETRY_TICK_NS = 1_000_000_000;
  private static final int CONTROL_PORT = 3784;
  private static final int FIRST_SOURCE_PORT = 49152;
  private static final int SOURCE_PORTS = 16384;
  private static final int PORT_TRIES = 32;
  private static final int HOP_LIMIT = 255;

  private final EventLoop loop;
  private final List<DatagramSocket6> receivers = new ArrayList<>();
  private final Int2ObjectHashMap<Path> paths = new Int2ObjectHashMap<>();
  private final byte[] packet = new byte[256];

  public BfdSpeaker(EventLoop loop) {
    this.loop = loop;
  }

  private void openReceiver(Endpoint any) {
    for (DatagramSocket6 each : receivers) {
      if (each.local().isIpv4() == any.isIpv4()) {
        return;
      }
    }
    DatagramSocket6 receiver = DatagramSocket6.udp(loop, any, "");
    receivers.add(receiver);
    loop.register(receiver.fd(), EventLoop.READABLE, events -> receive(receiver));
  }

  /**
   * Starts BFD with a peer on the link.
   *
   * @param local source address, one of the interface towards the peer (RFC 5881 §6)
   * @param device interface of a link-local peer; empty for others
   * @throws SystemCallException if a socket can't be opened, for instance because port 3784 is in
   *     use
   */
  public Path watch(
      Endpoint local, Endpoint remote, String device, BfdOptions options, PathListener listener) {
    openReceiver(
        remote.isIpv4()
            ? Endpoint.anyIpv4Address(CONTROL_PORT)
            : Endpoint.anyAddress(CONTROL_PORT));
    Path path = new Path(remote, sender(local, device), options, listener);
    paths.put(path.session.discriminator(), path);
    path.tick();
    return path;
  }

  /* RFC 5881 §4: a source port of 49152 to 65535, unique among our sessions. */
  private DatagramSocket6 sender(Endpoint local, String device) {
    SystemCallException last = null;
    for (int i = 0; i < PORT_TRIES; i++) {
      int port = FIRST_SOURCE_PORT + ThreadLocalRandom.current().nextInt(SOURCE_PORTS);
      try {
        return DatagramSocket6.udp(loop, local.withPort(port), device);
      } catch (SystemCallException taken) {
        last = taken;
      }
    }
    throw last == null ? new IllegalStateException("no port was tried") : last;
  }

  private int unusedDiscriminator() {
    int tried = 0;
    while (tried == 0 || paths.containsKey(tried)) {
      tried = ThreadLocalRandom.current().nextInt();
    }
    return tried;
  }

  private void receive(DatagramSocket6 receiver) {
    for (int length = receiver.receive(packet);
        length != DatagramSocket6.NOTHING;
        length = receiver.receive(packet)) {
      BfdPacket read = BfdPacket.decode(packet, length);
      Path path =
          read == null || receiver.hopLimit() != HOP_LIMIT ? null : find(read, receiver.source());
      /*
       * Malformed packets, packets with a hop limit below 255 and packets from unknown peers are
       * ignored.
       */
      if (path != null && read != null) {
        path.session.received(read);
        path.rearm();
      }
    }
  }

  /*
   * Returns the path to which a packet belongs: the path whose discriminator is the packet's Your
   * Discriminator or, if that is 0, the path to the packet's source address. Returns null if the
   * source isn't the address of the path's peer.
   */
  private @Nullable Path find(BfdPacket read, Endpoint source) {
    if (read.yourDiscriminator() != 0) {
      Path path = paths.get(read.yourDiscriminator());
      return path != null && path.remote.hasSameAddress(source) ? path : null;
    }
    for (Path path : paths.values()) {
      if (path.remote.hasSameAddress(source)) {
        return path;
      }
    }
    return null;
  }

  @Override
  public void close() {
    for (Path path : List.copyOf(paths.values())) {
      path.close();
    }
    receivers.forEach(DatagramSocket6::close);
  }
}
