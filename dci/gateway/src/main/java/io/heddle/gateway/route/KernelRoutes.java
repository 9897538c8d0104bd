package io.heddle.gateway.route;

import io.heddle.addr.AddressText;
import io.heddle.addr.RtnetlinkRequests;
import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * Routes and policy-routing rules of a gateway in the calling thread's network namespace. Their
 * protocol number marks them as the gateway's. They persist when the process ends.
 */
public final class KernelRoutes {
  private static final int ESRCH = 3;

  private KernelRoutes() {}

  /**
   * Result of installing routes.
   *
   * @param taken routes as installed: with full encapsulation if the kernel doesn't support reduced
   *     encapsulation
   * @param refused reason for each refused route, as a sentence
   */
  public record Outcome(List<KernelRoute> taken, Map<KernelRoute, String> refused) {}

  /**
   * Installs these routes and rules, and removes all others that have our protocol number. A
   * changed route is replaced in one step. Stale routes are removed last, so that no packet lacks a
   * route. The kernel may refuse a route whose neighbour's network doesn't exist yet.
   *
   * @throws HeddleException if the kernel refuses a rule; the message names the rule
   */
  public static Outcome apply(Collection<KernelRoute> routes, Collection<MarkRule> rules) {
    try (RtnetlinkRequests netlink = RtnetlinkRequests.open()) {
      List<KernelRoute> taken = new ArrayList<>();
      Map<KernelRoute, String> refused = new LinkedHashMap<>();
      Set<RouteMessages.Place> wanted = new HashSet<>();
      for (KernelRoute route : routes) {
        wanted.add(RouteMessages.place(route));
        KernelRoute sent = route;
        int result = send(netlink, sent);
        if (result == -Errno.EINVAL
            && route.next() instanceof KernelRoute.ToSegments to
            && to.path().reduced()) {
          sent = withFullEncapsulation(route, to);
          result = send(netlink, sent);
        }
        if (result < 0) {
          refused.put(route, refusal(text(sent), result));
        } else {
          taken.add(sent);
        }
      }
      Set<MarkRule> present = listOwn(netlink, RouteMessages.RTM_GETRULE, RouteMessages::ownRule);
      for (MarkRule rule : rules) {
        if (!present.contains(rule)) {
          require(
              "the rule for mark 0x" + Integer.toHexString(rule.mark()),
              netlink.execute(
                  RouteMessages.RTM_NEWRULE,
                  RtnetlinkRequests.NLM_F_CREATE | RtnetlinkRequests.NLM_F_EXCL,
                  RouteMessages.rule(rule)));
        }
      }
      removeStale(netlink, wanted, new HashSet<>(rules));
      return new Outcome(taken, refused);
    }
  }

  /** Removes all routes and rules that have our protocol number. */
  public static void removeAll() {
    try (RtnetlinkRequests netlink = RtnetlinkRequests.open()) {
      removeStale(netlink, Set.of(), Set.of());
    }
  }

  private static KernelRoute withFullEncapsulation(KernelRoute route, KernelRoute.ToSegments to) {
    return new KernelRoute(
        route.table(),
        route.destination(),
        route.interfaceIndex(),
        new KernelRoute.ToSegments(to.path().withFullEncapsulation()));
  }

  private static int send(RtnetlinkRequests netlink, KernelRoute route) {
    return netlink.execute(
        RouteMessages.RTM_NEWROUTE,
        RtnetlinkRequests.NLM_F_CREATE | RtnetlinkRequests.NLM_F_REPLACE,
        RouteMessages.route(route));
  }

  private static String text(KernelRoute route) {
    return "the route to "
        + AddressText.of(route.destination().address())
        + "/"
        + route.destination().lengthBits()
        + " of table "
        + route.table()
        + (route.next() instanceof KernelRoute.ToSegments
            ? " by segments (the kernel needs CONFIG_IPV6_SEG6_LWTUNNEL)"
            : "");
  }

  private static void require(String what, int result) {
    if (result < 0) {
      throw new HeddleException(refusal(what, result));
    }
  }

  private static String refusal(String what, int result) {
    return "the kernel refused " + what + ": " + Errno.describe(-result);
  }

  private static <T> Set<T> listOwn(
      RtnetlinkRequests netlink, int type, Function<ByteBuffer, Optional<T>> reader) {
    Set<T> found = new HashSet<>();
    for (boolean ipv6 : new boolean[] {false, true}) {
      for (ByteBuffer each : netlink.list(type, RouteMessages.all(ipv6))) {
        reader.apply(each).ifPresent(found::add);
      }
    }
    return found;
  }

  private static void removeStale(
      RtnetlinkRequests netlink, Set<RouteMessages.Place> routes, Set<MarkRule> rules) {
    for (MarkRule rule : listOwn(netlink, RouteMessages.RTM_GETRULE, RouteMessages::ownRule)) {
      if (!rules.contains(rule)) {
        requireRemoved(
            "the removal of a rule",
            netlink.execute(RouteMessages.RTM_DELRULE, 0, RouteMessages.rule(rule)));
      }
    }
    for (RouteMessages.Place place :
        listOwn(netlink, RouteMessages.RTM_GETROUTE, RouteMessages::ownPlace)) {
      if (!routes.contains(place)) {
        requireRemoved(
            "the removal of a route",
            netlink.execute(RouteMessages.RTM_DELROUTE, 0, RouteMessages.removal(place)));
      }
    }
  }

  /*
   * Throws if a removal failed. A route that is already gone is no failure: it may have disappeared
   * with its interface.
   */
  private static void requireRemoved(String what, int result) {
    if (result != -ESRCH && result != -Errno.ENOENT) {
      require(what, result);
    }
  }
}
