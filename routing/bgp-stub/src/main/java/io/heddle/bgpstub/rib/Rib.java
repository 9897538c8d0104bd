package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.routes.PublishedPlane;
import io.heddle.routes.RouteCell;
import io.heddle.routes.RouteTarget;
import io.heddle.routes.WeightRules;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Routing table: the routes of all peers, and the routes file that is derived from them. A change
 * is written to the file at once. Readers see it together with all other changes of the same round
 * of the BGP speaker's event loop.
 */
public final class Rib implements AutoCloseable {
  /**
   * Value for a new cell that isn't known, so that the plane's best route must be looked up. No
   * real cell has this value.
   */
  static final int UNKNOWN = RouteCell.borrowed(RouteCell.EMPTY);

  private static final String COLOUR_PREFIX = "colour:";

  private final RouteTarget publisher;
  private RibOptions options;
  private final Executor later;
  private final Log log;
  private final List<AdjRibIn> peers = new ArrayList<>();
  private final Map<String, Integer> planes = new HashMap<>();
  private final List<String> keys = new ArrayList<>();
  /* Number of peers that may have routes of a plane, indexed by the plane's number. */
  private int[] peersOfPlane = {};
  private boolean publishing;
  private boolean flushPlanned;
  private boolean incomplete;
  /*
   * Last logged reason why publishing stopped. A later attempt that fails for the same reason logs
   * nothing.
   */
  private String loggedReason = "";
  private boolean frozen;
  private long changes;

  /**
   * @param publisher writer of the routes file, or a simulator's substitute for it
   * @param later runs a task on the BGP speaker's thread after the present task
   */
  public Rib(RouteTarget publisher, RibOptions options, Executor later, Log log) {
    this.publisher = publisher;
    this.options = options;
    this.later = later;
    this.log = log;
  }

  /** Returns the key of a colour's plane. */
  public static String colourKey(long colour) {
    return COLOUR_PREFIX + colour;
  }

  public static boolean isColourKey(String key) {
    return key.startsWith(COLOUR_PREFIX);
  }

  /**
   * Adds a peer.
   *
   * @param planeKey key of the plane of all the peer's routes; null to use each route's colour
   * @param rateMbps rate of the local port in Mbit/s; 0 if unknown
   */
  public AdjRibIn addPeer(String name, @Nullable String planeKey, long rateMbps) {
    AdjRibIn peer = new AdjRibIn(this, name, planeKey, rateMbps);
    peers.add(peer);
    if (planeKey != null) {
      plane(planeKey, name);
    }
    countPeersOfPlanes();
    return peer;
  }

  private void countPeersOfPlanes() {
    peersOfPlane = new int[keys.size()];
    for (AdjRibIn peer : peers) {
      for (int plane = 0; plane < peersOfPlane.length; plane++) {
        String only = peer.planeKey();
        if (only == null || only.equals(keys.get(plane))) {
          peersOfPlane[plane]++;
        }
      }
    }
  }

  /** Removes a peer and its routes. The peer's plane stays. */
  public void removePeer(AdjRibIn peer) {
    peer.clear();
    peers.remove(peer);
    countPeersOfPlanes();
    flush();
    peer.close();
  }

  /**
   * Sets the rules by which readers compute weights, and the options by which cells are computed.
   */
  public void setRules(WeightRules rules, RibOptions next) {
    flush();
    restoreIfTruncated();
    publisher.setRules(rules);
    if (!next.equals(options)) {
      options = next;
      peers.forEach(AdjRibIn::recomputeAllCells);
    }
  }

  public List<AdjRibIn> peers() {
    return List.copyOf(peers);
  }

  RibOptions options() {
    return options;
  }

  /**
   * Returns the number of the plane with this key; NO_PLANE if the plane is new and can't be
   * published. A new plane gets the next number.
   */
  int plane(String key, String via) {
    Integer known = planes.get(key);
    if (known != null) {
      return known;
    }
    flush();
    restoreIfTruncated();
    int number;
    try {
      number = publisher.setPlane(new PublishedPlane(key, null, 0, via));
    } catch (HeddleException failure) {
      log.warn("plane %s isn't published: %s", key, String.valueOf(failure.getMessage()));
      return AttributeTable.NO_PLANE;
    }
    planes.put(key, number);
    keys.add(key);
    countPeersOfPlanes();
    return number;
  }

  String planeKey(int number) {
    return keys.get(number);
  }

  /** Sets this host's address on a plane, and the rate of the local port. */
  public void setSource(String key, @Nullable InetAddress source, long rateMbps, String via) {
    if (plane(key, via) != AttributeTable.NO_PLANE) {
      flush();
      restoreIfTruncated();
      publisher.setPlane(new PublishedPlane(key, source, rateMbps, via));
    }
  }

  public List<PublishedPlane> planes() {
    return publisher.planes();
  }

  /** Handles a change of a route of this prefix on this plane. */
  void changed(long high, long low, int length, int plane) {
    changed(high, low, length, plane, UNKNOWN);
  }

  /**
   * Handles a change of a route.
   *
   * @param only new cell of the caller's route, used if no other peer may have routes of that
   *     plane; UNKNOWN to look up the best route
   */
  void changed(long high, long low, int length, int plane, int only) {
    changes++;
    if (plane == AttributeTable.NO_PLANE || incomplete || frozen) {
      return;
    }
    try {
      begin();
      int cell =
          only != UNKNOWN && peersOfPlane[plane] == 1 ? only : bestCell(high, low, length, plane);
      publisher.set(high, low, length, plane, cell);
    } catch (HeddleException full) {
      stopPublishing(full);
    }
  }

  private void stopPublishing(HeddleException full) {
    incomplete = true;
    String why = String.valueOf(full.getMessage());
    if (!why.equals(loggedReason)) {
      loggedReason = why;
      log.warn("routes aren't published any more, readers keep what they have: %s", why);
    }
  }

  private int bestCell(long high, long low, int length, int plane) {
    int best = RouteCell.EMPTY;
    PathAttributes bestSet = PathAttributes.EMPTY;
    for (int i = 0; i < peers.size(); i++) {
      AdjRibIn peer = peers.get(i);
      String key = peer.planeKey();
      if (key != null && !key.equals(keys.get(plane))) {
        continue;
      }
      int number = peer.numberAt(high, low, length, plane);
      if (number == RouteTable.NONE) {
        continue;
      }
      int cell = peer.cell(number);
      PathAttributes set = peer.attributes(number);
      if (best == RouteCell.EMPTY || CellPolicy.isBetter(set, cell, bestSet, best)) {
        best = cell;
        bestSet = set;
      }
    }
    return best;
  }

  private void begin() {
    if (!publishing) {
      boolean cut = publisher.isTruncated();
      if (cut) {
        log.warn(
            "another process has truncated the routes file %s: creating it again",
            publisher.path());
        publisher.renew();
      }
      publisher.begin();
      publishing = true;
      if (cut) {
        peers.forEach(AdjRibIn::republish);
      }
    }
  }

  /**
   * Creates the routes file again if another process has truncated it. The daemon calls this
   * periodically, since a truncation is noticed otherwise only when a route changes.
   */
  public void restoreIfTruncated() {
    try {
      if (!publishing && !incomplete && publisher.isTruncated()) {
        begin();
        flush();
      }
    } catch (HeddleException full) {
      stopPublishing(full);
    }
  }

  /** Publishes changes to readers at the end of this round of the speaker's event loop. */
  void publishSoon() {
    if (publishing && !flushPlanned) {
      flushPlanned = true;
      later.execute(this::runPlannedFlush);
    }
  }

  private void runPlannedFlush() {
    flushPlanned = false;
    flush();
  }

  /** Publishes changes to readers now. */
  public void flush() {
    if (publishing) {
      publishing = false;
      publisher.commit();
    }
  }

  /**
   * Freezes the routes file before the daemon ends its sessions: their end says nothing about the
   * planes.
   */
  public void freeze() {
    flush();
    frozen = true;
  }

  /** Returns the number of route changes since the start. */
  public long changes() {
    return changes;
  }

  /* Returns the number of distinct prefixes of all peers. */
  private int prefixes() {
    int count = 0;
    for (int i = 0; i < peers.size(); i++) {
      count += peers.get(i).countRoutesMissingFrom(peers.subList(0, i));
    }
    return count;
  }

  /** Returns whether a full disk prevents routes from being published. */
  public boolean isIncomplete() {
    return incomplete;
  }

  /** Tries again to publish all routes. Called periodically while {@link #isIncomplete}. */
  public void retry() {
    if (incomplete) {
      incomplete = false;
      try {
        begin();
        /*
         * Reserves the space before routes are removed, so that readers keep their routes if the
         * disk is still full.
         */
        publisher.reserve(prefixes());
        publisher.clear();
      } catch (HeddleException full) {
        stopPublishing(full);
        flush();
        return;
      }
      for (AdjRibIn peer : peers) {
        peer.republish();
      }
      flush();
      if (!incomplete) {
        loggedReason = "";
        log.info("routes are published again, %d prefixes", publisher.entries());
      }
    }
  }

  /**
   * Returns the routes by which each plane reaches a destination: each peer's longest match. A
   * plane uses its first route in the list.
   */
  public List<Route> explain(Prefix destination) {
    List<Route> found = new ArrayList<>();
    for (int plane = 0; plane < keys.size(); plane++) {
      List<Route> ofPlane = new ArrayList<>();
      for (AdjRibIn peer : peers) {
        Route route = peer.longestMatch(destination, plane);
        if (route != null) {
          ofPlane.add(route);
        }
      }
      ofPlane.sort((a, b) ->
          a.prefix().length() != b.prefix().length()
              ? b.prefix().length() - a.prefix().length()
              : CellPolicy.isBetter(a.attributes(), a.cell(), b.attributes(), b.cell()) ? -1 : 1);
      found.addAll(ofPlane);
    }
    return found;
  }

  /**
   * Returns the key of the plane to which one of this host's addresses belongs. Of the coloured
   * routes that cover the address, the one with the longest prefix determines the plane. Null if
   * only default routes or no coloured routes cover it.
   */
  public @Nullable String planeOf(InetAddress address) {
    Route longest = null;
    Prefix host = Prefix.host(address);
    for (int plane = 0; plane < keys.size(); plane++) {
      for (AdjRibIn peer : peers) {
        Route route = peer.planeKey() == null ? peer.longestMatch(host, plane) : null;
        if (route != null
            && !route.plane().isEmpty()
            && (longest == null || route.prefix().length() > longest.prefix().length())) {
          longest = route;
        }
      }
    }
    return longest == null || longest.prefix().shownLength() == 0 ? null : longest.plane();
  }

  /** Frees the memory of the peers' routes; no method may be called afterwards. */
  @Override
  public void close() {
    peers.forEach(AdjRibIn::close);
    peers.clear();
  }
}
