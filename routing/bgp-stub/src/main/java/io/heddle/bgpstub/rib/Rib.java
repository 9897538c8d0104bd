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
 * All peers' routes, and the routes file that follows them. A change is put into the file at once
 * and shown to readers together with whatever else came in the same turn of the speaker's thread.
 */
public final class Rib implements AutoCloseable {
  /** No cell that a plane has. */
  static final int UNKNOWN = RouteCell.borrowed(RouteCell.EMPTY);

  private static final String COLOUR_PREFIX = "colour:";

  private final RouteTarget publisher;
  private RibOptions options;
  private final Executor later;
  private final Log log;
  private final List<AdjRibIn> peers = new ArrayList<>();
  private final Map<String, Integer> planes = new HashMap<>();
  private final List<String> keys = new ArrayList<>();
  /* How many peers may tell of a plane, by its number. */
  private int[] tellers = {};
  private boolean publishing;
  private boolean flushPlanned;
  private boolean incomplete;
  /* Why nothing is published any more, as it was said last: tries that fail alike say nothing. */
  private String told = "";
  private boolean frozen;
  private long changes;

  /**
   * @param publisher the routes file, or what stands for it
   * @param later runs something on the speaker's thread after what it is doing
   */
  public Rib(RouteTarget publisher, RibOptions options, Executor later, Log log) {
    this.publisher = publisher;
    this.options = options;
    this.later = later;
    this.log = log;
  }

  /** Key of the plane that a colour stands for. */
  public static String colourKey(long colour) {
    return COLOUR_PREFIX + colour;
  }

  public static boolean isColourKey(String key) {
    return key.startsWith(COLOUR_PREFIX);
  }

  /**
   * Adds a peer.
   *
   * @param planeKey the plane of all its routes; null to take each route's colour
   * @param rateMbps of the local port; 0 where it isn't known
   */
  public AdjRibIn addPeer(String name, @Nullable String planeKey, long rateMbps) {
    AdjRibIn peer = new AdjRibIn(this, name, planeKey, rateMbps);
    peers.add(peer);
    if (planeKey != null) {
      plane(planeKey, name);
    }
    countTellers();
    return peer;
  }

  private void countTellers() {
    tellers = new int[keys.size()];
    for (AdjRibIn peer : peers) {
      for (int plane = 0; plane < tellers.length; plane++) {
        String only = peer.planeKey();
        if (only == null || only.equals(keys.get(plane))) {
          tellers[plane]++;
        }
      }
    }
  }

  /** What a peer has told counts no more, and nothing is heard of it again. Its plane stays. */
  public void removePeer(AdjRibIn peer) {
    peer.clear();
    peers.remove(peer);
    countTellers();
    flush();
    peer.close();
  }

  /** How readers weigh, and how figures are read, from now on. */
  public void setRules(WeightRules rules, RibOptions next) {
    flush();
    keepWhole();
    publisher.setRules(rules);
    if (!next.equals(options)) {
      options = next;
      peers.forEach(AdjRibIn::revalueAll);
    }
  }

  public List<AdjRibIn> peers() {
    return List.copyOf(peers);
  }

  RibOptions options() {
    return options;
  }

  /** Number of a plane, which is new or known. */
  int plane(String key, String via) {
    Integer known = planes.get(key);
    if (known != null) {
      return known;
    }
    flush();
    keepWhole();
    int number;
    try {
      number = publisher.setPlane(new PublishedPlane(key, null, 0, via));
    } catch (HeddleException failure) {
      log.warn("plane %s isn't published: %s", key, String.valueOf(failure.getMessage()));
      return AttributeTable.NO_PLANE;
    }
    planes.put(key, number);
    keys.add(key);
    countTellers();
    return number;
  }

  String planeKey(int number) {
    return keys.get(number);
  }

  /** This host's address on a plane, and the rate of its port, may be others now. */
  public void setSource(String key, @Nullable InetAddress source, long rateMbps, String via) {
    if (plane(key, via) != AttributeTable.NO_PLANE) {
      flush();
      keepWhole();
      publisher.setPlane(new PublishedPlane(key, source, rateMbps, via));
    }
  }

  public List<PublishedPlane> planes() {
    return publisher.planes();
  }

  /** A route of this prefix on this plane came, went, or counts otherwise now. */
  void changed(long high, long low, int length, int plane) {
    changed(high, low, length, plane, UNKNOWN);
  }

  /**
   * @param only what the caller has there now, for where no other peer tells of that plane; UNKNOWN
   *     to look for it
   */
  void changed(long high, long low, int length, int plane, int only) {
    changes++;
    if (plane == AttributeTable.NO_PLANE || incomplete || frozen) {
      return;
    }
    try {
      begin();
      int cell = only != UNKNOWN && tellers[plane] == 1 ? only : bestCell(high, low, length, plane);
      publisher.set(high, low, length, plane, cell);
    } catch (HeddleException full) {
      giveUp(full);
    }
  }

  private void giveUp(HeddleException full) {
    incomplete = true;
    String why = String.valueOf(full.getMessage());
    if (!why.equals(told)) {
      told = why;
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
      boolean cut = publisher.isCut();
      if (cut) {
        log.warn(
            "another process has cut the routes file %s short: making it anew", publisher.path());
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
   * Makes the routes file anew where another process has cut it short; to be called now and then,
   * since nothing may change for long.
   */
  public void keepWhole() {
    try {
      if (!publishing && !incomplete && publisher.isCut()) {
        begin();
        flush();
      }
    } catch (HeddleException full) {
      giveUp(full);
    }
  }

  /** Shows what has changed once the speaker's thread is through with what it is doing. */
  void publishSoon() {
    if (publishing && !flushPlanned) {
      flushPlanned = true;
      later.execute(this::plannedFlush);
    }
  }

  private void plannedFlush() {
    flushPlanned = false;
    flush();
  }

  /** Shows what has changed now. */
  public void flush() {
    if (publishing) {
      publishing = false;
      publisher.commit();
    }
  }

  /**
   * From now on the file stays as it is: sessions are about to be ended by us, which says nothing
   * about the planes.
   */
  public void freeze() {
    flush();
    frozen = true;
  }

  /** How often a route came, went, or came to count otherwise. */
  public long changes() {
    return changes;
  }

  /* That any peer has told of. */
  private int prefixes() {
    int count = 0;
    for (int i = 0; i < peers.size(); i++) {
      count += peers.get(i).routesBeyond(peers.subList(0, i));
    }
    return count;
  }

  /** Whether a full disk keeps routes from being published. */
  public boolean isIncomplete() {
    return incomplete;
  }

  /** Tries again to publish everything; to be called now and then while {@link #isIncomplete}. */
  public void retry() {
    if (incomplete) {
      incomplete = false;
      try {
        begin();
        /* Before anything is taken back: readers keep what they have until all of it comes. */
        publisher.reserve(prefixes());
        publisher.clear();
      } catch (HeddleException full) {
        giveUp(full);
        flush();
        return;
      }
      for (AdjRibIn peer : peers) {
        peer.republish();
      }
      flush();
      if (!incomplete) {
        told = "";
        log.info("routes are published again, %d prefixes", publisher.entries());
      }
    }
  }

  /**
   * The routes by which each plane reaches a destination, longest match plane by plane; the first
   * of a plane is the one that counts.
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
   * The plane of an own address, by the colour of the longest route that covers it; null where no
   * coloured route does.
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

  /** Gives the peers' memory back, after everything else. */
  @Override
  public void close() {
    peers.forEach(AdjRibIn::close);
    peers.clear();
  }
}
