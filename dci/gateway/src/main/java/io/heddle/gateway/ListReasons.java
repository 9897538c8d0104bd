package io.heddle.gateway;

import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import io.heddle.gateway.config.PolicyConfig;
import io.heddle.gateway.probe.ProbeResult;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reasons why lists are dead, and the kernel's routes of the others. Used by one thread at a time.
 */
final class ListReasons {
  private final GatewayConfig config;
  private final Headend headend;
  private Map<Integer, String> refused = Map.of();
  private Set<Integer> downLinks = Set.of();

  ListReasons(GatewayConfig config, Headend headend) {
    this.config = config;
    this.headend = headend;
  }

  /**
   * Returns the reason for each dead list, by id. Installs routes again if an interface came or
   * went, or if some were refused.
   *
   * @param reinstall whether to install the routes in any case
   */
  Map<Integer, String> update(
      HostAddresses host, Map<Integer, ProbeResult> probes, boolean reinstall) {
    Map<Integer, String> links = new TreeMap<>();
    config
        .lists()
        .forEach(list -> {
          if (HostFindings.link(host, list.device()).filter(NetworkLink::isUp).isEmpty()) {
            links.put(
                list.id(),
                HostFindings.link(host, list.device()).isEmpty()
                    ? "there is no interface " + list.device()
                    : "the interface " + list.device() + " is down or has no carrier");
          }
        });
    if (reinstall || !links.keySet().equals(downLinks) || !refused.isEmpty()) {
      refused = headend.install(host);
      downLinks = Set.copyOf(links.keySet());
    }
    Map<Integer, String> all = silent(probes);
    all.putAll(refused);
    all.putAll(links);
    return all;
  }

  /*
   * Returns the lists whose probes are lost. If no list of a policy is answered, the fault may be
   * the reflector's, so none of them counts as dead.
   */
  private Map<Integer, String> silent(Map<Integer, ProbeResult> results) {
    Map<Integer, String> silent = new TreeMap<>();
    int most = config.probes().misses();
    for (PolicyConfig policy : config.policies()) {
      List<Integer> ids =
          policy.lists().stream()
              .map(ListConfig::id)
              .filter(id -> isSilent(results.get(id), most))
              .toList();
      if (ids.size() < policy.lists().size()) {
        ids.forEach(id ->
            silent.put(
                id,
                "the last "
                    + Objects.requireNonNull(results.get(id)).misses()
                    + " probes were lost"));
      }
    }
    return silent;
  }

  private static boolean isSilent(@Nullable ProbeResult result, int most) {
    return result != null && most > 0 && result.misses() >= most;
  }
}
