package io.heddle.gateway;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.rule.FlowRule;
import io.heddle.bgp.flowspec.session.RuleAnnouncer;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.bgp.flowspec.steering.SteeringAttributes;
import io.heddle.bgp.flowspec.wire.FlowspecCodec;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.session.BgpSpeaker;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.session.PeerSession;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.GatewayConfigs;
import io.heddle.gateway.dataplane.DataPlane;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.Requirements;
import java.net.Inet6Address;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.Callable;

/** Host with a LAN and two links into a WAN without hosts. */
final class LoneHost implements AutoCloseable {
  static final String SOURCE = "fc00:1::1";
  static final String DESTINATION = "fc00:2::2";

  private static final int CONTROLLER_PORT = 10_179;
  private static final int GATEWAY_ID = 0x0a000001;

  private final NetworkNamespaces net;
  private final NetworkNamespace host;
  private final Deque<AutoCloseable> open = new ArrayDeque<>();

  LoneHost() throws Exception {
    Requirements.namespaces();
    Requirements.skipWhere(DataPlane.refusal().orElse(""));
    NetworkTopology topology = new NetworkTopology().node("lone", "net.ipv6.conf.all.forwarding=1");
    for (String name : List.of("lan", "w1", "w2")) {
      topology.link("lone " + name, "lone far" + name);
    }
    net = topology.create();
    host = net.node("lone");
  }

  void link(String name) {
    ip(
        "link add " + name + " type veth peer name far" + name,
        "link set " + name + " up",
        "link set far" + name + " up");
  }

  void ip(String... lines) {
    host.ip(lines);
  }

  <T> T call(Callable<T> task) {
    return host.call(task);
  }

  String exec(String... command) {
    return host.run(command);
  }

  /**
   * Returns a configuration.
   *
   * @param more additional lines above the sections
   * @param sections additional sections
   */
  static GatewayConfig config(String more, String sections) {
    return config("fc00:2::/64", more, sections);
  }

  private static GatewayConfig config(String destination, String more, String sections) {
    String text =
        """
        lan = lan
        %s
        [policy dc2]
        destination = %s
        [list sl1]
        policy = dc2
        id = 1
        segments = 5f00:0:1::1, 5f00:0:99::d6
        device = w1
        [list sl2]
        policy = dc2
        id = 2
        segments = 5f00:0:2::1, 5f00:0:99::d6
        device = w2
        %s
        """
            .formatted(more, destination, sections);
    return GatewayConfigs.parse(text.lines().toList());
  }

  /** Returns a configuration whose only controller is {@link #controller}. */
  static GatewayConfig steered() {
    return steered("fc00:2::/64");
  }

  /**
   * Returns a configuration with IPv4 destinations, whose only controller is {@link #controller}.
   */
  static GatewayConfig steeredIpv4() {
    return steered("10.2.0.0/16");
  }

  private static GatewayConfig steered(String destination) {
    return config(
        destination,
        "router-id = 10.0.0.1\nas = 65000\nbgp-port = 0",
        "[controller main]\naddress = ::1\nport = %s\ndestinations = %s"
            .formatted(CONTROLLER_PORT, destination));
  }

  /** Starts a gateway that is closed with the host. */
  Gateway start(GatewayConfig config) {
    Gateway gateway = host.call(() -> Gateway.start(config, (level, sentence) -> {}));
    open.push(gateway);
    return gateway;
  }

  void poll(Gateway gateway) {
    host.call(() -> {
      gateway.poll();
      return null;
    });
  }

  /**
   * Starts a controller that announces rules for queue pairs to a gateway with the configuration
   * {@link #steered}, without graceful restart.
   */
  void controller(int list, int... queuePairs) {
    controller(SOURCE, DESTINATION, list, queuePairs);
  }

  /**
   * Starts a controller, as {@link #controller(int, int...)} does, with rules for other addresses,
   * IPv4 or IPv6.
   */
  void controller(String source, String destination, int list, int... queuePairs) {
    host.call(() -> {
      BgpSpeaker speaker = new BgpSpeaker((level, sentence) -> {});
      open.push(speaker);
      List<FlowspecCodec> codecs = FlowspecCodec.both(ComponentTypes.DEFAULT);
      RuleAnnouncer announcer =
          new RuleAnnouncer(codecs, new SteeringAttributes(IndirectionEncoding.DEFAULT));
      speaker.listen(Endpoint.anyAddress(CONTROLLER_PORT));
      PeerSession session =
          speaker.add(
              PeerOptions.builder("gateway")
                  .remote((Inet6Address) Prefix.of("::1").address())
                  .localAs(65_000)
                  .remoteAs(65_000)
                  .routerId(0x0a000009)
                  .families(Families.of(codecs))
                  .passive(true)
                  .build(),
              announcer);
      speaker.execute(() -> {
        for (int queuePair : queuePairs) {
          announcer.announce(
              FlowRule.queuePair(
                  ComponentTypes.DEFAULT, Prefix.of(source), Prefix.of(destination), queuePair),
              new RuleAnnouncer.Target(list, GATEWAY_ID));
        }
        session.start();
      });
      return null;
    });
  }

  @Override
  public void close() throws Exception {
    try (net) {
      while (!open.isEmpty()) {
        open.pop().close();
      }
    }
  }
}
