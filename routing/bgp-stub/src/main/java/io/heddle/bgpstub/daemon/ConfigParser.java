package io.heddle.bgpstub.daemon;

import io.heddle.addr.AddressText;
import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.wire.CodePoints;
import io.heddle.bgp.wire.Families;
import io.heddle.bgpstub.rib.RibOptions;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.HeddleException;
import io.heddle.routes.WeightRules;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Parser of a configuration file into a {@link DaemonConfig}. */
public final class ConfigParser {
  /** Default path of the configuration file. */
  public static final Path DEFAULT_FILE = Path.of("/etc/heddle/bgp.conf");

  /** Default path of the control socket. */
  public static final Path DEFAULT_CONTROL = Path.of("/run/heddle/bgp.sock");

  private static final int MBPS_PER_GBPS = 1000;

  private ConfigParser() {}

  /**
   * Reads a configuration.
   *
   * @throws HeddleException whose message has file, line, key, value and allowed values
   */
  public static DaemonConfig read(Path file) {
    return parse(file.toString(), ConfigText.read(file));
  }

  static DaemonConfig parse(String file, String content) {
    ConfigText text = ConfigText.parse(file, content, RouteDaemonKeys.TOP, RouteDaemonKeys.PEER);
    ConfigText.Section top = text.top();
    List<PeerConfig> peers = new ArrayList<>();
    int holdTime = top.get(RouteDaemonKeys.HOLD_TIME_S);
    DaemonConfig config =
        new DaemonConfig(
            text,
            top.get(RouteDaemonKeys.AS),
            top.get(RouteDaemonKeys.ROUTER_ID),
            top.get(RouteDaemonKeys.LISTEN_PORT),
            top.get(RouteDaemonKeys.PUBLISH),
            top.get(RouteDaemonKeys.CONTROL),
            top.get(RouteDaemonKeys.PUBLISH_AFTER_MS),
            top.get(RouteDaemonKeys.ANNOUNCE),
            top.get(RouteDaemonKeys.FIB_SUPPRESS),
            new WeightRules(
                top.get(RouteDaemonKeys.MISSING_BANDWIDTH),
                top.get(RouteDaemonKeys.DEFAULT_BANDWIDTH_MBPS),
                top.get(RouteDaemonKeys.BORROWED_PERCENT)),
            new RibOptions(
                top.get(RouteDaemonKeys.LINK_BANDWIDTH),
                top.get(RouteDaemonKeys.ZERO_LINK_BANDWIDTH)),
            codePoints(top),
            peers);
    if (!top.has(RouteDaemonKeys.AS)) {
      throw top.fail("there is no 'as'; set as = 65001, the AS of this host");
    }
    for (ConfigText.Section section : text.sections()) {
      PeerConfig peer = peer(section, holdTime);
      refuseOverlap(section, peer, peers);
      peers.add(peer);
    }
    if (peers.isEmpty()) {
      throw top.fail("there is no peer; add a section [peer NAME] for each leaf");
    }
    return config;
  }

  private static CodePoints codePoints(ConfigText.Section top) {
    /*
     * The daemon accepts no Flowspec rules. So it needs no type for their redirect community, and
     * another community may have that type.
     */
    int noRedirect = -1;
    try {
      return new CodePoints(
          top.get(RouteDaemonKeys.PATH_BANDWIDTH_TYPE),
          top.get(RouteDaemonKeys.UNREACHABLE_TYPE),
          top.get(RouteDaemonKeys.OTHER_UNREACHABLE_TYPE),
          top.get(RouteDaemonKeys.FIB_SUPPRESS_TYPE),
          noRedirect);
    } catch (IllegalArgumentException unfit) {
      throw top.fail("the types of extended communities conflict: " + unfit.getMessage());
    }
  }

  private static PeerConfig peer(ConfigText.Section section, int holdTime) {
    InetAddress address = section.get(RouteDaemonKeys.ADDRESS);
    boolean ipv4 = address instanceof Inet4Address;
    String interfaceName = section.get(RouteDaemonKeys.INTERFACE);
    if (interfaceName.isEmpty() && (address == null || !ipv4 && address.isLinkLocalAddress())) {
      throw section.fail(
          section.title()
              + " needs an interface, since "
              + (address == null
                  ? "without an address the peer is the interface's default router"
                  : "its address is link-local"));
    }
    String plane = section.get(RouteDaemonKeys.PLANE);
    if (plane.isEmpty()) {
      throw section.fail(
          section.title()
              + " has no plane for its routes: plane = NAME, or plane = "
              + RouteDaemonKeys.BY_COLOUR
              + " if one leaf has the prefixes of all planes");
    }
    return new PeerConfig(
        section.name(),
        interfaceName,
        address,
        section.get(RouteDaemonKeys.FAMILIES, ipv4 ? Families.IPV4_UNICAST : Families.IPV6_UNICAST),
        section.get(RouteDaemonKeys.PEER_AS),
        plane.equals(RouteDaemonKeys.BY_COLOUR) ? "" : plane,
        section.get(RouteDaemonKeys.RATE_GBPS) * MBPS_PER_GBPS,
        section.get(RouteDaemonKeys.SESSION.port()),
        section.get(RouteDaemonKeys.PEER_HOLD_TIME_S, holdTime),
        section.get(RouteDaemonKeys.SESSION.passive()),
        section.get(RouteDaemonKeys.SESSION.gtsmHops()),
        section.get(RouteDaemonKeys.SESSION.md5Key()),
        section.get(RouteDaemonKeys.AIGP),
        section.get(RouteDaemonKeys.AS_SETS),
        bfd(section),
        section.get(RouteDaemonKeys.FILTER),
        section.get(RouteDaemonKeys.FILTER_ALWAYS));
  }

  private static @Nullable BfdOptions bfd(ConfigText.Section section) {
    int interval = section.get(RouteDaemonKeys.BFD_INTERVAL_MS);
    int multiplier = section.get(RouteDaemonKeys.BFD_MULTIPLIER);
    if (interval == 0) {
      return null;
    }
    try {
      return new BfdOptions(interval, multiplier);
    } catch (IllegalArgumentException unfit) {
      throw section.fail(section.title() + ": " + unfit.getMessage());
    }
  }

  /*
   * Refuses two planes on one interface, since it would be unclear to which plane the interface's
   * addresses belong. Refuses one plane on two interfaces, since the plane's address would be
   * ambiguous.
   */
  private static void refuseOverlap(
      ConfigText.Section section, PeerConfig peer, List<PeerConfig> before) {
    for (PeerConfig other : before) {
      refuseSharedPlace(section, peer, other);
      boolean sameLink =
          !peer.interfaceName().isEmpty() && peer.interfaceName().equals(other.interfaceName());
      boolean sameAddress =
          peer.address() == null ? other.address() == null : peer.address().equals(other.address());
      if (sameAddress && peer.interfaceName().equals(other.interfaceName())) {
        throw section.fail(
            "[peer %s] and [peer %s] are the same peer: %s%s"
                .formatted(
                    peer.name(),
                    other.name(),
                    peer.address() == null ? "the default router" : AddressText.of(peer.address()),
                    sameLink ? " on " + peer.interfaceName() : ""));
      }
      if (sameLink && !peer.plane().equals(other.plane())) {
        throw section.fail(
            ("planes overlap: [peer %s] has %s and [peer %s] has %s, both on interface %s; give"
                    + " each plane an interface, or set plane = %s for both")
                .formatted(
                    peer.name(),
                    planeText(peer),
                    other.name(),
                    planeText(other),
                    peer.interfaceName(),
                    RouteDaemonKeys.BY_COLOUR));
      }
    }
  }

  private static void refuseSharedPlace(
      ConfigText.Section section, PeerConfig peer, PeerConfig other) {
    boolean bothNamed = !peer.interfaceName().isEmpty() && !other.interfaceName().isEmpty();
    if (bothNamed
        && !peer.isPlaneFromColour()
        && peer.plane().equals(other.plane())
        && !peer.interfaceName().equals(other.interfaceName())) {
      throw section.fail(
          ("plane %s would have two addresses of ours: [peer %s] is on interface %s and [peer %s]"
                  + " on %s; give each interface a plane of its own")
              .formatted(
                  peer.plane(),
                  peer.name(),
                  peer.interfaceName(),
                  other.name(),
                  other.interfaceName()));
    }
  }

  private static String planeText(PeerConfig peer) {
    return peer.isPlaneFromColour()
        ? "planes " + RouteDaemonKeys.BY_COLOUR
        : "plane " + peer.plane();
  }
}
