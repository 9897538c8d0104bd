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
 * Discovery of the router on a link by its advertisements. Also advertises this host on the link,
 * because some routers open sessions only with hosts whose advertisements they have received.
 * Retries while the interface or its link-local address is missing. For the loop's thread.
 */
public final class RouterDiscovery implements AutoCloseable {
  private static final long SECOND_NS = 1_000_000_000L;
  private static final int EAGER_ROUNDS = 3;
  private static final long NO_SESSION_ROUND_NS = 10 * SECOND_NS;
  private static final long SESSION_ROUND_NS = 60 * SECOND_NS;
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
  private boolean sessionUp;
  private boolean warned;
  private boolean closed;

  /**
   * @param onRouter called with the router's link-local address at each advertisement
   */
  public RouterDiscovery(EventLoop loop, String interfaceName, Consumer<Inet6Address> onRouter) {
    this.loop = loop;
    this.interfaceName = interfaceName;
    this.onRouter = onRouter;
    round();
  }

  /**
   * Sets whether a session with the router is up. While a session is up, this host advertises
   * itself every 60 s instead of every 10 s.
   */
  public void setSessionUp(boolean now) {
    if (sessionUp && !now) {
      rounds = 0;
    }
    sessionUp = now;
  }

  private void round() {
    if (closed) {
      return;
    }
    /* Scheduled in advance, so that another round follows even if this one throws. */
    EventLoop.Timer again = loop.schedule(NO_SESSION_ROUND_NS, this::round);
    timer = again;
    DatagramSocket6 open = socket();
    if (open != null) {
      int refused =
          open.send(
              RouterAdvertisement.encodeOwn(macAddress),
              Endpoint.of(ALL_NODES.address(), index, 0));
      if (!sessionUp) {
        open.send(
            RouterAdvertisement.solicitation(macAddress),
            Endpoint.of(ALL_ROUTERS.address(), index, 0));
      }
      if (refused == 0) {
        rounds++;
      }
    }
    long waitNs =
        rounds <= EAGER_ROUNDS ? SECOND_NS : sessionUp ? SESSION_ROUND_NS : NO_SESSION_ROUND_NS;
    again.cancel();
    timer = loop.schedule(waitNs, this::round);
  }

  /**
   * Returns the socket; opens it first, or reopens it if the interface was replaced. Null if that
   * fails.
   */
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
      warn("there is no interface of that name");
      return null;
    }
    try {
      macAddress = macAddress(now);
      DatagramSocket6 made =
          DatagramSocket6.icmp(loop, interfaceName, now, RouterAdvertisement.TYPE);
      loop.register(made.fd(), EventLoop.READABLE, events -> receive(made));
      socket = made;
      rounds = 0;
      warned = false;
      return made;
    } catch (SystemCallException refused) {
      warn(refused.getMessage() + "; it needs CAP_NET_RAW, or configure the peer's address");
      return null;
    }
  }

  private void warn(String why) {
    if (!warned) {
      warned = true;
      loop.log().warn("router discovery on %s fails: %s", interfaceName, why);
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
