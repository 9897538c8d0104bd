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
 * BFD with all peers of a speaker: a socket on port 3784 for each kind of address that hears them,
 * one for each that speaks. Loop thread only.
 */
public final class BfdSpeaker implements AutoCloseable {
  /** Hears of one path. */
  public interface PathListener {
    void pathUp();

    /**
     * @param why with the values, for people
     */
    void pathDown(String why);
  }

  /** One peer that is watched; closing it ends that. */
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
                  /* What isn't sent is missed by the peer, which tells. */
                  Path.this.socket.send(packet.encode(), Path.this.remote);
                }

                @Override
                public void changed(boolean up, String why) {
                  loop.execute(() -> tell(up, why));
                }
              });
    }

    private void tell(boolean up, String why) {
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
        /* Should the tick fail, there is another one. */
        timer = loop.schedule(TICK_AGAIN_NS, this::tick);
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

  private static final long TICK_AGAIN_NS = 1_000_000_000;
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

  private void hear(Endpoint any) {
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
   * Watches the path to a peer on the link.
   *
   * @param local address to come from, one of the interface that leads to the peer (RFC 5881 §6)
   * @param device interface of a link-local peer; empty for others
   * @throws SystemCallException where no socket can be had, as where port 3784 is taken
   */
  public Path watch(
      Endpoint local, Endpoint remote, String device, BfdOptions options, PathListener listener) {
    hear(
        remote.isIpv4()
            ? Endpoint.anyIpv4Address(CONTROL_PORT)
            : Endpoint.anyAddress(CONTROL_PORT));
    Path path = new Path(remote, sender(local, device), options, listener);
    paths.put(path.session.discriminator(), path);
    path.tick();
    return path;
  }

  /* RFC 5881 §4: from a port of 49152 to 65535 that no other session of ours has. */
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
      /* What is malformed, came from too far or from no peer has no effect. */
      if (path != null && read != null) {
        path.session.received(read);
        path.rearm();
      }
    }
  }

  /* A packet for a session of ours must come from its peer all the same. */
  private @Nullable Path find(BfdPacket read, Endpoint source) {
    if (read.yours() != 0) {
      Path path = paths.get(read.yours());
      return path != null && path.remote.sameAddress(source) ? path : null;
    }
    for (Path path : paths.values()) {
      if (path.remote.sameAddress(source)) {
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
