package io.heddle.addr;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Discovery of a host's planes. The key of an address comes from the first of these sources that
 * has one:
 *
 * <ol>
 *   <li>the route daemon: the BGP colour of the address's prefix, or the name that the daemon's
 *       configuration gives the plane;
 *   <li>the operator's {@link PlaneRules}; if there is any rule, addresses that match no rule
 *       aren't used;
 *   <li>the interface, if more than one interface has usable addresses and the addresses of each
 *       interface are in one subnet;
 *   <li>the subnet: the low 16 bits of the /64, or an IPv4 subnet's first address.
 * </ol>
 *
 * <p>Planes have IPv6 addresses. They have IPv4 addresses if the host has no IPv6 address in any
 * state, or if none passes the filter. Only rules can mix planes of both families.
 *
 * <p>Interfaces of containers and virtual machines carry no plane, unless a rule names them.
 *
 * <p>A plane has one address. Of several, an EUI-64 address is preferred, then the lowest.
 */
public final class PlaneDiscovery {
  private static final String DAEMON_REASON = "the route daemon's name for it";

  private PlaneDiscovery() {}

  /**
   * Result of a discovery.
   *
   * @param planes the planes, in {@link Plane#KEY_ORDER}
   * @param rejected addresses that no plane uses, in the snapshot's order
   * @param remarks sentences for the operator about the settings, such as a rule that matches no
   *     address
   */
  public record Result(List<Plane> planes, List<RejectedAddress> rejected, List<String> remarks) {
    public Result {
      planes = List.copyOf(planes);
      rejected = List.copyOf(rejected);
      remarks = List.copyOf(remarks);
    }
  }

  private record Candidate(
      AssignedAddress address, NetworkLink link, String key, String ownKey, String keyReason) {}

  /** Finds the planes among all addresses. */
  public static Result discover(HostAddresses host, PlaneRules rules) {
    return discover(host, rules, AddressFilter.NONE);
  }

  /** Finds the planes among the addresses that pass the filter. Other addresses count as absent. */
  public static Result discover(HostAddresses host, PlaneRules rules, AddressFilter filter) {
    return discover(host, rules, filter, Map.of());
  }

  /**
   * Finds the planes among the addresses that pass the filter.
   *
   * @param daemonKeys keys that the route daemon gives to planes ({@code colour:3}), by this host's
   *     addresses
   */
  public static Result discover(
      HostAddresses host,
      PlaneRules rules,
      AddressFilter filter,
      Map<InetAddress, String> daemonKeys) {
    List<Candidate> candidates = new ArrayList<>();
    List<RejectedAddress> rejected = new ArrayList<>();
    List<String> remarks = new ArrayList<>(filter.remarks());
    if (rules.isEmpty()) {
      findByInterfaceOrSubnet(host, filter, candidates, rejected);
    } else {
      findByRule(host, rules, filter, candidates, rejected, remarks);
    }
    candidates.replaceAll(candidate -> withDaemonKey(candidate, daemonKeys));
    Map<String, List<Candidate>> byKey = new TreeMap<>(Plane.KEY_ORDER);
    for (Candidate candidate : candidates) {
      byKey.computeIfAbsent(candidate.key(), key -> new ArrayList<>()).add(candidate);
    }
    List<Plane> planes = new ArrayList<>();
    byKey.forEach((key, group) -> planes.add(choose(group, rejected)));
    rejected.sort((left, right) -> AssignedAddress.byInterface(left.address(), right.address()));
    return new Result(planes, rejected, remarks);
  }

  private static Candidate withDaemonKey(Candidate candidate, Map<InetAddress, String> daemonKeys) {
    String key = daemonKeys.get(candidate.address().address());
    return key == null
        ? candidate
        : new Candidate(
            candidate.address(), candidate.link(), key, candidate.ownKey(), DAEMON_REASON);
  }

  private static void findByRule(
      HostAddresses host,
      PlaneRules rules,
      AddressFilter filter,
      List<Candidate> candidates,
      List<RejectedAddress> rejected,
      List<String> remarks) {
    List<AssignedAddress> addresses = new ArrayList<>(host.addresses());
    addresses.addAll(namedLoopbackAddresses(host, rules));
    Set<PlaneRules.Rule> fitting = Collections.newSetFromMap(new IdentityHashMap<>());
    for (AssignedAddress address : addresses) {
      NetworkLink link = host.linkOf(address);
      Optional<PlaneRules.Rule> rule = rules.ruleFor(address, link);
      Optional<String> unusable =
          reasonUnusableUnder(rule.orElse(null), host, address)
              .map(UnusableReason::reason)
              .or(() -> filter.reasonExcluded(address.address()));
      rule.ifPresent(fitting::add);
      if (unusable.isPresent()) {
        rejected.add(new RejectedAddress(address, link, unusable.get()));
      } else if (rule.isEmpty()) {
        rejected.add(
            new RejectedAddress(address, link, "HEDDLE_PLANES is set and doesn't name it"));
      } else {
        String reason = "HEDDLE_PLANES names " + rule.get().selector();
        String key = Plane.OPERATOR_PREFIX + rule.get().key();
        candidates.add(new Candidate(address, link, key, key, reason));
      }
    }
    for (PlaneRules.Rule rule : rules.rules()) {
      if (!fitting.contains(rule)) {
        remarks.add(
            "HEDDLE_PLANES: "
                + rule.selector()
                + "="
                + rule.key()
                + " matches no address of this host");
      }
    }
  }

  /*
   * Returns the reason why an address can't be used although a rule may match it. A rule for an
   * interface doesn't make loopback addresses usable, or IPv4 addresses on a host with IPv6; a rule
   * for the address does.
   */
  private static Optional<UnusableReason> reasonUnusableUnder(
      PlaneRules.@Nullable Rule rule, HostAddresses host, AssignedAddress address) {
    if (rule == null) {
      return host.reasonUnusable(address);
    }
    return rule.isInterface()
        ? host.reasonUnusableIfInterfaceNamed(address)
        : host.reasonUnusableIfNamed(address);
  }

  /*
   * Returns the loopback addresses that rules name and the kernel doesn't list: sockets may be
   * bound to all of 127.0.0.0/8, but the kernel lists only 127.0.0.1.
   */
  private static List<AssignedAddress> namedLoopbackAddresses(
      HostAddresses host, PlaneRules rules) {
    List<AssignedAddress> named = new ArrayList<>();
    for (NetworkLink link : host.links()) {
      for (PlaneRules.Rule rule : link.loopback() ? rules.rules() : List.<PlaneRules.Rule>of()) {
        InetAddress address = rule.prefix() == null ? null : rule.prefix().address();
        if (address instanceof Inet4Address
            && rule.isWholeAddress()
            && address.isLoopbackAddress()
            && host.addresses().stream().noneMatch(each -> each.address().equals(address))) {
          named.add(new AssignedAddress(link.index(), address, 8, Set.of(AddressFlag.PERMANENT)));
        }
      }
    }
    return named;
  }

  private static void findByInterfaceOrSubnet(
      HostAddresses host,
      AddressFilter filter,
      List<Candidate> candidates,
      List<RejectedAddress> rejected) {
    List<AssignedAddress> usable = new ArrayList<>();
    HostAddresses passing = host.filteredBy(filter);
    for (AssignedAddress address : host.addresses()) {
      Optional<String> unusable =
          passing
              .reasonUnusable(address)
              .map(UnusableReason::reason)
              .or(() -> filter.reasonExcluded(address.address()));
      if (unusable.isPresent()) {
        rejected.add(new RejectedAddress(address, host.linkOf(address), unusable.get()));
      } else {
        usable.add(address);
      }
    }
    boolean byInterface = interfacesArePlanes(usable);
    for (AssignedAddress address : usable) {
      NetworkLink link = host.linkOf(address);
      String key =
          byInterface
              ? Plane.INTERFACE_PREFIX + link.name()
              : Plane.SUBNET_PREFIX + address.subnetName();
      String reason =
          byInterface
              ? "one of several interfaces with one subnet each"
              : describeSubnetKey(address);
      candidates.add(new Candidate(address, link, key, key, reason));
    }
  }

  private static String describeSubnetKey(AssignedAddress address) {
    return address.address() instanceof Inet4Address
        ? "its subnet of " + address.prefixLength() + " bits"
        : "the low 16 bits of its /64";
  }

  private static boolean interfacesArePlanes(List<AssignedAddress> usable) {
    Map<Integer, AssignedAddress> firstOf = new TreeMap<>();
    for (AssignedAddress address : usable) {
      AssignedAddress first = firstOf.putIfAbsent(address.interfaceIndex(), address);
      if (first != null && !first.isInSameSubnet(address)) {
        return false;
      }
    }
    return firstOf.size() > 1;
  }

  static int compareFitness(AssignedAddress left, AssignedAddress right) {
    int later = Boolean.compare(!left.isEui64(), !right.isEui64());
    return later != 0 ? later : AddressText.ORDER.compare(left.address(), right.address());
  }

  /*
   * Chooses a plane's address among the candidates with its key. The candidates are in the
   * snapshot's order: by interface, then address.
   */
  private static Plane choose(List<Candidate> group, List<RejectedAddress> rejected) {
    Candidate chosen =
        group.stream()
            .min((left, right) -> compareFitness(left.address(), right.address()))
            .orElseThrow();
    String reason = chosen.keyReason();
    if (group.size() > 1) {
      boolean othersAreEui64 = group.stream().filter(each -> each.address().isEui64()).count() > 1;
      reason +=
          chosen.address().isEui64() && !othersAreEui64
              ? "; of " + group.size() + " addresses the one with EUI-64 form"
              : "; of " + group.size() + " addresses the lowest";
    }
    for (Candidate other : group) {
      if (other != chosen) {
        String why =
            "plane " + chosen.key() + " already has " + AddressText.of(chosen.address().address());
        rejected.add(new RejectedAddress(other.address(), other.link(), why));
      }
    }
    return new Plane(chosen.key(), chosen.ownKey(), chosen.address(), chosen.link(), reason);
  }
}
