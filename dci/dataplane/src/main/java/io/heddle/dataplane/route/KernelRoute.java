package io.heddle.dataplane.route;

import io.heddle.addr.AddressPrefix;
import java.net.InetAddress;

/**
 * A route that a gateway installs in the kernel.
 *
 * @param table 254 is the main one
 */
public record KernelRoute(int table, AddressPrefix destination, int interfaceIndex, NextStep next) {
  public static final int MAIN_TABLE = 254;

  /** Next step of the route's packets. */
  public sealed interface NextStep permits ToSegments, ToNeighbour {}

  /**
   * Encapsulates into an outer IPv6 header with these segments; the route to the first one applies
   * next.
   */
  public record ToSegments(SegmentPath path) implements NextStep {}

  /** Sends to a neighbour of the interface. */
  public record ToNeighbour(InetAddress neighbour) implements NextStep {}
}
