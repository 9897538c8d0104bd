package io.heddle.bgpstub.daemon;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of one peer.
 *
 * @param address its address; null for the interface's default router
 * @param families of routes exchanged with it
 * @param as its AS; 0 for any but ours
 * @param plane name of the plane of all its routes; empty if their colours determine it
 * @param rateMbps of the port; 0 to read it from the kernel
 * @param asSets whether its routes may have AS_SETs in their paths
 * @param bfd BFD options; null for no BFD
 * @param filter whether it filters routes to the peers in use
 * @param filterAlways prefixes that its filter always permits
 */
public record PeerConfig(
    String name,
    String interfaceName,
    @Nullable InetAddress address,
    Families families,
    long as,
    String plane,
    long rateMbps,
    int port,
    int holdTimeSeconds,
    boolean passive,
    int gtsmHops,
    String md5Key,
    boolean aigp,
    boolean asSets,
    @Nullable BfdOptions bfd,
    boolean filter,
    List<Prefix> filterAlways) {
  private static final int SUBNET_BITS = 64;

  /** Returns whether the colours of its routes determine their planes. */
  public boolean isPlaneFromColour() {
    return plane.isEmpty();
  }

  /**
   * Returns whether a session may continue with the other's settings: rate and filter don't affect
   * it.
   */
  boolean hasSessionOf(PeerConfig other) {
    return withRateAndFilter(other.rateMbps, other.filterAlways).equals(other);
  }

  private PeerConfig withRateAndFilter(long rate, List<Prefix> always) {
    return new PeerConfig(
        name,
        interfaceName,
        address,
        families,
        as,
        plane,
        rate,
        port,
        holdTimeSeconds,
        passive,
        gtsmHops,
        md5Key,
        aigp,
        asSets,
        bfd,
        filter,
        always);
  }

  /**
   * Returns the prefixes that a peer's filter must permit. If colours determine the planes, a leaf
   * announces subnets: those of the jobs' peers, and our own, whose colours name the planes of our
   * addresses. The length of IPv4 subnets is unknown, so there the filter permits everything.
   *
   * @param inUse hosts that jobs talk to
   * @param own this host's addresses towards the peer
   */
  Set<Prefix> wantedPrefixes(Set<Prefix> inUse, List<InetAddress> own) {
    Set<Prefix> wanted = new TreeSet<>(inUse);
    if (isPlaneFromColour()) {
      wanted.removeIf(Prefix::isIpv4);
      for (Prefix host : List.copyOf(wanted)) {
        wanted.add(new Prefix(host.high(), host.low(), SUBNET_BITS));
      }
      for (InetAddress each : own) {
        if (each instanceof Inet6Address) {
          wanted.add(Prefix.of(each, SUBNET_BITS));
        }
      }
    }
    wanted.addAll(filterAlways);
    return wanted;
  }

  /** Returns the key of the plane; null if colours determine it. */
  public @Nullable String planeKey() {
    return isPlaneFromColour() ? null : "plane:" + plane;
  }
}
