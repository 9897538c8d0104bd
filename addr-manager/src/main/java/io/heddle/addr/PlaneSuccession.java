package io.heddle.addr;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Search for the successor of a plane's address that was removed. The successor is on the same
 * interface, is of the same family, and belongs to no other plane. These rules apply in order:
 *
 * <ol>
 *   <li>The key: an address that gets the plane's key in a process that starts now.
 *   <li>The interface, if it carries no other plane and the operator has set no {@link PlaneRules}.
 *       The successor is its usable address or, if it has several in one subnet, the one that plane
 *       discovery prefers.
 * </ol>
 *
 * If neither rule finds a successor although the interface has usable addresses, the plane can't be
 * told apart from others. It then stays without an address.
 */
public final class PlaneSuccession {
  private final HostPlanes host;
  private final String device;
  private final Predicate<InetAddress> carries;

  /**
   * Plane as it was before its address was removed.
   *
   * @param key the plane's key at both ends
   * @param ownKey key that this host gives the plane without a route daemon
   * @param addresses the plane's addresses. If one was removed, it comes first
   */
  public record KnownPlane(
      String key, String ownKey, List<InetAddress> addresses, String interfaceName) {
    public KnownPlane {
      addresses = List.copyOf(addresses);
    }
  }

  /**
   * Result of the search.
   *
   * @param plane the plane with its old keys and its new address; null if there is no successor
   * @param why reason, as a clause, why no address was taken although the interface has usable
   *     addresses; empty otherwise
   */
  public record Answer(@Nullable Plane plane, String why) {
    private static final Answer NOTHING = new Answer(null, "");
  }

  /**
   * @param host present state of the host
   * @param device name of the device, for log lines
   * @param carries returns whether an address belongs to the device at present
   */
  public PlaneSuccession(HostPlanes host, String device, Predicate<InetAddress> carries) {
    this.host = host;
    this.device = device;
    this.carries = carries;
  }

  /**
   * Finds the successor of a plane's address.
   *
   * @param gone the plane whose address has gone
   * @param others the device's other planes
   */
  public Answer of(KnownPlane gone, List<KnownPlane> others) {
    List<AssignedAddress> left =
        usableOn(gone).stream()
            .filter(each ->
                others.stream().noneMatch(other -> other.addresses().contains(each.address())))
            .toList();
    if (left.isEmpty()) {
      return Answer.NOTHING;
    }
    Optional<Plane> withSameKey =
        host.of(device, carries).planes().stream()
            .filter(plane -> left.contains(plane.address()) && isSame(plane, gone))
            .findFirst();
    if (withSameKey.isPresent()) {
      return new Answer(
          successor(gone, withSameKey.get().address(), withSameKey.get().reason()), "");
    }
    return findOnInterface(gone, others, left);
  }

  private Answer findOnInterface(
      KnownPlane gone, List<KnownPlane> others, List<AssignedAddress> left) {
    String candidates =
        left.stream().map(AssignedAddress::toString).collect(Collectors.joining(", "));
    if (!host.rules().isEmpty()) {
      return new Answer(null, "HEDDLE_PLANES gives none of " + candidates + " this key");
    }
    List<String> otherKeys =
        others.stream()
            .filter(other -> other.interfaceName().equals(gone.interfaceName()))
            .map(KnownPlane::key)
            .toList();
    if (!otherKeys.isEmpty()) {
      return new Answer(
          null,
          "%s has planes %s as well, so any of them could have become %s"
              .formatted(gone.interfaceName(), String.join(", ", otherKeys), candidates));
    }
    List<AssignedAddress> own =
        left.stream().filter(each -> !hasOtherDaemonKey(each.address(), gone)).toList();
    if (own.isEmpty()) {
      return new Answer(null, "the route daemon gives " + candidates + " another key");
    }
    AssignedAddress fittest = own.stream().min(PlaneDiscovery::compareFitness).orElseThrow();
    if (!own.stream().allMatch(fittest::isInSameSubnet)) {
      return new Answer(
          null, gone.interfaceName() + " has addresses of several subnets: " + candidates);
    }
    return new Answer(successor(gone, fittest, "the one plane of its interface"), "");
  }

  private Plane successor(KnownPlane gone, AssignedAddress address, String reason) {
    return new Plane(gone.key(), gone.ownKey(), address, host.host().linkOf(address), reason);
  }

  /*
   * Returns whether the two are the same plane: whether their keys are equal or, unless a
   * route daemon has named both, their own keys.
   */
  private static boolean isSame(Plane plane, KnownPlane gone) {
    boolean daemonNamedBoth =
        !plane.key().equals(plane.ownKey()) && !gone.key().equals(gone.ownKey());
    return plane.key().equals(gone.key())
        || !daemonNamedBoth && plane.ownKey().equals(gone.ownKey());
  }

  private boolean hasOtherDaemonKey(InetAddress address, KnownPlane gone) {
    String daemonKey = host.daemonKeys().get(address);
    boolean hadDaemonKey = !gone.key().equals(gone.ownKey());
    return daemonKey != null && hadDaemonKey && !daemonKey.equals(gone.key());
  }

  private List<AssignedAddress> usableOn(KnownPlane gone) {
    boolean named = !host.rules().isEmpty();
    HostAddresses passing = host.host().filteredBy(host.filter());
    List<AssignedAddress> usable = new ArrayList<>();
    for (AssignedAddress each : passing.addresses()) {
      Optional<UnusableReason> unusable =
          named ? passing.reasonUnusableIfNamed(each) : passing.reasonUnusable(each);
      if (passing.linkOf(each).name().equals(gone.interfaceName())
          && each.address().getClass() == gone.addresses().getFirst().getClass()
          && unusable.isEmpty()
          && carries.test(each.address())) {
        usable.add(each);
      }
    }
    return usable;
  }
}
