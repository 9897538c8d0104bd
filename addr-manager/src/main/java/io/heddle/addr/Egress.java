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
 * Choice of the interface by which the packets of a local address leave. The kernel chooses a route
 * by the destination alone. If two interfaces share a subnet, the first interface carries all
 * packets, whatever their source address. A socket that is bound to the interface of its address
 * uses that interface.
 *
 * <p>A socket is bound only if the kernel would choose another interface, and if the address's
 * interface has an equally specific route to the destination. So packets to addresses of this host
 * stay on the loopback, and packets from an address on {@code lo} or a dummy interface still follow
 * the routes.
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

  /** Remedy that makes packets leave by the interface of their address. */
  public enum Remedy {
    /**
     * No remedy: packets already leave by the interface of their address, or binding wouldn't help.
     */
    NONE,
    /** Binding of the socket to the interface. */
    BIND,
    /**
     * Binding would help, but reverse-path filtering (rp_filter=1) makes this host drop IPv4
     * packets that arrive by another interface than the first of their subnet. The other hosts are
     * probably configured alike, and would drop this host's packets.
     */
    REFUSED_BY_REVERSE_PATH
  }

  /**
   * Finds the remedy by querying the kernel's routes. For the control path.
   *
   * @param source a local address
   * @param link interface of the local address
   */
  public static Remedy remedy(InetAddress source, NetworkLink link, InetAddress destination) {
    if (link.loopback() || source.getClass() != destination.getClass()) {
      return Remedy.NONE;
    }
    try (RtnetlinkSocket socket = RtnetlinkSocket.open(0)) {
      ResolvedRoute chosen = lookUp(socket, destination, source, 0);
      if (chosen == null || !chosen.isUnicast() || chosen.usesOnlyInterface(link.index())) {
        return Remedy.NONE;
      }
      /*
       * Without a source address, IPv6 considers only routes of this interface, and ignores another
       * interface's route even if that has a lower metric.
       */
      ResolvedRoute own = lookUp(socket, destination, null, link.index());
      if (own == null
          || !own.isUnicast()
          || own.prefixLength() != chosen.prefixLength()
          || !own.usesInterface(link.index())) {
        return Remedy.NONE;
      }
    } catch (HeddleException unknown) {
      /*
       * Chooses no remedy if the kernel can't answer: packets then follow its routes, like the
       * packets of other programs.
       */
      return Remedy.NONE;
    }
    return source instanceof Inet4Address && setting(link, "rp_filter") == 1
        ? Remedy.REFUSED_BY_REVERSE_PATH
        : Remedy.BIND;
  }

  /**
   * Makes a socket send by this interface only. Since Linux 5.7 this needs no privilege on a socket
   * that isn't bound to an interface yet. On an older kernel, the interface is only preferred among
   * routes of equal metrics.
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
   * Returns an interface's IPv4 setting as the kernel combines it: the larger of the interface's
   * value and the value for all interfaces; 0 if neither can be read.
   *
   * @param name name of the setting, such as {@code rp_filter} or {@code arp_ignore}
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

  /*
   * Returns the kernel's route for a destination, or null if it has none. A null source or an
   * interface index of 0 means any.
   */
  private static @Nullable ResolvedRoute lookUp(
      RtnetlinkSocket socket, InetAddress to, @Nullable InetAddress from, int interfaceIndex) {
    ByteBuffer answer =
        socket.get(ResolvedRoute.RTM_GETROUTE, ResolvedRoute.request(to, from, interfaceIndex));
    return answer == null ? null : ResolvedRoute.decode(answer);
  }
}
