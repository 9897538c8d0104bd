package io.heddle.gateway;

import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.PolicyConfig;
import io.heddle.gateway.probe.Probes;
import io.heddle.platform.Log;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Selection of the lists to probe. */
final class ListProbes {
  private ListProbes() {}

  /** Starts the configured probes and reflector; returns null if there are none. */
  static @Nullable Probes start(GatewayConfig config, Log log) {
    List<Probes.Target> targets = new ArrayList<>();
    InetAddress source = config.probes().source();
    for (PolicyConfig policy : config.policies()) {
      InetAddress reflector = policy.probe();
      if (source != null && reflector != null) {
        policy
            .lists()
            .forEach(list ->
                targets.add(
                    new Probes.Target(
                        list.id(), source, reflector, config.settings().mark(list.id()))));
      }
    }
    return targets.isEmpty() && config.probes().reflect() == null
        ? null
        : Probes.start(targets, config.probes().reflect(), config.probes().intervalNs(), log);
  }
}
