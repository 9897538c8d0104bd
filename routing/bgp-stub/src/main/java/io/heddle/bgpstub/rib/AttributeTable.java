package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.PathAttributes;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Table of the attribute sets of a peer's routes. Each set is stored once, with its number of
 * routes, its plane and its {@link io.heddle.routes.RouteCell cell}.
 */
final class AttributeTable {
  /** Value in place of a plane's number for routes that belong to no plane. */
  static final int NO_PLANE = -1;

  private static final int FIRST = 16;

  private final Map<PathAttributes, Integer> numbers = new HashMap<>();
  private @Nullable PathAttributes[] sets = new PathAttributes[FIRST];
  private int[] routes = new int[FIRST];
  private int[] planes = new int[FIRST];
  private int[] cells = new int[FIRST];
  private int[] free = new int[FIRST];
  private int freeCount;
  private int used;

  /** Returns the index of this attribute set; {@link RouteTable#NONE} if the set is new. */
  int find(PathAttributes attributes) {
    return numbers.getOrDefault(attributes, RouteTable.NONE);
  }

  /** Adds a new attribute set, which has no route yet. Returns its index. */
  int add(PathAttributes attributes, int plane, int cell) {
    int number = freeCount > 0 ? free[--freeCount] : used++;
    if (number == routes.length) {
      int size = 2 * number;
      sets = Arrays.copyOf(sets, size);
      routes = Arrays.copyOf(routes, size);
      planes = Arrays.copyOf(planes, size);
      cells = Arrays.copyOf(cells, size);
      free = Arrays.copyOf(free, size);
    }
    sets[number] = attributes;
    routes[number] = 0;
    planes[number] = plane;
    cells[number] = cell;
    numbers.put(attributes, number);
    return number;
  }

  void acquire(int number) {
    routes[number]++;
  }

  /** Subtracts one route from a set; removes the set if it has no route left. */
  void release(int number) {
    if (--routes[number] == 0) {
      numbers.remove(attributes(number));
      sets[number] = null;
      free[freeCount++] = number;
    }
  }

  PathAttributes attributes(int number) {
    PathAttributes attributes = sets[number];
    if (attributes == null) {
      throw new IllegalStateException("attributes " + number + " were released");
    }
    return attributes;
  }

  int plane(int number) {
    return planes[number];
  }

  int cell(int number) {
    return cells[number];
  }

  void setCell(int number, int cell) {
    cells[number] = cell;
  }

  /** Returns the upper bound of the sets' indexes, exclusive. Some indexes below it may be free. */
  int end() {
    return used;
  }

  boolean isInUse(int number) {
    return sets[number] != null;
  }

  int size() {
    return numbers.size();
  }

  void clear() {
    numbers.clear();
    Arrays.fill(sets, null);
    freeCount = 0;
    used = 0;
  }
}
