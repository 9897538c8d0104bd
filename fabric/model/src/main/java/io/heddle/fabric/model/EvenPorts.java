package io.heddle.fabric.model;

import io.heddle.platform.HeddleException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Chooses source ports that spread evenly over every tier's links: at each switch no link has more
 * than one flow more than another.
 */
public final class EvenPorts {
  private final SortedMap<String, EvenPorts> next = new TreeMap<>();
  private final Deque<Integer> ports = new ArrayDeque<>();
  private int left;
  private int taken;

  private EvenPorts() {}

  /**
   * Chooses.
   *
   * @param count how many
   * @param ways the links that each known port takes, tier by tier, all equally long
   * @return in ascending order
   * @throws HeddleException where a link has too few known ports
   */
  public static List<Integer> choose(int count, SortedMap<Integer, List<String>> ways) {
    EvenPorts root = new EvenPorts();
    ways.forEach((port, way) -> root.put(port, way, 0));
    List<Integer> chosen = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      chosen.add(root.take());
    }
    return chosen.stream().sorted().toList();
  }

  /** By how many flows the links of one switch differ at most; over all switches. */
  public static int unevenness(Collection<List<String>> ways, Collection<List<String>> chosen) {
    EvenPorts root = new EvenPorts();
    ways.forEach(way -> root.put(0, way, 0));
    chosen.forEach(way -> root.count(way, 0));
    return root.unevenness();
  }

  private void put(int port, List<String> way, int tier) {
    left++;
    if (tier == way.size()) {
      ports.add(port);
    } else {
      next.computeIfAbsent(way.get(tier), link -> new EvenPorts()).put(port, way, tier + 1);
    }
  }

  private int take() {
    taken++;
    left--;
    if (next.isEmpty()) {
      return ports.remove();
    }
    Map.Entry<String, EvenPorts> least =
        next.entrySet().stream()
            .min(Comparator.comparingInt(each -> each.getValue().taken))
            .orElseThrow();
    EvenPorts chosen = least.getValue();
    if (chosen.left == 0) {
      throw new HeddleException(
          "only %s ports are known to take the link to %s: measure again, with more --ports"
              .formatted(chosen.taken, least.getKey()));
    }
    return chosen.take();
  }

  private void count(List<String> way, int tier) {
    taken++;
    EvenPorts link = tier == way.size() ? null : next.get(way.get(tier));
    if (link != null) {
      link.count(way, tier + 1);
    }
  }

  private int unevenness() {
    int worst = 0;
    if (!next.isEmpty()) {
      int most = next.values().stream().mapToInt(each -> each.taken).max().orElseThrow();
      int least = next.values().stream().mapToInt(each -> each.taken).min().orElseThrow();
      worst = most - least;
    }
    for (EvenPorts each : next.values()) {
      worst = Math.max(worst, each.unevenness());
    }
    return worst;
  }
}
