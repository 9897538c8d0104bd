package io.heddle.dataplane.route;

import io.heddle.addr.AddressPrefix;
import java.net.InetAddress;

/**
 * A route that a gateway gives the kernel.
 *
 * @param table 254 is the main one
 */
public record KernelRoute(int table, AddressPrefix destination, int interfaceIndex, Way way) {
  public static final int MAIN_TABLE = 254;

  /** How packets leave. */
  public sealed interface Way permits ToSegments, ToNeighbour {}

  /** Within an outer IPv6 header with these segments; what follows is decided by the first one. */
  public record ToSegments(SegmentPath path) implements Way {}

  /** To a neighbour of the interface. */
  public record ToNeighbour(InetAddress neighbour) implements Way {}
}
