package io.heddle.sim.control;

import io.heddle.bgp.wire.Prefix;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RouteTarget;
import io.heddle.routes.WeightRules;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Routes that a route table publishes, kept in this process's memory instead of in a routes file.
 */
final class MemoryRoutes implements RouteTarget {
  private final Map<Prefix, int[]> cells = new HashMap<>();
  private final List<PublishedPlane> planes = new ArrayList<>();

  @Override
  public Path path() {
    return Path.of("memory");
  }

  @Override
  public boolean isTruncated() {
    return false;
  }

  @Override
  public void renew() {
    cells.clear();
  }

  @Override
  public void setRules(WeightRules next) {
    /* Does nothing, as no job derives weights from the published rates here. */
  }

  @Override
  public List<PublishedPlane> planes() {
    return List.copyOf(planes);
  }

  @Override
  public int setPlane(PublishedPlane plane) {
    for (int number = 0; number < planes.size(); number++) {
      if (planes.get(number).key().equals(plane.key())) {
        planes.set(number, plane);
        return number;
      }
    }
    planes.add(plane);
    return planes.size() - 1;
  }

  @Override
  public void begin() {
    /* Does nothing, as no reader runs between two changes. */
  }

  @Override
  public void set(long high, long low, int length, int plane, int cell) {
    Prefix prefix = new Prefix(high, low, length);
    int[] row = cells.get(prefix);
    if (row == null) {
      if (cell == RouteCell.EMPTY) {
        return;
      }
      row = new int[planes.size()];
      Arrays.fill(row, RouteCell.EMPTY);
      cells.put(prefix, row);
    }
    row[plane] = cell;
    if (cell == RouteCell.EMPTY && Arrays.stream(row).allMatch(each -> each == RouteCell.EMPTY)) {
      cells.remove(prefix);
    }
  }

  @Override
  public boolean commit() {
    return true;
  }

  @Override
  public void reserve(int prefixes) {
    /* Does nothing, as a map grows by itself. */
  }

  @Override
  public void clear() {
    cells.clear();
  }

  @Override
  public int entries() {
    return cells.size();
  }

  /**
   * Returns the rate of a plane in Mbit/s, by the host's longest matching route; 0 if the plane
   * doesn't reach the host.
   */
  int weight(Prefix host, int plane) {
    for (int length = Prefix.MAX_LENGTH; length >= 0; length--) {
      int[] row = cells.get(new Prefix(host.high(), host.low(), length));
      if (row != null && row[plane] != RouteCell.EMPTY) {
        return RouteCell.weight(row[plane]);
      }
    }
    return 0;
  }
}
