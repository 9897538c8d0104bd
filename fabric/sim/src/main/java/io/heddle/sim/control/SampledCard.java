package io.heddle.sim.control;

import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.bgpstub.rib.AdjRibIn;
import io.heddle.bgpstub.rib.Rib;
import io.heddle.bgpstub.rib.RibOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * Network card that has the route daemon's real table, with a BGP session to a leaf in each plane.
 */
final class SampledCard implements AutoCloseable {
  private static final int PACKED = 200;
  private static final int LEAF_AS = 65_301;
  private static final int ROUTER = 0x0a00_0301;
  private static final NextHop NEXT_HOP = new NextHop(0xfe80_0000_0000_0000L, 1, 0, 0);

  private final RouteFabric fabric;
  private final MemoryRoutes published = new MemoryRoutes();
  private final Rib rib;
  private final List<AdjRibIn> leaves = new ArrayList<>();
  private final List<String> faults = new ArrayList<>();

  SampledCard(RouteFabric fabric) {
    this.fabric = fabric;
    rib = new Rib(published, RibOptions.DEFAULT, Runnable::run, (level, line) -> faults.add(line));
    for (int plane = 0; plane < fabric.planes(); plane++) {
      leaves.add(rib.addPeer("leaf" + plane, "plane:" + plane, 0));
    }
  }

  /** Sends the card an announcement of prefixes from a plane's leaf. */
  void announce(int plane, List<Prefix> prefixes) {
    send(plane, prefixes, fabric.portGbps());
  }

  /**
   * Sends the card an announcement, from a plane's leaf, that prefixes are unreachable in the
   * plane: their path bandwidth is 0.
   */
  void unreachable(int plane, List<Prefix> prefixes) {
    send(plane, prefixes, 0);
  }

  private void send(int plane, List<Prefix> prefixes, int gbps) {
    PathAttributes attributes =
        new PathAttributes(
            List.of(
                PathAttribute.Origin.IGP,
                new PathAttribute.Path(AsPath.of(LEAF_AS)),
                new PathAttribute.ExtendedCommunities(
                    List.of(new ExtendedCommunity.PathBandwidth(true, ROUTER, gbps)))));
    for (int first = 0; first < prefixes.size(); first += PACKED) {
      leaves.get(plane).update(UpdateMessage.announce(part(prefixes, first), attributes, NEXT_HOP));
    }
  }

  /** Sends the card a withdrawal of prefixes from a plane's leaf. */
  void withdraw(int plane, List<Prefix> prefixes) {
    for (int first = 0; first < prefixes.size(); first += PACKED) {
      leaves.get(plane).update(UpdateMessage.withdraw(part(prefixes, first)));
    }
  }

  private static Nlri part(List<Prefix> prefixes, int first) {
    return Nlri.of(
        prefixes.subList(first, Math.min(prefixes.size(), first + PACKED)).toArray(Prefix[]::new));
  }

  /** Returns the number of routes of all planes in the card's table. */
  long routes() {
    return leaves.stream().mapToLong(AdjRibIn::routes).sum();
  }

  /** Publishes the routes received so far to jobs. */
  void publish() {
    rib.flush();
  }

  /** Returns the number of prefixes that the daemon publishes to jobs. */
  int prefixes() {
    publish();
    return published.entries();
  }

  /** Returns whether the card's jobs would send to a host over a plane. */
  boolean reaches(int host, int plane) {
    publish();
    return published.weight(fabric.host(host), plane) > 0;
  }

  /** Returns the warnings that the card's route table has logged; empty if there are none. */
  List<String> faults() {
    return List.copyOf(faults);
  }

  @Override
  public void close() {
    rib.close();
  }
}
