package io.heddle.bridge.config;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.bridge.multicast.FlowDirection;
import io.heddle.bridge.multicast.LoopRules;
import io.heddle.bridge.multicast.MgidFormat;
import io.heddle.bridge.multicast.RateLimit;
import io.heddle.bridge.peer.PeerSettings;
import io.heddle.bridge.unicast.QueuePairMapping;
import io.heddle.bridge.unicast.UnicastSettings;
import io.heddle.bridge.unicast.UnicastSettings.Addresses;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigKeys;
import io.heddle.verbs.Gid;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Keys of the bridge's configuration file. */
public final class BridgeKeys {
  /** Keys above all sections. */
  public static final ConfigKeys TOP = ConfigKeys.top();

  /** Sections {@code [fabric a]} and {@code [fabric b]}. */
  public static final ConfigKeys FABRIC =
      ConfigKeys.section("fabric", "[fabric a] or [fabric b]", "[ab]");

  /** Section {@code [peer ADDRESS]}. */
  public static final ConfigKeys PEER = ConfigKeys.section("peer", "[peer ADDRESS]", "\\S+");

  /** Section {@code [group ADDRESS]}. */
  public static final ConfigKeys GROUP = ConfigKeys.section("group", "[group ADDRESS]", "\\S+");

  /** Section {@code [unicast]}. */
  public static final ConfigKeys UNICAST = ConfigKeys.section("unicast", "[unicast]", "");

  /** Sections {@code [proxy a ADDRESS]} and {@code [proxy b ADDRESS]}. */
  public static final ConfigKeys PROXY =
      ConfigKeys.section("proxy", "[proxy a ADDRESS] or [proxy b ADDRESS]", "[ab]\\s+\\S+");

  /** Section {@code [redundancy]}. */
  public static final ConfigKeys REDUNDANCY = ConfigKeys.section("redundancy", "[redundancy]", "");

  /** Value of {@code kind} for a port of libibverbs. */
  static final String VERBS = "verbs";

  static final int MOST_PORT = 65_535;
  private static final int MOST_BRIDGE = 65_535;
  private static final int MOST_CORE = 8191;
  private static final long MOST_RATE = 100_000_000;
  private static final int LEAST_INTERVAL_MS = 20;
  private static final int MOST_INTERVAL_MS = 10_000;

  static final ConfigKey<String> NAME =
      TOP.key("name", "a text", "bridge", "bridge", "name of the bridge", text -> text);
  static final ConfigKey<Path> STATUS = TOP.file("status", BridgeConfig.STATUS, "the status file");
  static final ConfigKey<Path> CONTROL =
      TOP.socket("control", BridgeConfig.CONTROL, "socket for orders");
  static final ConfigKey<Integer> CORE =
      TOP.integer(
          "core",
          BridgeConfig.NO_CORE,
          "the data thread sleeps",
          0,
          MOST_CORE,
          "[processor that the data thread spins on](#the-time-that-a-bridge-adds)");

  static final ConfigKey<Boolean> IS_VERBS =
      FABRIC.choice(
          "kind",
          "wire",
          List.of("wire", VERBS),
          VERBS::equals,
          "wire: over UDP sockets; verbs: through a port of libibverbs");
  static final ConfigKey<String> INTERFACE =
      FABRIC.text(
          "interface",
          "the name of an interface",
          "must be set for wire",
          "of wire: network interface into the fabric");
  static final ConfigKey<String> NAMESPACE =
      FABRIC.key(
          "namespace",
          "a name of ip netns",
          "",
          "the bridge's own",
          "of wire: network namespace of the interface",
          BridgeKeys::namespace);
  static final ConfigKey<String> DEVICE =
      FABRIC.text(
          "device",
          "the name of a device",
          "must be set for verbs",
          "of verbs: device into the fabric, as `ibv_devices` has it; with `:2` its second port");
  static final ConfigKey<List<Gid>> ADDRESS =
      FABRIC.list(
          "address",
          "IP addresses of a host",
          "all of the interface, or all RoCEv2 ones of the port",
          BridgeKeys::hostAddress,
          "own addresses to use; on InfiniBand that of IPoIB");
  static final ConfigKey<List<LoopRules.Prefix>> PREFIX =
      FABRIC.list(
          "prefix",
          "prefixes such as 10.1.0.0/16",
          "those of the interface; on InfiniBand none",
          BridgeKeys::prefix,
          "prefixes of the fabric's hosts; on InfiniBand of GIDs");
  static final ConfigKey<Integer> HOPS =
      FABRIC.integer("hops", 1, 1, 255, "time to live of sent packets");
  static final ConfigKey<Boolean> TRAINS =
      FABRIC.flag("trains", false, "of wire: IPv4 packets leave as segmented sends");
  static final LimitKeys LINK_LIMIT = LimitKeys.of(FABRIC, "packets a second into the fabric");

  static final ConfigKey<MgidFormat> MGID =
      GROUP.choice(
          "mgid",
          MgidFormat.RDMA.word(),
          MgidFormat.words(),
          MgidFormat::named,
          "[form of its MGID](#a-port-of-infiniband)");
  static final ConfigKey<FlowDirection> DIRECTION =
      GROUP.choice(
          "direction",
          FlowDirection.BOTH.word(),
          FlowDirection.words(),
          FlowDirection::named,
          "directions in which packets are forwarded");
  static final ConfigKey<Integer> TOS =
      GROUP.integer("tos", 0, 0, 255, "traffic class of forwarded packets");
  static final ConfigKey<Integer> OWNER =
      GROUP.integer(
          "owner",
          0,
          "a hash decides",
          1,
          MOST_BRIDGE,
          "bridge that owns it among several, by its `bridge-id`");
  static final ConfigKey<Boolean> PGM =
      GROUP.flag("pgm", false, "[its payloads are read as PGM](#loss-that-senders-show)");
  static final LimitKeys GROUP_LIMIT = LimitKeys.of(GROUP, "packets a second in each direction");

  static final ConfigKey<Boolean> MAPPED =
      UNICAST.choice(
          "mode",
          UnicastSettings.SAME_NUMBERS,
          List.of(UnicastSettings.SAME_NUMBERS, QueuePairMapping.WORD),
          QueuePairMapping.WORD::equals,
          "same: queue pairs keep their numbers;"
              + " [mapped](#datagrams-for-one-host-behind-a-device): with a fabric of kind verbs");
  static final ConfigKey<Addresses> ADDRESSES =
      UNICAST.choice(
          "addresses",
          Addresses.TRANSPARENT.word(),
          Addresses.words(),
          Addresses::named,
          "transparent: hosts see each other's own; proxied: they see the bridge's");
  static final ConfigKey<Integer> UNICAST_TOS =
      UNICAST.integer("tos", 0, 0, 255, "traffic class of packets for one host");
  static final ConfigKey<Integer> QUEUE_PAIRS =
      UNICAST.integer(
          "queue-pairs",
          QueuePairMapping.QUEUE_PAIRS,
          1,
          QueuePairMapping.MOST_QUEUE_PAIRS,
          "of mapped: queue pairs of the bridge");
  static final ConfigKey<Boolean> FIX_IMMEDIATE =
      UNICAST.flag(
          "fix-immediate",
          true,
          "of mapped: an immediate that is its sender's number becomes the mapped one");
  static final ConfigKey<List<Integer>> PORTS =
      UNICAST.key(
          "ports",
          "ports or FIRST-LAST, 1 to 65535",
          List.of(),
          ConfigKey.NONE,
          "of mapped: services that hosts behind the device may ask for, as `7174, 9000-9010`",
          BridgeKeys::ports);

  static final ConfigKey<@Nullable Gid> FOR =
      PROXY.key(
          "for",
          "an IP address of a host",
          null,
          ConfigKey.REQUIRED,
          "host of the other fabric that this address of the bridge stands for",
          BridgeKeys::hostAddress);

  static final ConfigKey<Integer> BRIDGE_ID =
      REDUNDANCY.integer(
          "bridge-id", 0, ConfigKey.REQUIRED, 1, MOST_BRIDGE, "its number, which no other has");
  static final ConfigKey<Integer> PRIORITY =
      REDUNDANCY.integer(
          "priority", PeerSettings.PRIORITY, 0, 255, "bridges of the highest one share the groups");
  static final ConfigKey<Integer> WEIGHT =
      REDUNDANCY.integer(
          "weight", PeerSettings.WEIGHT, 1, 100, "its share among those of the same priority");
  static final ConfigKey<Integer> BEACON =
      REDUNDANCY.key(
          "beacon",
          "a time from " + LEAST_INTERVAL_MS + "ms to " + MOST_INTERVAL_MS + "ms",
          PeerSettings.INTERVAL_MS,
          PeerSettings.INTERVAL_MS + "ms",
          "time between two beacons",
          BridgeKeys::interval);
  static final ConfigKey<Boolean> RESERVE =
      REDUNDANCY.flag("reserve", false, "it owns nothing while another can");
  static final ConfigKey<String> KEY_FILE =
      REDUNDANCY.text(
          "key-file",
          "the path of a file",
          ConfigKey.NONE,
          "key that all have in common, 16 bytes or more: `head -c 32 /dev/urandom`, and `chmod"
              + " 600`");
  static final ConfigKey<@Nullable Gid> BEACON_GROUP =
      REDUNDANCY.key(
          "group",
          "a multicast address",
          null,
          PeerSettings.GROUP_4 + ", or " + PeerSettings.GROUP_6 + " where a fabric has IPv6 only",
          "group of the beacons",
          BridgeKeys::multicastAddress);
  static final ConfigKey<Integer> PORT =
      REDUNDANCY.integer("port", PeerSettings.PORT, 1, MOST_PORT, "UDP port of the beacons");

  /** Keys of a rate limit. */
  record LimitKeys(
      ConfigKey<Long> rate,
      ConfigKey<Integer> burst,
      ConfigKey<Integer> queue,
      ConfigKey<Boolean> dropsOldest) {
    private static LimitKeys of(ConfigKeys section, String meaning) {
      return new LimitKeys(
          section.key(
              "rate",
              "packets a second, as 200000 or 200k",
              0L,
              "no limit",
              "most " + meaning,
              BridgeKeys::rate),
          section.integer(
              "burst", RateLimit.BURST, 1, 100_000, "packets that may leave at once after a pause"),
          section.integer("queue", RateLimit.QUEUE, 0, 1_000_000, "packets that may wait"),
          section.choice(
              "policy",
              RateLimit.POLICIES.getFirst(),
              RateLimit.POLICIES,
              RateLimit.POLICIES.getFirst()::equals,
              "packet that a full queue drops: the oldest, or the newcomer (tail)"));
    }
  }

  static {
    TOP.needRestart(NAME, STATUS, CONTROL, CORE);
    FABRIC.needRestart(IS_VERBS, INTERFACE, NAMESPACE, DEVICE, ADDRESS, HOPS, TRAINS);
    UNICAST.needRestart(MAPPED, ADDRESSES, UNICAST_TOS, QUEUE_PAIRS, FIX_IMMEDIATE, PORTS);
    REDUNDANCY.needRestart(BRIDGE_ID, BEACON, KEY_FILE, BEACON_GROUP, PORT);
  }

  private BridgeKeys() {}

  private static String namespace(String text) {
    if (text.isEmpty() || text.contains("/") || text.startsWith(".")) {
      throw new IllegalArgumentException("no name of a file");
    }
    return text;
  }

  /** Parses the address of a host. */
  static Gid hostAddress(String text) {
    Gid address = Gid.of(AddressText.requireHost(text));
    if (MgidFormat.isMulticast(address)) {
      throw new IllegalArgumentException("multicast");
    }
    return address;
  }

  /** Parses the address of a group. */
  static Gid multicastAddress(String text) {
    Gid address = Gid.of(AddressText.require(text));
    if (!MgidFormat.isMulticast(address)) {
      throw new IllegalArgumentException("unicast");
    }
    return address;
  }

  private static LoopRules.Prefix prefix(String text) {
    if (text.indexOf('/') < 0) {
      throw new IllegalArgumentException("no length");
    }
    return LoopRules.Prefix.of(AddressPrefix.parse(text));
  }

  private static long rate(String text) {
    String digits = text.replaceFirst("[kM]$", "");
    long unit = text.endsWith("k") ? 1000 : text.endsWith("M") ? 1_000_000 : 1;
    return unit * ConfigKey.within(Long.parseLong(digits), 1, MOST_RATE / unit);
  }

  private static List<Integer> ports(String text) {
    return ConfigKey.elementsOf(text, BridgeKeys::portRange).stream()
        .flatMap(List::stream)
        .distinct()
        .toList();
  }

  private static List<Integer> portRange(String text) {
    int dash = text.indexOf('-');
    int first = Integer.parseInt(dash < 0 ? text : text.substring(0, dash));
    int last = dash < 0 ? first : Integer.parseInt(text.substring(dash + 1));
    ConfigKey.within(first, 1, last);
    ConfigKey.within(last, first, MOST_PORT);
    return IntStream.rangeClosed(first, last).boxed().toList();
  }

  private static int interval(String text) {
    if (!text.endsWith("ms")) {
      throw new IllegalArgumentException("no unit");
    }
    int value = Integer.parseInt(text.substring(0, text.length() - 2));
    return (int) ConfigKey.within(value, LEAST_INTERVAL_MS, MOST_INTERVAL_MS);
  }
}
