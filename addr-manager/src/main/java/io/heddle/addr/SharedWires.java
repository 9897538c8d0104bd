package io.heddle.addr;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Finder of planes of one host that share a wire: an interface with several subnets, or VLANs,
 * macvlans and tunnels over one interface. Together such planes carry no more than one plane, and
 * they fail together.
 */
public final class SharedWires {
  /*
   * Limit of the number of stacked interfaces, which ends the search if a damaged snapshot has a
   * loop. Real stacks are not so deep.
   */
  private static final int MOST_LAYERS = 16;

  private SharedWires() {}

  /**
   * Wire with several planes.
   *
   * @param name name of the wire's lowest interface; its number if it is in another namespace
   * @param planes the planes on the wire, at least two
   */
  public record Wire(String name, List<Plane> planes) {
    public Wire {
      planes = List.copyOf(planes);
    }

    /** Returns a clause for logs and reports: which planes share the wire, and so fail together. */
    public String describe() {
      return "planes %s are on one wire, %s: together they carry no more than one, and fail together"
          .formatted(String.join(", ", planes.stream().map(Plane::key).toList()), name);
    }
  }

  /**
   * Returns each wire that carries several of these planes, if another wire carries fewer, or if
   * the planes on the wire are on several interfaces. A single interface with all planes isn't
   * returned, since it is the operator's choice.
   */
  public static List<Wire> of(HostAddresses host, List<Plane> planes) {
    Map<Integer, List<Plane>> byWire = new LinkedHashMap<>();
    for (Plane plane : planes) {
      byWire
          .computeIfAbsent(lowestInterface(host, plane.link()), none -> new ArrayList<>())
          .add(plane);
    }
    int fewest = byWire.values().stream().mapToInt(Collection::size).min().orElse(0);
    List<Wire> shared = new ArrayList<>();
    byWire.forEach((index, group) -> {
      Set<Integer> interfaces = new LinkedHashSet<>();
      group.forEach(plane -> interfaces.add(plane.link().index()));
      if (group.size() > 1 && (group.size() > fewest || interfaces.size() > 1)) {
        shared.add(new Wire(name(host, index), group));
      }
    });
    return shared;
  }

  private static String name(HostAddresses host, int index) {
    return host.links().stream()
        .filter(link -> link.index() == index)
        .map(NetworkLink::name)
        .findFirst()
        .orElse("interface " + Math.abs(index) + " of another namespace");
  }

  private static int lowestInterface(HostAddresses host, NetworkLink link) {
    NetworkLink at = link;
    for (int layer = 0; layer < MOST_LAYERS && at.parentIndex() != 0; layer++) {
      int below = at.parentIndex();
      if (host.links().stream().noneMatch(each -> each.index() == below)) {
        return below;
      }
      at = host.link(below);
    }
    return at.index();
  }
}
