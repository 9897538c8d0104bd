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
 * Choice of source ports that spread evenly over every tier's links: at each switch, the links'
 * flow counts differ by at most one.
 */
public final class EvenPorts {
  private final SortedMap<String, EvenPorts> next = new TreeMap<>();
  private final Deque<Integer> ports = new ArrayDeque<>();
  private int left;
  private int taken;

  private EvenPorts() {}

  /**
   * Chooses ports.
   *
   * @param count number of ports
   * @param paths path of each known port, as its links tier by tier; all paths have the same length
   * @return chosen ports in ascending order
   * @throws HeddleException if a link has too few known ports
   */
  public static List<Integer> choose(int count, SortedMap<Integer, List<String>> paths) {
    EvenPorts root = new EvenPorts();
    paths.forEach((port, path) -> root.put(port, path, 0));
    List<Integer> chosen = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      chosen.add(root.take());
    }
    return chosen.stream().sorted().toList();
  }

  /**
   * Returns the largest difference between the flow counts of two links of the same switch, over
   * all switches.
   *
   * @param paths all known paths, which define the links of each switch
   * @param chosen path of each flow
   */
  public static int unevenness(Collection<List<String>> paths, Collection<List<String>> chosen) {
    EvenPorts root = new EvenPorts();
    paths.forEach(path -> root.put(0, path, 0));
    chosen.forEach(path -> root.count(path, 0));
    return root.unevenness();
  }

  private void put(int port, List<String> path, int tier) {
    left++;
    if (tier == path.size()) {
      ports.add(port);
    } else {
      next.computeIfAbsent(path.get(tier), link -> new EvenPorts()).put(port, path, tier + 1);
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
          "only %s known ports take the link to %s: measure again, with more --ports"
              .formatted(chosen.taken, least.getKey()));
    }
    return chosen.take();
  }

  private void count(List<String> path, int tier) {
    taken++;
    EvenPorts link = tier == path.size() ? null : next.get(path.get(tier));
    if (link != null) {
      link.count(path, tier + 1);
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
