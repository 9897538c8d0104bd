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
 * One peer, as the configuration has it.
 *
 * @param address where it is; null to take the interface's default router
 * @param families of routes that are exchanged with it
 * @param as its AS; 0 for any but ours
 * @param plane name of the plane that all its routes are of; empty where their colours tell
 * @param rateMbps of the port; 0 to ask the kernel
 * @param asSets whether its routes may have sets of autonomous systems in their paths
 * @param bfd how to watch the path to it; null for not at all
 * @param filter whether to ask it for the peers in use only
 * @param filterAlways prefixes that are asked for in any case
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

  /** Whether the peer's routes tell their planes by colour. */
  public boolean byColour() {
    return plane.isEmpty();
  }

  /** Whether a session by the other's settings may stay: rate and filter don't concern it. */
  boolean hasSessionOf(PeerConfig other) {
    return with(other.rateMbps, other.filterAlways).equals(other);
  }

  private PeerConfig with(long rate, List<Prefix> always) {
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
   * What a peer that filters for us shall let through. Where colours tell the planes, a leaf
   * announces subnets: those of the jobs' peers, and our own, whose colours name our addresses'
   * planes. How long those of IPv4 are isn't known, so there everything is asked for.
   *
   * @param inUse hosts that jobs talk to
   * @param own this host's addresses towards the peer
   */
  Set<Prefix> wanted(Set<Prefix> inUse, List<InetAddress> own) {
    Set<Prefix> wanted = new TreeSet<>(inUse);
    if (byColour()) {
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

  /** Key of the plane; null where colours tell. */
  public @Nullable String planeKey() {
    return byColour() ? null : "plane:" + plane;
  }
}
