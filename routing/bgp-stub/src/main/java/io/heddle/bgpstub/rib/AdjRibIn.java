package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.ExtendedCommunity.Color;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.routes.RouteCell;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adj-RIB-In: the routes received from one peer. All belong to the peer's configured plane, or each
 * to the plane of its colour.
 */
public final class AdjRibIn implements AutoCloseable {
  /*
   * Lowest bit of a route's value in the table, which marks a stale route. The other bits are the
   * index of the route's attribute set in the attribute table.
   */
  private static final int STALE = 1;

  private final Rib rib;
  private final String name;
  private final @Nullable String planeKey;
  private final RouteTable routes = new RouteTable();
  private final AttributeTable attributes = new AttributeTable();
  private long rateMbps;
  private boolean hasSeenAigp;
  private boolean complete;
  private long withoutPlane;

  /**
   * @param planeKey key of the plane of all routes; null to use each route's colour
   */
  AdjRibIn(Rib rib, String name, @Nullable String planeKey, long rateMbps) {
    this.rib = rib;
    this.name = name;
    this.planeKey = planeKey;
    this.rateMbps = rateMbps;
  }

  public String name() {
    return name;
  }

  /** Returns the key of the plane of all routes; null if colours determine the planes. */
  public @Nullable String planeKey() {
    return planeKey;
  }

  public int routes() {
    return routes.size();
  }

  /** Returns the number of distinct attribute sets. */
  public int attributeSets() {
    return attributes.size();
  }

  /**
   * Returns the number of routes announced in this session that belong to no plane, usually because
   * they have no colour.
   */
  public long withoutPlane() {
    return withoutPlane;
  }

  /** Returns whether the peer has sent all the routes that it had when the session came up. */
  public boolean isComplete() {
    return complete;
  }

  /** Sets whether the initial table dump is complete, as its End-of-RIB shows. */
  public void setComplete(boolean value) {
    complete = value;
  }

  /** Applies announcements and withdrawals. */
  public void update(UpdateMessage update) {
    update.withdrawn().forEach(this::withdraw);
    if (!update.announced().isEmpty()) {
      int number = numberOf(update.attributes());
      /*
       * Holds the attribute set during the loop. Otherwise the set might be released when its last
       * old route is replaced.
       */
      attributes.acquire(number);
      int plane = attributes.plane(number);
      if (plane == AttributeTable.NO_PLANE) {
        withoutPlane += update.announced().size();
      }
      update.announced().forEach((high, low, length) -> announce(high, low, length, number));
      attributes.release(number);
    }
    rib.publishSoon();
  }

  private int numberOf(PathAttributes set) {
    int number = attributes.find(set);
    if (number != RouteTable.NONE) {
      return number;
    }
    if (set.aigp() != null && !hasSeenAigp) {
      hasSeenAigp = true;
      recomputeCells(); // earlier routes without AIGP now count as borrowed
    }
    return attributes.add(set, planeOf(set), cellOf(set));
  }

  private int planeOf(PathAttributes set) {
    if (planeKey != null) {
      return rib.plane(planeKey, name);
    }
    Color color = set.color();
    return color == null ? AttributeTable.NO_PLANE : rib.plane(Rib.colourKey(color.color()), name);
  }

  private int cellOf(PathAttributes set) {
    int cell = CellPolicy.cell(set, rateMbps, rib.options());
    return hasSeenAigp && CellPolicy.lacksAigp(set) ? RouteCell.borrowed(cell) : cell;
  }

  private void announce(long high, long low, int length, int number) {
    int before = routes.put(high, low, length, number << 1);
    attributes.acquire(number);
    int plane = attributes.plane(number);
    if (before != RouteTable.NONE) {
      int old = before >>> 1;
      int oldPlane = attributes.plane(old);
      attributes.release(old);
      if (oldPlane != plane) {
        rib.changed(high, low, length, oldPlane);
      } else if (old == number) {
        return;
      }
    }
    rib.changed(high, low, length, plane, attributes.cell(number));
  }

  private void withdraw(long high, long low, int length) {
    int before = routes.remove(high, low, length);
    if (before != RouteTable.NONE) {
      int plane = attributes.plane(before >>> 1);
      attributes.release(before >>> 1);
      rib.changed(high, low, length, plane, RouteCell.EMPTY);
    }
  }

  /**
   * Marks a family's routes as stale. The peer then sends them again, or {@link #dropStale}
   * withdraws them.
   */
  public void markStale(AddressFamily family) {
    routes.mark(STALE, (high, low, length) -> isOf(family, high, low, length));
    complete = false;
  }

  /** Withdraws the stale routes of a family. */
  public void dropStale(AddressFamily family) {
    drop(STALE, (high, low, length) -> isOf(family, high, low, length));
  }

  private static boolean isOf(AddressFamily family, long high, long low, int length) {
    boolean ipv4 = length >= Prefix.MAPPED_BITS && Prefix.isIpv4(high, low);
    return ipv4 == family.equals(AddressFamily.IPV4_UNICAST);
  }

  /** Withdraws all routes, after a session's end without graceful restart. */
  public void clear() {
    drop(0, (high, low, length) -> true);
    hasSeenAigp = false;
    complete = false;
    withoutPlane = 0;
  }

  private void drop(int bit, RouteTable.PrefixPredicate predicate) {
    long[] gone = new long[3 * routes.size()];
    int[] count = new int[1];
    routes.forEach((high, low, length, value) -> {
      if ((value & bit) == bit && predicate.test(high, low, length)) {
        gone[count[0]++] = high;
        gone[count[0]++] = low;
        gone[count[0]++] = length;
      }
    });
    for (int i = 0; i < count[0]; i += 3) {
      withdraw(gone[i], gone[i + 1], (int) gone[i + 2]);
    }
    if (routes.size() == 0) {
      routes.clear(); // frees the table's memory
    }
    rib.publishSoon();
  }

  /** Sets the rate of the local port. */
  public void setRateMbps(long mbps) {
    if (mbps != rateMbps) {
      rateMbps = mbps;
      recomputeCells();
      rib.publishSoon();
    }
  }

  /** Computes the cells of all routes again, after a change of the options. */
  void recomputeAllCells() {
    recomputeCells();
    rib.publishSoon();
  }

  private void recomputeCells() {
    boolean[] changed = new boolean[attributes.end()];
    boolean any = false;
    for (int number = 0; number < changed.length; number++) {
      if (attributes.isInUse(number)) {
        int cell = cellOf(attributes.attributes(number));
        changed[number] = cell != attributes.cell(number);
        any |= changed[number];
        attributes.setCell(number, cell);
      }
    }
    if (any) {
      routes.forEach((high, low, length, value) -> {
        if (changed[value >>> 1]) {
          rib.changed(high, low, length, attributes.plane(value >>> 1));
        }
      });
    }
  }

  /** Publishes every route again. */
  void republish() {
    routes.forEach((high, low, length, value) ->
        rib.changed(high, low, length, attributes.plane(value >>> 1)));
  }

  /** Returns the number of this peer's routes with a prefix that none of {@code others} has. */
  int countRoutesMissingFrom(List<AdjRibIn> others) {
    int[] count = new int[1];
    routes.forEach((high, low, length, value) -> {
      for (AdjRibIn each : others) {
        if (each.routes.get(high, low, length) != RouteTable.NONE) {
          return;
        }
      }
      count[0]++;
    });
    return count[0];
  }

  /**
   * Returns the index, in the attribute table, of the attributes of this prefix's route on a plane;
   * {@link RouteTable#NONE} if there is no route.
   */
  int numberAt(long high, long low, int length, int plane) {
    int value = routes.get(high, low, length);
    return value == RouteTable.NONE || attributes.plane(value >>> 1) != plane
        ? RouteTable.NONE
        : value >>> 1;
  }

  PathAttributes attributes(int number) {
    return attributes.attributes(number);
  }

  int cell(int number) {
    return attributes.cell(number);
  }

  /**
   * Returns the plane's route with the longest prefix that covers a destination; null if there is
   * none.
   */
  @Nullable Route longestMatch(Prefix destination, int plane) {
    int shortest = Prefix.shortestFor(destination.high(), destination.low());
    for (int length = destination.length(); length >= shortest; length--) {
      if (routes.routesOfLength(length) == 0) {
        continue;
      }
      Prefix prefix = new Prefix(destination.high(), destination.low(), length);
      int number = numberAt(prefix.high(), prefix.low(), length, plane);
      if (number != RouteTable.NONE) {
        return route(prefix, number);
      }
    }
    return null;
  }

  /** Returns the first routes in order of prefixes, up to a limit. */
  public List<Route> routes(int most) {
    List<Route> all = new ArrayList<>();
    routes.forEach((high, low, length, value) -> {
      if (all.size() < most) {
        all.add(route(new Prefix(high, low, length), value >>> 1));
      }
    });
    all.sort(Comparator.comparing(Route::prefix));
    return all;
  }

  private Route route(Prefix prefix, int number) {
    int plane = attributes.plane(number);
    return new Route(
        prefix,
        name,
        plane == AttributeTable.NO_PLANE ? "" : rib.planeKey(plane),
        attributes.attributes(number),
        attributes.cell(number));
  }

  /** Frees the memory of the routes; no method may be called afterwards. */
  @Override
  public void close() {
    routes.close();
  }

  @Override
  public String toString() {
    return name + " with " + routes.size() + " routes";
  }
}
