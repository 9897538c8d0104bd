package io.heddle.sim.control;

import io.heddle.bgp.wire.Prefix;
import java.util.ArrayList;
import java.util.List;

/**
 * Fabric of leaves with hosts. Each host is in every plane, except that some hosts have lost one
 * plane.
 *
 * @param hosts number of hosts, each with one card
 * @param planes number of planes
 * @param hostsPerLeaf number of hosts of a leaf in each plane
 * @param unreachable number of hosts that have lost one plane, spread evenly over hosts and planes
 * @param peers number of hosts with which a card communicates; these are the next hosts in a ring
 * @param portGbps path bandwidth that routes announce, Gbit/s
 */
public record RouteFabric(
    int hosts, int planes, int hostsPerLeaf, int unreachable, int peers, int portGbps) {
  private static final long SITE = 0xfd00_00aa_0000_0000L;
  private static final int LEAF_BITS = 64;

  /** Returns the number of leaves of a plane. */
  public int leaves() {
    return (hosts + hostsPerLeaf - 1) / hostsPerLeaf;
  }

  /** Returns the prefix of one host's route. */
  Prefix host(int host) {
    return new Prefix(SITE | host / hostsPerLeaf, host + 1L, Prefix.MAX_LENGTH);
  }

  /** Returns the prefix of the route for all hosts at a leaf. */
  Prefix leaf(int leaf) {
    return new Prefix(SITE | leaf, 0, LEAF_BITS);
  }

  /** Returns the hosts that have lost this plane. */
  List<Integer> unreachableIn(int plane) {
    List<Integer> found = new ArrayList<>();
    for (int lost = 0; lost < unreachable; lost++) {
      if (lost % planes == plane) {
        found.add((int) ((long) lost * hosts / unreachable));
      }
    }
    return found;
  }

  /** Returns the hosts that a card communicates with. */
  List<Integer> peersOf(int host) {
    List<Integer> found = new ArrayList<>();
    for (int next = 1; next <= peers; next++) {
      found.add((host + next) % hosts);
    }
    return found;
  }
}
