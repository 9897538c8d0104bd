package io.heddle.gateway.config;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.session.RulePeerKeys;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.flowspec.table.RuleLimits;
import io.heddle.bgp.wire.Prefix;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigKeys;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.gateway.route.SegmentPath;
import io.heddle.telemetry.server.TelemetryServer;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Keys of the gateway's configuration file. */
public final class GatewayKeys {
  /** Keys above all sections. */
  public static final ConfigKeys TOP =
      ConfigKeys.top()
          .removed(
              "data-plane",
              "since the BPF program is the only data plane; delete the line. Rules of nftables are"
                  + " removed by: nft delete table inet heddle-gateway");

  /** Section {@code [policy NAME]}. */
  public static final ConfigKeys POLICY = ConfigKeys.section("policy");

  /** Section {@code [list NAME]}. */
  public static final ConfigKeys LIST = ConfigKeys.section("list");

  /** Section {@code [controller NAME]}. */
  public static final ConfigKeys CONTROLLER = ConfigKeys.section("controller");

  private static final long MOST_AS = 0xffff_ffffL;
  private static final int MOST_SECONDS = 7 * 86_400;
  private static final String IPV6 = "an IPv6 address of a host";
  private static final String PREFIXES = "prefixes such as fc00:2::/64, 10.2.0.0/16";
  private static final String PEM = "a file";

  static final ConfigKey<List<String>> LAN =
      TOP.list(
          "lan",
          "names of interfaces",
          ConfigKey.REQUIRED,
          Function.identity(),
          "interfaces on the data centre's side");
  static final ConfigKey<Long> SEED =
      TOP.number(
          "seed", 0, 0, 0xffff_ffffL, "seed of the hash; gateways in a row need different ones");
  static final ConfigKey<Path> CONTROL =
      TOP.socket(
          "control",
          GatewayConfigParser.DEFAULT_CONTROL,
          "socket for queries and orders; only root may use it");
  static final ConfigKey<Boolean> REDUCED =
      TOP.choice(
          "encapsulation",
          "whole",
          List.of("whole", "reduced"),
          "reduced"::equals,
          "reduced: without the first segment in the SRH (RFC 8986, 5.2)");
  static final ConfigKey<Integer> MARK_SHIFT =
      TOP.integer("mark-shift", 16, 0, 24, "position of the list's eight bits in a packet's mark");
  static final ConfigKey<Integer> TABLE =
      TOP.integer("table", 8400, 256, 0x7fff_0000, "a list's routing table is this and its id");
  static final ConfigKey<Integer> PREFERENCE =
      TOP.integer(
          "preference",
          8400,
          1,
          32_000,
          "the preference of a list's routing rule is this and its id");
  static final ConfigKey<Integer> PRIORITY =
      TOP.integer("priority", 18_500, 1, 0xffff, "priority of the filter on the LAN's ingress");
  static final ConfigKey<Integer> GAP_US =
      TOP.integer(
          "gap-us",
          0,
          0,
          10_000_000,
          "pause after which a moved queue pair changes its list; 0: at once");
  static final ConfigKey<Integer> MOVE_DEADLINE_MS =
      TOP.integer("move-deadline-ms", 1_000, 1, 600_000, "time after which it moves in any case");
  static final ConfigKey<Integer> ELEPHANT_MBPS =
      TOP.integer(
          "elephant-mbps",
          100,
          1,
          1_000_000,
          "rate from which a flow is an elephant; below half of it, it no longer is");
  static final ConfigKey<Integer> ELEPHANT_PERIOD_MS =
      TOP.integer("elephant-period-ms", 1_000, 200, 10_000, "period of that measurement");
  static final ConfigKey<Integer> ELEPHANT_SILENCE_MS =
      TOP.integer(
          "elephant-silence-ms", 5_000, 200, 600_000, "idle time after which an elephant ends");
  static final ConfigKey<@Nullable InetAddress> PROBE_SOURCE =
      address(
          TOP,
          "probe-source",
          "none: nothing is probed",
          "this gateway's address that receives answers to its probes");
  static final ConfigKey<Integer> PROBE_INTERVAL_MS =
      TOP.integer("probe-interval-ms", 100, 10, 60_000, "time between two probes of a list");
  static final ConfigKey<Integer> PROBE_MISSES =
      TOP.integer(
          "probe-misses", 10, 0, 1_000, "lost probes in a row that make a list dead; 0: never");
  static final ConfigKey<@Nullable InetAddress> REFLECT =
      address(
          TOP,
          "reflect",
          ConfigKey.NONE,
          "this gateway's address at which it answers others' probes, on UDP port 862");
  static final ConfigKey<Integer> ROUTER_ID =
      TOP.key(
          "router-id",
          "four numbers like 10.0.0.5, not 0.0.0.0",
          0,
          "must be set with a `[controller]`",
          "router id of this gateway, which rules name",
          AddressText::requireRouterId);
  static final ConfigKey<Long> AS =
      TOP.number("as", 0, "must be set with a `[controller]`", 1, MOST_AS, "AS of this gateway");
  static final ConfigKey<Integer> BGP_PORT =
      TOP.integer(
          "bgp-port",
          179,
          0,
          65_535,
          "port on which peers may connect; 0 if another daemon has it");
  static final ConfigKey<Integer> RULES_GRACE_S =
      TOP.integer(
          "rules-grace-s",
          -1,
          "60 with graceful restart, else 0",
          0,
          MOST_SECONDS,
          "time for which rules stay when their session is lost; once set, also of peers without"
              + " graceful restart");
  static final ConfigKey<Integer> RULES_MAX_AGE_S =
      TOP.integer(
          "rules-max-age-s",
          3_600,
          3,
          MOST_SECONDS,
          "age at which a rule ends unless it is announced again");
  static final ConfigKey<Integer> QUEUE_PAIR_COMPONENT =
      TOP.integer(
          "queue-pair-component",
          ComponentTypes.DEFAULT.queuePair(),
          14,
          254,
          "[a number that a draft leaves open](#numbers-that-are-guesses)");
  static final ConfigKey<Integer> LIST_ID_TYPE =
      TOP.integer(
          "list-id-type", IndirectionEncoding.DEFAULT_ID_TYPE, 0, 255, "another such number");
  static final ConfigKey<@Nullable InetAddress> TELEMETRY =
      TOP.key(
          "telemetry",
          "an address of this host, or :: for all",
          null,
          "not served",
          "address at which gNMI is served",
          AddressText::require);
  static final ConfigKey<Integer> TELEMETRY_PORT =
      TOP.integer("telemetry-port", TelemetryServer.PORT, 1, 65_535, "its port");
  static final ConfigKey<String> TELEMETRY_CERTIFICATE =
      TOP.text(
          "telemetry-certificate",
          PEM,
          ConfigKey.REQUIRED + " with telemetry",
          "the gateway's certificate, PEM");
  static final ConfigKey<String> TELEMETRY_KEY =
      TOP.text(
          "telemetry-key", PEM, ConfigKey.REQUIRED + " with telemetry", "its key, PEM in PKCS #8");
  static final ConfigKey<String> TELEMETRY_AUTHORITIES =
      TOP.text(
          "telemetry-authorities",
          PEM,
          ConfigKey.REQUIRED + " with telemetry",
          "authorities of the clients, PEM");

  static final ConfigKey<List<AddressPrefix>> DESTINATION =
      POLICY.list(
          "destination",
          PREFIXES,
          ConfigKey.REQUIRED,
          AddressPrefix::parse,
          "destinations of the policy's packets");
  static final ConfigKey<Long> COLOUR =
      POLICY.number("colour", 0, 0, 0xffff_ffffL, "colour of the policy, shown only");
  static final ConfigKey<@Nullable String> ENDPOINT =
      POLICY.key(
          "endpoint",
          "an IPv6 address",
          null,
          ConfigKey.NONE,
          "endpoint of the policy, shown only",
          text -> AddressText.of(AddressText.requireIpv6(text)));
  static final ConfigKey<@Nullable InetAddress> PROBE =
      address(POLICY, "probe", ConfigKey.NONE, "the far gateway's address that answers probes");

  static final ConfigKey<String> LIST_POLICY =
      LIST.text("policy", "the name of a [policy]", ConfigKey.REQUIRED, "policy of the list");
  static final ConfigKey<Integer> ID =
      LIST.integer(
          "id",
          0,
          ConfigKey.REQUIRED,
          1,
          DataPlane.MOST_LISTS,
          "number of the list, once in the file. Keep it: rules that outlive the process name it");
  static final ConfigKey<List<Inet6Address>> SEGMENTS =
      LIST.key(
          "segments",
          "1 to " + SegmentPath.MOST_SEGMENTS + " IPv6 addresses, the first hop's first",
          List.of(),
          ConfigKey.REQUIRED,
          "the segment list",
          GatewayKeys::segments);
  static final ConfigKey<String> DEVICE =
      LIST.text("device", "an interface", ConfigKey.REQUIRED, "interface by which packets leave");
  static final ConfigKey<@Nullable InetAddress> VIA =
      address(
          LIST,
          "via",
          "a routing protocol's route",
          "the neighbour there; then the gateway makes a route to the first segment");
  static final ConfigKey<Integer> WEIGHT =
      LIST.integer("weight", 1, 1, 65_535, "its share of the buckets");

  static final RulePeerKeys PEER = RulePeerKeys.of(CONTROLLER, "a controller", "this gateway");
  static final ConfigKey<List<Prefix>> DESTINATIONS =
      CONTROLLER.list(
          "destinations",
          PREFIXES,
          ConfigKey.REQUIRED,
          Prefix::of,
          "prefixes that its rules may steer");
  static final ConfigKey<Integer> MOST_RULES =
      CONTROLLER.integer(
          "most-rules", RuleLimits.MOST_RULES, 1, 32_768, "most rules from it, of each family");

  private GatewayKeys() {}

  private static ConfigKey<@Nullable InetAddress> address(
      ConfigKeys section, String name, String defaultText, String meaning) {
    return section.key(name, IPV6, null, defaultText, meaning, AddressText::requireIpv6Host);
  }

  private static List<Inet6Address> segments(String text) {
    List<Inet6Address> found = ConfigKey.elementsOf(text, AddressText::requireIpv6Host);
    if (found.size() > SegmentPath.MOST_SEGMENTS) {
      throw new IllegalArgumentException("too many");
    }
    return found;
  }
}
