package io.heddle.gateway;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.HostAddresses;
import io.heddle.addr.NetworkLink;
import io.heddle.gateway.config.GatewayConfig;
import io.heddle.gateway.config.ListConfig;
import io.heddle.gateway.config.PolicyConfig;
import io.heddle.gateway.route.KernelRoute;
import io.heddle.gateway.route.KernelRoutes;
import io.heddle.gateway.route.MarkRule;
import io.heddle.gateway.route.SegmentPath;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Installer of the kernel's part of the segment lists: tables, rules and encapsulation. The kernel
 * drops the routes of an interface that goes down, so they are installed again when it comes back.
 */
final class Headend {
  private final GatewayConfig config;
  private final Set<Integer> fullEncapsulation = new TreeSet<>();

  Headend(GatewayConfig config) {
    this.config = config;
  }

  /**
   * Installs the routes of all lists whose interface is up, and removes old routes.
   *
   * @return reasons why the kernel refused a list's routes, by the list's id
   */
  Map<Integer, String> install(HostAddresses host) {
    /* Lists of several policies may share the route to their first segment. */
    Map<KernelRoute, Set<Integer>> routes = new LinkedHashMap<>();
    List<MarkRule> rules = new ArrayList<>();
    for (PolicyConfig policy : config.policies()) {
      for (ListConfig list : policy.lists()) {
        rules.add(rule(list, true));
        rules.add(rule(list, false));
        HostFindings.link(host, list.device())
            .filter(NetworkLink::isUp)
            .ifPresent(link ->
                routes(policy, list, link)
                    .forEach(each ->
                        routes.computeIfAbsent(each, route -> new TreeSet<>()).add(list.id())));
      }
    }
    KernelRoutes.Outcome outcome = KernelRoutes.apply(routes.keySet(), rules);
    for (KernelRoute taken : outcome.taken()) {
      if (taken.next() instanceof KernelRoute.ToSegments to && !to.path().reduced()) {
        fullEncapsulation.add(taken.table() - config.table());
      }
    }
    Map<Integer, String> refused = new TreeMap<>();
    outcome
        .refused()
        .forEach((route, reason) ->
            routes.getOrDefault(route, Set.of()).forEach(id -> refused.put(id, reason)));
    return refused;
  }

  private MarkRule rule(ListConfig list, boolean ipv6) {
    return new MarkRule(
        ipv6,
        config.settings().mark(list.id()),
        config.settings().markMask(),
        config.table() + list.id(),
        config.preference() + list.id());
  }

  private List<KernelRoute> routes(PolicyConfig policy, ListConfig list, NetworkLink link) {
    List<KernelRoute> routes = new ArrayList<>();
    InetAddress via = list.via();
    if (via != null) {
      routes.add(
          new KernelRoute(
              KernelRoute.MAIN_TABLE,
              new AddressPrefix(list.segments().getFirst(), 128),
              link.index(),
              new KernelRoute.ToNeighbour(via)));
    }
    KernelRoute.NextStep next =
        new KernelRoute.ToSegments(new SegmentPath(list.segments(), config.reduced()));
    for (AddressPrefix destination : policy.destinations()) {
      routes.add(new KernelRoute(config.table() + list.id(), destination, link.index(), next));
    }
    return routes;
  }

  /**
   * Returns the largest packet from the LAN that fits into the encapsulation; 0 if the interface is
   * missing.
   */
  int mtuBytes(ListConfig list, HostAddresses host) {
    boolean reduced = config.reduced() && !fullEncapsulation.contains(list.id());
    int overhead = new SegmentPath(list.segments(), reduced).overheadBytes();
    return HostFindings.link(host, list.device()).map(link -> link.mtuBytes() - overhead).orElse(0);
  }
}
