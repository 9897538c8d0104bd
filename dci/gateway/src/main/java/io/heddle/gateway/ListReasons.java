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
 * Check of the lists for reasons why they are dead. It also keeps the kernel's routes of the lists
 * installed. Used by one thread at a time.
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
   * Returns the reason for each dead list, by id. Installs the kernel's routes again if an
   * interface came up or went down, or if the kernel refused some routes.
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
   * Returns the lists whose last probes were lost, with the reason. If that is so for all lists of
   * a policy, the reflector may be at fault, so none of them counts as dead.
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
