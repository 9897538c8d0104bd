package io.heddle.gateway.route;

import io.heddle.addr.AddressPrefix;
import java.net.InetAddress;

/**
 * Route that a gateway installs in the kernel.
 *
 * @param table number of the routing table; 254 is the main table
 */
public record KernelRoute(int table, AddressPrefix destination, int interfaceIndex, NextStep next) {
  public static final int MAIN_TABLE = 254;

  /** Treatment of the packets that use the route. */
  public sealed interface NextStep permits ToSegments, ToNeighbour {}

  /**
   * Encapsulation with these segments in an outer IPv6 header. The kernel then looks up the route
   * to the first segment.
   */
  public record ToSegments(SegmentPath path) implements NextStep {}

  /** Transmission to a neighbour on the route's interface. */
  public record ToNeighbour(InetAddress neighbour) implements NextStep {}
}
