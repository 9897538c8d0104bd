package io.heddle.controller.network;

import io.heddle.addr.AddressText;
import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.session.RulePeerKeys;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.controller.solver.SolverSettings;
import io.heddle.controller.solver.Strategy;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigKeys;
import io.heddle.telemetry.gnmi.GnmiMethods;
import io.heddle.telemetry.server.TelemetryServer;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;

/** Keys of the controller's configuration file. */
public final class ControllerKeys {
  /** Keys above all sections. */
  public static final ConfigKeys TOP = ConfigKeys.top();

  /** Section {@code [gateway NAME]}. */
  public static final ConfigKeys GATEWAY = ConfigKeys.section("gateway");

  /** Section {@code [router NAME]}. */
  public static final ConfigKeys ROUTER = ConfigKeys.section("router");

  /** Section {@code [peer NAME]}. */
  public static final ConfigKeys PEER = ConfigKeys.section("peer");

  /** Section {@code [link NAME]}. */
  public static final ConfigKeys LINK = ConfigKeys.section("link");

  /** Section {@code [path NAME]}. */
  public static final ConfigKeys PATH = ConfigKeys.section("path");

  private static final SolverSettings STANDARD = SolverSettings.DEFAULT;
  private static final int SECOND_NS = 1_000_000_000;
  private static final int MS_NS = 1_000_000;
  private static final int DAY_S = 86_400;
  private static final long MOST_AS = 0xffff_ffffL;
  private static final String ROUTER_ID_TEXT = "four numbers like 10.0.0.5";
  private static final String WITH_SECTIONS = ConfigKey.REQUIRED + " with sections";

  public static final ConfigKey<Strategy> STRATEGY =
      TOP.choice(
          "strategy",
          Strategy.MIN_MAX.text(),
          Strategy.names(),
          Strategy::of,
          "min-max leaves the lowest maximum, largest-first tries the largest flow first,"
              + " smallest-move the smallest");
  public static final ConfigKey<Double> HIGH =
      share("high", STANDARD.high(), "share of a link from which its list is relieved");
  public static final ConfigKey<Double> GAP =
      share("gap", STANDARD.gap(), "so much less the idlest list must carry");
  public static final ConfigKey<Double> LOW =
      share("low", STANDARD.low(), "share up to which rules are withdrawn");
  public static final ConfigKey<Double> LEAST_GAIN =
      share("least-gain", STANDARD.leastGain(), "share by which a move lowers the maximum");
  public static final ConfigKey<Double> SLACK =
      share("slack", STANDARD.slack(), "share by which the maximum may grow without a rule");
  public static final ConfigKey<Integer> SAMPLES =
      TOP.integer(
          "samples", STANDARD.samples(), 1, 1_000, "samples in a row before a policy is relieved");
  public static final ConfigKey<Integer> SETTLE_SAMPLES =
      TOP.integer(
          "settle-samples",
          STANDARD.settleSamples(),
          0,
          1_000,
          "samples for which a policy rests after a move");
  public static final ConfigKey<Integer> MOST_MOVES =
      TOP.integer(
          "most-moves", STANDARD.mostMoves(), 1, 1_000, "most moves of a policy in a round");
  public static final ConfigKey<Integer> HOLD_DOWN_S =
      TOP.integer(
          "hold-down-s",
          (int) (STANDARD.holdDownNs() / SECOND_NS),
          0,
          DAY_S,
          "time for which a moved flow stays");
  public static final ConfigKey<Integer> RELEASE_S =
      TOP.integer(
          "release-s",
          (int) (STANDARD.releaseNs() / SECOND_NS),
          0,
          DAY_S,
          "time after which an unnecessary rule is withdrawn");
  public static final ConfigKey<Integer> INTERVAL_MS =
      TOP.integer(
          "interval-ms",
          (int) (STANDARD.intervalNs() / MS_NS),
          (int) (GnmiMethods.LEAST_INTERVAL_NS / MS_NS),
          3_600_000,
          "interval of samples");
  public static final ConfigKey<Integer> STALE_INTERVALS =
      TOP.integer(
          "stale-intervals",
          STANDARD.staleIntervals(),
          1,
          1_000,
          "intervals after which a sample counts for nothing");
  public static final ConfigKey<Double> LATENCY_LIMIT_MS =
      TOP.key(
          "latency-limit-ms",
          "a number of milliseconds above 0",
          STANDARD.latencyLimitMs(),
          ConfigKey.NONE,
          "latency above which a list gets no flow",
          between(0, Double.MAX_VALUE));
  public static final ConfigKey<Double> LOSS_LIMIT =
      share("loss-limit", STANDARD.lossLimit(), "loss above which a list gets no flow");

  static final ConfigKey<Integer> ROUTER_ID =
      TOP.key(
          "router-id",
          ROUTER_ID_TEXT,
          0,
          WITH_SECTIONS,
          "router id of the controller",
          AddressText::requireRouterId);
  static final ConfigKey<Long> AS =
      TOP.number("as", 0, WITH_SECTIONS, 1, MOST_AS, "AS of the controller");
  static final ConfigKey<Integer> BGP_PORT =
      TOP.integer("bgp-port", 0, 0, 65_535, "port on which peers may connect; 0 for none");
  static final ConfigKey<Integer> RESTART_S =
      TOP.integer("restart-s", 120, 0, 4_095, "time for which gateways are asked to keep rules");
  static final ConfigKey<Integer> REFRESH_S =
      TOP.integer("refresh-s", 1_200, 1, DAY_S, "interval of announcing all rules again");
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
  static final ConfigKey<Path> CONTROL =
      TOP.socket("control", NetworkParser.DEFAULT_CONTROL, "socket for queries");
  static final ConfigKey<String> AUDIT =
      TOP.text("audit", "a file", ConfigKey.NONE, "file for the reasons of each decision");
  static final ConfigKey<String> CERTIFICATE =
      TOP.text("certificate", "a file", WITH_SECTIONS, "the controller's certificate, PEM");
  static final ConfigKey<String> KEY =
      TOP.text("key", "a file", WITH_SECTIONS, "its key, PEM in PKCS #8");
  static final ConfigKey<String> AUTHORITIES =
      TOP.text("authorities", "a file", WITH_SECTIONS, "authorities of the gateways, PEM");

  static final TargetKeys OF_GATEWAY = TargetKeys.of(GATEWAY);
  static final ConfigKey<Integer> GATEWAY_ROUTER_ID =
      GATEWAY.key(
          "router-id",
          ROUTER_ID_TEXT,
          0,
          ConfigKey.REQUIRED,
          "router id that the gateway's rules name",
          AddressText::requireRouterId);
  static final TargetKeys OF_ROUTER = TargetKeys.of(ROUTER);

  static final RulePeerKeys OF_PEER = RulePeerKeys.of(PEER, "a gateway", "the controller");

  static final ConfigKey<String> TARGET =
      LINK.text(
          "target",
          "the name of a [gateway] or [router]",
          ConfigKey.REQUIRED,
          "gateway or router that counts the link, in one direction");
  static final ConfigKey<String> INTERFACE =
      LINK.text("interface", "an interface", ConfigKey.REQUIRED, "its interface into the link");
  static final ConfigKey<Long> CAPACITY_MBPS =
      LINK.number("capacity-mbps", 0, ConfigKey.REQUIRED, 1, 100_000_000, "capacity of the link");

  static final ConfigKey<String> PATH_GATEWAY =
      PATH.text(
          "gateway", "the name of a [gateway]", ConfigKey.REQUIRED, "gateway that has the list");
  static final ConfigKey<Integer> PATH_LIST =
      PATH.integer("list", 0, ConfigKey.REQUIRED, 1, 64, "id of the list there");
  static final ConfigKey<List<String>> LINKS =
      PATH.list(
          "links",
          "names of [link] sections",
          ConfigKey.REQUIRED,
          Function.identity(),
          "links over which the list leads");

  /** Keys of a section whose target reports telemetry. */
  record TargetKeys(
      ConfigKey<String> address, ConfigKey<Integer> port, ConfigKey<String> serverName) {
    private static TargetKeys of(ConfigKeys section) {
      return new TargetKeys(
          section.text(
              "address", "an address or a name", ConfigKey.REQUIRED, "where it serves telemetry"),
          section.integer("port", TelemetryServer.PORT, 1, 65_535, "its port"),
          section.text(
              "server-name", "a name", "the address", "name that its certificate must have"));
    }
  }

  private ControllerKeys() {}

  private static ConfigKey<Double> share(String name, double standard, String meaning) {
    String shown = standard == 1 ? "1" : Double.toString(standard);
    return TOP.key(name, "a share from 0 to 1", standard, shown, meaning, between(0, 1));
  }

  private static Function<String, Double> between(double least, double most) {
    return text -> {
      double value = Double.parseDouble(text);
      if (!(value >= least && value <= most)) {
        throw new IllegalArgumentException("out of range");
      }
      return value;
    };
  }
}
