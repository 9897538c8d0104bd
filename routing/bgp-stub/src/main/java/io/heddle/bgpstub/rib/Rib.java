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
 * Routes of all peers, and the routes file that follows them. A change enters the file at once;
 * readers see it together with all other changes of the same round of the speaker's event loop.
 */
public final class Rib implements AutoCloseable {
  /** Value that is no plane's cell. */
  static final int UNKNOWN = RouteCell.borrowed(RouteCell.EMPTY);

  private static final String COLOUR_PREFIX = "colour:";

  private final RouteTarget publisher;
  private RibOptions options;
  private final Executor later;
  private final Log log;
  private final List<AdjRibIn> peers = new ArrayList<>();
  private final Map<String, Integer> planes = new HashMap<>();
  private final List<String> keys = new ArrayList<>();
  /* Number of peers that define a plane, by its number. */
  private int[] peersOfPlane = {};
  private boolean publishing;
  private boolean flushPlanned;
  private boolean incomplete;
  /*
   * Last logged reason why publishing stopped: repeated attempts with the same failure log nothing.
   */
  private String loggedReason = "";
  private boolean frozen;
  private long changes;

  /**
   * @param publisher the routes file, or its substitute
   * @param later runs a task on the speaker's thread after the present one
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
   * @param planeKey the plane of all its routes; null to use each route's colour
   * @param rateMbps of the local port; 0 if unknown
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

  /** Removes a peer and its routes. Its plane stays. */
  public void removePeer(AdjRibIn peer) {
    peer.clear();
    peers.remove(peer);
    countPeersOfPlanes();
    flush();
    peer.close();
  }

  /** Sets the rules by which readers weigh and routes are evaluated. */
  public void setRules(WeightRules rules, RibOptions next) {
    flush();
    restoreIfCut();
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

  /** Returns the number of the plane with this key; a new plane gets the next number. */
  int plane(String key, String via) {
    Integer known = planes.get(key);
    if (known != null) {
      return known;
    }
    flush();
    restoreIfCut();
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

  /** Sets this host's address on a plane, and its port's rate. */
  public void setSource(String key, @Nullable InetAddress source, long rateMbps, String via) {
    if (plane(key, via) != AttributeTable.NO_PLANE) {
      flush();
      restoreIfCut();
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
   * @param only the caller's new cell, used if no other peer defines that plane; UNKNOWN to look up
   *     the best one
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
   * Creates the routes file again if another process has truncated it. Call it periodically,
   * because routes may not change for long.
   */
  public void restoreIfCut() {
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
   * Freezes the file: we are about to end sessions ourselves, which says nothing about the planes.
   */
  public void freeze() {
    flush();
    frozen = true;
  }

  /** Returns the number of route changes. */
  public long changes() {
    return changes;
  }

  /* Returns the number of prefixes, summed over all peers. */
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

  /** Tries again to publish everything; call it periodically while {@link #isIncomplete}. */
  public void retry() {
    if (incomplete) {
      incomplete = false;
      try {
        begin();
        /* Nothing is withdrawn before: readers keep their routes until the new set is complete. */
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
   * Returns the routes by which each plane reaches a destination, by longest match per plane; the
   * first route of a plane counts.
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
   * Returns the plane of an own address, by the colour of the longest route that covers it; null if
   * no coloured route does.
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

  /** Frees the peers' memory; call it last. */
  @Override
  public void close() {
    peers.forEach(AdjRibIn::close);
    peers.clear();
  }
}
