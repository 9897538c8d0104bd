package io.heddle.bgpstub.daemon;

import io.heddle.addr.AddressText;
import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.net.TcpOptions;
import io.heddle.bgp.wire.CodePoints;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgpstub.rib.RibOptions;
import io.heddle.daemon.ConfigText;
import io.heddle.platform.FileFailure;
import io.heddle.platform.HeddleException;
import io.heddle.routes.MissingFigure;
import io.heddle.routes.RoutesPath;
import io.heddle.routes.WeightRules;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Parser of a configuration file into a {@link DaemonConfig}. */
public final class ConfigParser {
  /** Default path of the configuration file. */
  public static final Path DEFAULT_FILE = Path.of("/etc/heddle/bgp.conf");

  /** Default path of the control socket. */
  public static final Path DEFAULT_CONTROL = Path.of("/run/heddle/bgp.sock");

  private static final int MBPS_PER_GBPS = 1000;
  private static final String BY_COLOUR = "by-colour";

  private static final Set<String> TOP_KEYS =
      Set.of(
          "as",
          "router-id",
          "listen-port",
          "publish",
          "control",
          "publish-after-ms",
          "announce",
          "fib-suppress",
          "hold-time-s",
          "missing-bandwidth",
          "default-bandwidth-mbps",
          "borrowed-percent",
          "link-bandwidth",
          "zero-link-bandwidth",
          "path-bandwidth-type",
          "unreachable-type",
          "other-unreachable-type",
          "fib-suppress-type");
  private static final Set<String> PEER_KEYS =
      Set.of(
          "interface",
          "address",
          "as",
          "families",
          "plane",
          "rate-gbps",
          "port",
          "hold-time-s",
          "passive",
          "gtsm-hops",
          "md5-key",
          "aigp",
          "as-sets",
          "bfd-interval-ms",
          "bfd-multiplier",
          "filter",
          "filter-always");

  private ConfigParser() {}

  /**
   * Reads a configuration.
   *
   * @throws HeddleException whose message has file, line, key, value and allowed values
   */
  public static DaemonConfig read(Path file) {
    try {
      return parse(file.toString(), Files.readAllLines(file));
    } catch (IOException failure) {
      throw new HeddleException(
          "the configuration %s can't be read: %s; write it, or name another"
              .formatted(file, FileFailure.reason(failure)),
          failure);
    }
  }

  static DaemonConfig parse(String file, List<String> lines) {
    List<ConfigText.Section> sections = ConfigText.parse(file, lines, List.of("peer"));
    ConfigText.Section top = sections.getFirst();
    top.refuseUnknown(TOP_KEYS);
    sections.subList(1, sections.size()).forEach(section -> section.refuseUnknown(PEER_KEYS));
    List<PeerConfig> peers = new ArrayList<>();
    long holdTime = holdTime(top, 9);
    long as = top.number("as", 0, 1, 0xffff_ffffL);
    DaemonConfig config =
        new DaemonConfig(
            as,
            top.get("router-id", 0, "four numbers like 10.0.0.5", ConfigParser::routerId),
            (int) top.number("listen-port", 179, 0, 0xffff),
            top.get("publish", RoutesPath.DEFAULT, "a file", Path::of),
            top.get("control", DEFAULT_CONTROL, "a file", Path::of),
            top.number("publish-after-ms", 5_000, 0, 600_000),
            top.flag("announce", true),
            top.flag("fib-suppress", true),
            weights(top),
            new RibOptions(
                top.flag("link-bandwidth", true),
                top.get(
                    "zero-link-bandwidth",
                    false,
                    "unreachable or no-figure",
                    text -> choice(text, "unreachable", "no-figure"))),
            codePoints(top),
            peers);
    if (as == 0) {
      throw new HeddleException(file + ": there is no 'as'; set as = 65001, the AS of this host");
    }
    for (ConfigText.Section section : sections.subList(1, sections.size())) {
      PeerConfig peer = peer(section, (int) holdTime);
      refuseOverlap(section, peer, peers);
      peers.add(peer);
    }
    if (peers.isEmpty()) {
      throw new HeddleException(
          file + ": there is no peer; add a section [peer NAME] for each leaf");
    }
    return config;
  }

  private static long holdTime(ConfigText.Section section, long standard) {
    return section.get(
        "hold-time-s",
        standard,
        "0 or a whole number from 3 to 65535",
        text -> {
          long value = Long.parseLong(text);
          if (value != 0 && (value < 3 || value > 0xffff)) {
            throw new IllegalArgumentException("out of range");
          }
          return value;
        });
  }

  /* Returns whether the text is the first of two allowed words; throws for any other text. */
  private static boolean choice(String text, String yes, String no) {
    if (!text.equals(yes) && !text.equals(no)) {
      throw new IllegalArgumentException("neither");
    }
    return text.equals(yes);
  }

  private static WeightRules weights(ConfigText.Section top) {
    return new WeightRules(
        top.get(
            "missing-bandwidth",
            MissingFigure.EQUAL,
            "equal, skip or default",
            text -> MissingFigure.valueOf(text.toUpperCase(Locale.ROOT))),
        (int) top.number("default-bandwidth-mbps", 1000, 1, (1 << 24) - 1),
        (int) top.number("borrowed-percent", 5, 0, 100));
  }

  private static CodePoints codePoints(ConfigText.Section top) {
    CodePoints standard = CodePoints.DEFAULT;
    /*
     * The daemon takes no Flowspec rules, so another community can have the redirect community's
     * type.
     */
    int noRedirect = -1;
    int most = 0xffff;
    try {
      return new CodePoints(
          (int) top.number("path-bandwidth-type", standard.pathBandwidth(), 0, most),
          (int) top.number("unreachable-type", standard.unreachable(), 0, most),
          (int) top.number("other-unreachable-type", standard.otherUnreachable(), -1, most),
          (int) top.number("fib-suppress-type", standard.fibSuppress(), 0, most),
          noRedirect);
    } catch (IllegalArgumentException unfit) {
      throw top.fail(1, "the types of extended communities conflict: " + unfit.getMessage());
    }
  }

  private static PeerConfig peer(ConfigText.Section section, int holdTime) {
    List<InetAddress> addresses =
        section.get(
            "address", List.of(), "an IPv6 or IPv4 address", text -> List.of(address(text)));
    InetAddress address = addresses.isEmpty() ? null : addresses.getFirst();
    boolean ipv4 = address instanceof Inet4Address;
    String interfaceName = section.text("interface", "");
    if (interfaceName.isEmpty() && (address == null || !ipv4 && address.isLinkLocalAddress())) {
      throw section.fail(
          section.number,
          "[peer "
              + section.name
              + "] needs an interface, since "
              + (address == null
                  ? "without an address the peer is the interface's default router"
                  : "its address is link-local"));
    }
    String plane =
        section.get(
            "plane",
            "",
            "a name of 1 to 32 letters, digits, dots, dashes or underscores, or " + BY_COLOUR,
            text -> {
              if (!text.matches("[A-Za-z0-9._-]{1,32}")) {
                throw new IllegalArgumentException("no name");
              }
              return text;
            });
    if (plane.isEmpty()) {
      throw section.fail(
          section.number,
          "[peer "
              + section.name
              + "] has no plane for its routes: plane = NAME, or plane = "
              + BY_COLOUR
              + " if one leaf has the prefixes of all planes");
    }
    return new PeerConfig(
        section.name,
        interfaceName,
        address,
        section.get(
            "families",
            ipv4 ? Families.IPV4_UNICAST : Families.IPV6_UNICAST,
            "ipv6, ipv4 or both with a comma",
            ConfigParser::families),
        section.number("as", 0, 0, 0xffff_ffffL),
        plane.equals(BY_COLOUR) ? "" : plane,
        section.number("rate-gbps", 0, 0, 65_535) * MBPS_PER_GBPS,
        (int) section.number("port", 179, 1, 0xffff),
        (int) holdTime(section, holdTime),
        section.flag("passive", false),
        (int) section.number("gtsm-hops", 0, 0, 255),
        md5Key(section),
        section.flag("aigp", true),
        section.flag("as-sets", false),
        bfd(section),
        section.flag("filter", false),
        section.get(
            "filter-always",
            List.of(),
            "prefixes like fd00:aa::/32 or 10.2.0.0/16",
            ConfigParser::prefixes));
  }

  private static @Nullable BfdOptions bfd(ConfigText.Section section) {
    int interval = (int) section.number("bfd-interval-ms", 0, 0, 60_000);
    int multiplier = (int) section.number("bfd-multiplier", 3, 1, 255);
    if (interval == 0) {
      return null;
    }
    try {
      return new BfdOptions(interval, multiplier);
    } catch (IllegalArgumentException unfit) {
      throw section.fail(section.number, "[peer " + section.name + "]: " + unfit.getMessage());
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
            section.number,
            "[peer %s] and [peer %s] are the same peer: %s%s"
                .formatted(
                    peer.name(),
                    other.name(),
                    peer.address() == null ? "the default router" : AddressText.of(peer.address()),
                    sameLink ? " on " + peer.interfaceName() : ""));
      }
      if (sameLink && !peer.plane().equals(other.plane())) {
        throw section.fail(
            section.number,
            ("planes overlap: [peer %s] has %s and [peer %s] has %s, both on interface %s; give"
                    + " each plane an interface, or set plane = %s for both")
                .formatted(
                    peer.name(),
                    planeText(peer),
                    other.name(),
                    planeText(other),
                    peer.interfaceName(),
                    BY_COLOUR));
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
          section.number,
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
    return peer.isPlaneFromColour() ? "planes " + BY_COLOUR : "plane " + peer.plane();
  }

  private static int routerId(String text) {
    InetAddress address = AddressText.parse(text);
    if (!(address instanceof Inet4Address) || ByteBuffer.wrap(address.getAddress()).getInt() == 0) {
      throw new IllegalArgumentException("no router id");
    }
    return ByteBuffer.wrap(address.getAddress()).getInt();
  }

  private static InetAddress address(String text) {
    InetAddress address = AddressText.parse(text);
    if (address == null) {
      throw new IllegalArgumentException("no address");
    }
    return address;
  }

  private static Families families(String text) {
    Set<String> words = Set.of(text.strip().split("\\s*,\\s*"));
    if (!Set.of("ipv6", "ipv4").containsAll(words)) {
      throw new IllegalArgumentException("no families");
    }
    return new Families(words.contains("ipv6"), words.contains("ipv4"), List.of());
  }

  /* Returns the TCP-MD5 key. Error messages about a key don't contain the key. */
  private static String md5Key(ConfigText.Section section) {
    String key = section.text("md5-key", "");
    int bytes = key.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > TcpOptions.LONGEST_KEY) {
      throw section.fail(
          section.number,
          "[peer %s]: md5-key has %s bytes, and TCP-MD5 takes %s at most (RFC 2385)"
              .formatted(section.name, bytes, TcpOptions.LONGEST_KEY));
    }
    return key;
  }

  private static List<Prefix> prefixes(String text) {
    List<Prefix> prefixes = new ArrayList<>();
    for (String part : text.split(",")) {
      prefixes.add(Prefix.of(part.strip()));
    }
    return prefixes;
  }
}
