package io.heddle.gateway.config;

import io.heddle.bgp.flowspec.rule.ComponentTypes;
import io.heddle.bgp.flowspec.session.RuleGrace;
import io.heddle.bgp.flowspec.steering.IndirectionEncoding;
import io.heddle.daemon.ConfigKey;
import io.heddle.daemon.ConfigText;
import io.heddle.telemetry.tls.TlsFiles;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Parser of the parts of a configuration that concern controllers and telemetry. */
final class ControllerParser {
  private final ConfigText.Section top;

  ControllerParser(ConfigText.Section top) {
    this.top = top;
  }

  /* Returns the settings of BGP. Without controllers, BGP doesn't run and needs no settings. */
  ControllerRules rules(List<ConfigText.Section> sections) {
    int routerId = top.get(GatewayKeys.ROUTER_ID);
    long as = top.get(GatewayKeys.AS);
    if (!sections.isEmpty() && (routerId == 0 || as == 0)) {
      throw sections
          .getFirst()
          .fail("a controller needs router-id and as of this gateway, above all sections");
    }
    ComponentTypes types = new ComponentTypes(top.get(GatewayKeys.QUEUE_PAIR_COMPONENT));
    long graceNs = TimeUnit.SECONDS.toNanos(top.get(GatewayKeys.RULES_GRACE_S));
    return new ControllerRules(
        routerId,
        as,
        top.get(GatewayKeys.BGP_PORT),
        graceNs < 0 ? RuleGrace.DEFAULT : new RuleGrace(graceNs, graceNs),
        TimeUnit.SECONDS.toNanos(top.get(GatewayKeys.RULES_MAX_AGE_S)),
        types,
        new IndirectionEncoding(0, top.get(GatewayKeys.LIST_ID_TYPE)),
        sections.stream()
            .map(each ->
                new ControllerPeer(
                    GatewayKeys.PEER.options(each, as, routerId, types).build(),
                    each.require(GatewayKeys.DESTINATIONS),
                    each.get(GatewayKeys.MOST_RULES)))
            .toList());
  }

  /** Returns the settings of telemetry; null if no telemetry is served. */
  @Nullable TelemetryConfig telemetry() {
    InetAddress address = top.get(GatewayKeys.TELEMETRY);
    if (address == null) {
      return null;
    }
    return new TelemetryConfig(
        address,
        top.get(GatewayKeys.TELEMETRY_PORT),
        new TlsFiles(
            file(GatewayKeys.TELEMETRY_CERTIFICATE),
            file(GatewayKeys.TELEMETRY_KEY),
            file(GatewayKeys.TELEMETRY_AUTHORITIES)));
  }

  private Path file(ConfigKey<String> key) {
    String name = top.get(key);
    if (name.isEmpty()) {
      throw top.refuse(
          GatewayKeys.TELEMETRY, "needs " + key.name() + " = FILE, in PEM; docs/dci.md makes one");
    }
    return Path.of(name);
  }
}
