package io.heddle.bgpstub.daemon;

import io.heddle.addr.AddressText;
import io.heddle.bgp.session.BgpPeerKeys;
import io.heddle.bgp.wire.CodePoints;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigKeys;
import io.heddle.routes.MissingFigure;
import io.heddle.routes.RoutesPath;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Keys of the route daemon's configuration file. */
public final class RouteDaemonKeys {
  /** Keys above all sections. */
  public static final ConfigKeys TOP = ConfigKeys.top();

  /** Section {@code [peer NAME]}. */
  public static final ConfigKeys PEER = ConfigKeys.section("peer");

  /** Value of {@code plane} for a peer with the prefixes of all planes. */
  static final String BY_COLOUR = "by-colour";

  private static final long MOST_AS = 0xffff_ffffL;
  private static final int MOST_TYPE = 0xffff;
  private static final String HOLD_TIME_RANGE = "0 or a whole number from 3 to 65535";

  static final ConfigKey<Long> AS =
      TOP.number("as", 0, ConfigKey.REQUIRED, 1, MOST_AS, "AS of this host");
  static final ConfigKey<Integer> ROUTER_ID =
      TOP.key(
          "router-id",
          "four numbers like 10.0.0.5",
          0,
          "from the addresses",
          "BGP identifier",
          AddressText::requireRouterId);
  static final ConfigKey<Integer> LISTEN_PORT =
      TOP.integer("listen-port", 179, 0, 0xffff, "port on which peers may connect; 0 for none");
  static final ConfigKey<Path> PUBLISH =
      TOP.file(
          "publish",
          RoutesPath.DEFAULT,
          "the routes file; jobs read it unless `HEDDLE_ROUTES` names another");
  static final ConfigKey<Path> CONTROL =
      TOP.socket(
          "control", ConfigParser.DEFAULT_CONTROL, "socket that `heddle bgp show` connects to");
  static final ConfigKey<Long> PUBLISH_AFTER_MS =
      TOP.number(
          "publish-after-ms",
          5_000,
          0,
          600_000,
          "weights are published when every peer has sent all its routes, at the latest after"
              + " this; a predecessor's stay until then");
  static final ConfigKey<Boolean> ANNOUNCE =
      TOP.flag("announce", true, "announce this host's addresses as host routes");
  static final ConfigKey<Boolean> FIB_SUPPRESS =
      TOP.flag("fib-suppress", true, "announce them with the FIB-suppress community");
  static final ConfigKey<Integer> HOLD_TIME_S =
      TOP.key(
          "hold-time-s",
          HOLD_TIME_RANGE,
          9,
          "9",
          "BGP's hold time of peers without their own",
          RouteDaemonKeys::holdTime);
  static final ConfigKey<MissingFigure> MISSING_BANDWIDTH =
      TOP.choice(
          "missing-bandwidth",
          "equal",
          List.of("equal", "skip", "default"),
          word -> MissingFigure.valueOf(word.toUpperCase(Locale.ROOT)),
          "for a destination with a route without bandwidth: all planes weigh the same, its plane"
              + " is skipped, or it gets the default bandwidth");
  static final ConfigKey<Integer> DEFAULT_BANDWIDTH_MBPS =
      TOP.integer("default-bandwidth-mbps", 1000, 1, (1 << 24) - 1, "that default");
  static final ConfigKey<Integer> BORROWED_PERCENT =
      TOP.integer(
          "borrowed-percent",
          5,
          0,
          100,
          "share of its weight that a plane keeps when its own path is lost");
  static final ConfigKey<Boolean> LINK_BANDWIDTH =
      TOP.flag(
          "link-bandwidth", true, "read RFC 10005's community where path bandwidth is missing");
  static final ConfigKey<Boolean> ZERO_LINK_BANDWIDTH =
      TOP.choice(
          "zero-link-bandwidth",
          "no-figure",
          List.of("unreachable", "no-figure"),
          "unreachable"::equals,
          "meaning of that community's zero");
  static final ConfigKey<Integer> PATH_BANDWIDTH_TYPE =
      type(
          "path-bandwidth-type",
          CodePoints.DEFAULT.pathBandwidth(),
          "type of the extended community of path bandwidth, which a draft leaves open");
  static final ConfigKey<Integer> UNREACHABLE_TYPE =
      type(
          "unreachable-type",
          CodePoints.DEFAULT.unreachable(),
          "the same for unreachable destinations");
  static final ConfigKey<Integer> OTHER_UNREACHABLE_TYPE =
      TOP.integer(
          "other-unreachable-type",
          CodePoints.DEFAULT.otherUnreachable(),
          ConfigKey.NONE,
          -1,
          MOST_TYPE,
          "a second type for them; -1 for none");
  static final ConfigKey<Integer> FIB_SUPPRESS_TYPE =
      type("fib-suppress-type", CodePoints.DEFAULT.fibSuppress(), "the same for FIB-suppress");

  static final ConfigKey<String> INTERFACE =
      PEER.text(
          "interface",
          "an interface",
          "the one with an address in the peer's subnet",
          "link whose addresses are the plane's; needed for a peer without an address, with a"
              + " link-local one, or farther away");
  static final ConfigKey<@Nullable InetAddress> ADDRESS =
      PEER.key(
          "address",
          "an IPv6 or IPv4 address of a host",
          null,
          "the interface's default router",
          "address of the peer",
          AddressText::requireHost);
  static final ConfigKey<Long> PEER_AS =
      PEER.number("as", 0, "any but ours", 0, MOST_AS, "its AS; 0 for any but ours");
  static final ConfigKey<Families> FAMILIES =
      PEER.key(
          "families",
          "ipv6, ipv4 or both with a comma",
          Families.IPV6_UNICAST,
          "that of its address, else ipv6",
          "families of the exchanged routes",
          RouteDaemonKeys::families);
  static final ConfigKey<String> PLANE =
      PEER.key(
          "plane",
          "a name of 1 to 32 letters, digits, dots, dashes or underscores, or " + BY_COLOUR,
          "",
          ConfigKey.REQUIRED,
          "plane of all its routes; by-colour if one leaf has the prefixes of all planes",
          RouteDaemonKeys::plane);
  static final ConfigKey<Long> RATE_GBPS =
      PEER.number(
          "rate-gbps",
          0,
          "the port's",
          0,
          65_535,
          "upper limit of a route's bandwidth; the speed of a virtual port isn't believed");
  static final BgpPeerKeys SESSION = BgpPeerKeys.of(PEER);
  static final ConfigKey<Integer> PEER_HOLD_TIME_S =
      PEER.key(
          "hold-time-s",
          HOLD_TIME_RANGE,
          HOLD_TIME_S.standard(),
          "that of all peers",
          "BGP's hold time",
          RouteDaemonKeys::holdTime);
  static final ConfigKey<Boolean> AIGP = PEER.flag("aigp", true, "read AIGP from it");
  static final ConfigKey<Boolean> AS_SETS =
      PEER.flag(
          "as-sets",
          false,
          "accept sets in its paths, as old aggregating leaves write; RFC 9774 has them withdrawn");
  static final ConfigKey<Integer> BFD_INTERVAL_MS =
      PEER.integer(
          "bfd-interval-ms",
          0,
          0,
          60_000,
          "watches the path to the peer; 0 for no BFD. On a silent failure the hold time's many"
              + " seconds become the product of interval and multiplier");
  static final ConfigKey<Integer> BFD_MULTIPLIER =
      PEER.integer("bfd-multiplier", 3, 1, 255, "missed packets that make a failure");
  static final ConfigKey<Boolean> FILTER =
      PEER.flag(
          "filter",
          false,
          "ask it for routes to the peers in use only (RFC 5291): those that the statistics files"
              + " of this host's jobs name");
  static final ConfigKey<List<Prefix>> FILTER_ALWAYS =
      PEER.list(
          "filter-always",
          "prefixes like fd00:aa::/32 or 10.2.0.0/16",
          ConfigKey.NONE,
          Prefix::of,
          "prefixes that the filter always asks for");

  static {
    TOP.needRestart(AS, ROUTER_ID, LISTEN_PORT, PUBLISH, CONTROL);
  }

  private RouteDaemonKeys() {}

  private static ConfigKey<Integer> type(String name, int standard, String meaning) {
    return TOP.integer(name, standard, "0x%04x".formatted(standard), 0, MOST_TYPE, meaning);
  }

  private static int holdTime(String text) {
    int value = Integer.parseInt(text);
    if (value < 0 || value == 1 || value == 2 || value > 0xffff) {
      throw new IllegalArgumentException("out of range");
    }
    return value;
  }

  private static Families families(String text) {
    Set<String> words = Set.of(text.strip().split("\\s*,\\s*"));
    if (!Set.of("ipv6", "ipv4").containsAll(words)) {
      throw new IllegalArgumentException("no families");
    }
    return new Families(words.contains("ipv6"), words.contains("ipv4"), List.of());
  }

  private static String plane(String text) {
    if (!text.matches("[A-Za-z0-9._-]{1,32}")) {
      throw new IllegalArgumentException("no name");
    }
    return text;
  }
}
