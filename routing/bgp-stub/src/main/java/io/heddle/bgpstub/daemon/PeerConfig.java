package io.heddle.bgpstub.daemon;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.session.PeerOptions;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.HeddleException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of one peer.
 *
 * @param interfaceName interface towards the peer; empty if the peer's subnet determines it
 * @param address the peer's address; null for the interface's default router
 * @param families address families of the routes exchanged with the peer
 * @param as number of the peer's AS; 0 for any AS except ours
 * @param plane name of the plane of all the peer's routes; empty if the routes' colours determine
 *     their planes
 * @param rateMbps rate of the local port in Mbit/s; 0 to read it from the kernel
 * @param asSets whether the peer's routes may have AS_SETs in their paths
 * @param bfd BFD options; null for no BFD
 * @param filter whether the peer gets a filter, so that it sends only routes to hosts that jobs use
 * @param filterAlways prefixes that the filter always permits
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

  /**
   * Returns the options of the session with this peer.
   *
   * @param routerId this speaker's identifier
   * @throws HeddleException if the values don't fit together; the message names one
   */
  PeerOptions options(DaemonConfig of, int routerId) {
    PeerOptions.Builder options =
        PeerOptions.builder(name)
            .onInterface(interfaceName)
            .port(port)
            .localAs(of.as())
            .remoteAs(as)
            .routerId(routerId)
            .holdTimeSeconds(holdTimeSeconds)
            .passive(passive)
            .gtsmHops(gtsmHops)
            .md5Key(md5Key)
            .acceptAigp(aigp)
            .acceptAsSets(asSets)
            .families(families)
            .filters(filter)
            .bfd(bfd)
            .codePoints(of.codePoints());
    if (address != null) {
      options.remote(address);
    }
    try {
      return options.build();
    } catch (IllegalArgumentException unfit) {
      throw new HeddleException(String.valueOf(unfit.getMessage()), unfit);
    }
  }

  /** Returns whether the colours of the peer's routes determine their planes. */
  public boolean isPlaneFromColour() {
    return plane.isEmpty();
  }

  /**
   * Returns whether a session that began with the other settings may continue with these. That is
   * so if the two differ at most in the rate and in the prefixes that are always permitted.
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
   * Returns the prefixes that the peer's filter must permit. If colours determine the planes, the
   * leaf announces subnets. Then the filter must permit the subnets of the hosts in use, and our
   * own subnets, whose colours determine the planes of our addresses. The lengths of IPv4 subnets
   * are unknown, so no IPv4 filter is sent.
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

  /** Returns the key of the peer's plane; null if colours determine the planes. */
  public @Nullable String planeKey() {
    return isPlaneFromColour() ? null : "plane:" + plane;
  }
}
