package io.heddle.addr;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Interface by which packets of a local address leave. The kernel's routes go by the destination
 * alone: of two interfaces in one subnet the first carries everything, whatever address a packet
 * comes from. A socket that is bound to the interface of its address leaves by that one.
 *
 * <p>A socket is bound only where the kernel would take another interface and a route that is as
 * specific leads there by its own. So packets to addresses of this host stay on the loopback, and
 * an address on {@code lo} or a dummy interface goes on by the routes.
 */
public final class Egress {
  private static final int SOL_SOCKET = 1;
  private static final int SO_BINDTOIFINDEX = 62;
  private static final int IPPROTO_IP = 0;
  private static final int IP_UNICAST_IF = 50;
  private static final int IPPROTO_IPV6 = 41;
  private static final int IPV6_UNICAST_IF = 76;
  private static final Path IPV4_SETTINGS = Path.of("/proc/sys/net/ipv4/conf");

  private Egress() {}

  /** Remedy by which packets leave by the interface of their address. */
  public enum Need {
    /** Nothing: they do, or they have no other way. */
    NONE,
    /** The socket has to be bound to the interface. */
    BIND,
    /**
     * Binding would help, but this host drops packets of IPv4 that arrive by another interface than
     * the first of their subnet (rp_filter=1), and its peers probably do as well.
     */
    REFUSED_BY_REVERSE_PATH
  }

  /**
   * Asks the kernel for its routes. Control path.
   *
   * @param source a local address
   * @param link its interface
   */
  public static Need need(InetAddress source, NetworkLink link, InetAddress destination) {
    if (link.loopback() || source.getClass() != destination.getClass()) {
      return Need.NONE;
    }
    try (RtnetlinkSocket socket = RtnetlinkSocket.open(0)) {
      FoundRoute chosen = lookUp(socket, destination, source, 0);
      if (chosen == null || !chosen.isUnicast() || chosen.leavesOnlyBy(link.index())) {
        return Need.NONE;
      }
      /* Without the source IPv6 takes routes by this interface alone, and no lower metric of another's. */
      FoundRoute own = lookUp(socket, destination, null, link.index());
      if (own == null
          || !own.isUnicast()
          || own.prefixLength() != chosen.prefixLength()
          || !own.leavesBy(link.index())) {
        return Need.NONE;
      }
    } catch (HeddleException unknown) {
      /* A kernel that can't say leaves packets to its routes, as it does those of other programs. */
      return Need.NONE;
    }
    return source instanceof Inet4Address && setting(link, "rp_filter") == 1
        ? Need.REFUSED_BY_REVERSE_PATH
        : Need.BIND;
  }

  /**
   * Has a socket send by this interface alone; one that is unbound needs no privilege for it since
   * Linux 5.7. Before that the interface is preferred where metrics are equal.
   *
   * @return 0, or the negated errno
   */
  public static int bind(int fd, NetworkLink link, boolean ipv4) {
    int bound = LinuxCalls.setIntOption(fd, SOL_SOCKET, SO_BINDTOIFINDEX, link.index());
    if (bound == 0) {
      return 0;
    }
    int networkOrder =
        ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN
            ? link.index()
            : Integer.reverseBytes(link.index());
    return ipv4
        ? LinuxCalls.setIntOption(fd, IPPROTO_IP, IP_UNICAST_IF, networkOrder)
        : LinuxCalls.setIntOption(fd, IPPROTO_IPV6, IPV6_UNICAST_IF, networkOrder);
  }

  /**
   * A setting of IPv4 of an interface as the kernel combines it: the larger one of its own and that
   * of all interfaces; 0 where it can't be read.
   *
   * @param name such as {@code rp_filter} or {@code arp_ignore}
   */
  public static int setting(NetworkLink link, String name) {
    return Math.max(
        number(IPV4_SETTINGS.resolve("all").resolve(name)),
        number(IPV4_SETTINGS.resolve(link.name()).resolve(name)));
  }

  private static int number(Path file) {
    try {
      return Integer.parseInt(Files.readString(file).strip());
    } catch (IOException | NumberFormatException hidden) {
      return 0;
    }
  }

  /* Null where there is none. */
  private static @Nullable FoundRoute lookUp(
      RtnetlinkSocket socket, InetAddress to, @Nullable InetAddress from, int interfaceIndex) {
    ByteBuffer answer =
        socket.ask(FoundRoute.RTM_GETROUTE, FoundRoute.request(to, from, interfaceIndex));
    return answer == null ? null : FoundRoute.decode(answer);
  }
}
