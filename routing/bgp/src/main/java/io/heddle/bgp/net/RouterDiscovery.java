package io.heddle.bgp.net;

import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.SystemCallException;
import java.net.Inet6Address;
import java.util.HexFormat;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the router on a link by its advertisements, and advertises this host there, since some
 * routers speak only with whom they have heard. Loop thread only.
 *
 * <p>An interface that isn't there yet, or whose link-local address isn't ready, is waited for.
 */
public final class RouterDiscovery implements AutoCloseable {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final int EAGER_ROUNDS = 3;
  private static final long UNMET_ROUND_NS = 10 * SECOND_NS;
  private static final long MET_ROUND_NS = 60 * SECOND_NS;
  private static final Prefix ALL_NODES = Prefix.of("ff02::1");
  private static final Prefix ALL_ROUTERS = Prefix.of("ff02::2");

  private final EventLoop loop;
  private final String interfaceName;
  private final Consumer<Inet6Address> onRouter;
  private final byte[] packet = new byte[2048];
  private @Nullable DatagramSocket6 socket;
  private EventLoop.@Nullable Timer timer;
  private byte[] macAddress = new byte[0];
  private int index;
  private int rounds;
  private boolean met;
  private boolean complained;
  private boolean closed;

  /**
   * @param onRouter hears the link-local address of the router, again with each advertisement
   */
  public RouterDiscovery(EventLoop loop, String interfaceName, Consumer<Inet6Address> onRouter) {
    this.loop = loop;
    this.interfaceName = interfaceName;
    this.onRouter = onRouter;
    round();
  }

  /** Whether a session with the router is up: advertise rarely then. */
  public void met(boolean now) {
    if (met && !now) {
      rounds = 0;
    }
    met = now;
  }

  private void round() {
    if (closed) {
      return;
    }
    /* Should this one fail, there is another one. */
    EventLoop.Timer again = loop.schedule(UNMET_ROUND_NS, this::round);
    timer = again;
    DatagramSocket6 open = socket();
    if (open != null) {
      int refused =
          open.send(
              RouterAdvertisement.ours(macAddress), Endpoint.of(ALL_NODES.address(), index, 0));
      if (!met) {
        open.send(
            RouterAdvertisement.solicitation(macAddress),
            Endpoint.of(ALL_ROUTERS.address(), index, 0));
      }
      if (refused == 0) {
        rounds++;
      }
    }
    long waitNs = rounds <= EAGER_ROUNDS ? SECOND_NS : met ? MET_ROUND_NS : UNMET_ROUND_NS;
    again.cancel();
    timer = loop.schedule(waitNs, this::round);
  }

  /** Opens the socket, again where the interface has become another one. */
  private @Nullable DatagramSocket6 socket() {
    int now = LinuxCalls.interfaceIndex(interfaceName);
    DatagramSocket6 open = socket;
    if (open != null && now == index) {
      return open;
    }
    if (open != null) {
      open.close();
      socket = null;
    }
    index = now;
    if (now == 0) {
      complain("there is no interface of that name");
      return null;
    }
    try {
      macAddress = macAddress(now);
      DatagramSocket6 made =
          DatagramSocket6.icmp(loop, interfaceName, now, RouterAdvertisement.TYPE);
      loop.register(made.fd(), EventLoop.READABLE, events -> receive(made));
      socket = made;
      rounds = 0;
      complained = false;
      return made;
    } catch (SystemCallException refused) {
      complain(refused.getMessage() + "; it needs CAP_NET_RAW, or configure the peer's address");
      return null;
    }
  }

  private void complain(String why) {
    if (!complained) {
      complained = true;
      loop.log().warn("no router can be looked for on %s: %s", interfaceName, why);
    }
  }

  private static byte[] macAddress(int index) {
    for (NetworkLink link : HostAddresses.read().links()) {
      if (link.index() == index && !link.macAddress().isEmpty()) {
        return HexFormat.ofDelimiter(":").parseHex(link.macAddress());
      }
    }
    return new byte[0];
  }

  private void receive(DatagramSocket6 from) {
    for (int length = from.receive(packet);
        length != DatagramSocket6.NOTHING && !closed;
        length = from.receive(packet)) {
      boolean fromLink =
          from.hopLimit() == RouterAdvertisement.HOP_LIMIT && from.source().isLinkLocal();
      if (fromLink
          && from.source().address() instanceof Inet6Address router
          && RouterAdvertisement.decode(packet, length) != null) {
        onRouter.accept(router);
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    EventLoop.Timer armed = timer;
    if (armed != null) {
      armed.cancel();
    }
    DatagramSocket6 open = socket;
    if (open != null) {
      open.close();
      socket = null;
    }
  }
}
