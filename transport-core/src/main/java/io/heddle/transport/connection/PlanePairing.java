package io.heddle.transport.connection;

import io.heddle.addr.Plane;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.device.LocalPlane;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which of our planes is which of the peer's. Both ends come to the same result.
 *
 * <p>Keys decide. A plane that a route daemon has named on one end only pairs by the name that it
 * has there without a daemon: one host of a job may be without one, or its daemon may have started
 * later than the job. Two daemons that name a plane differently mean different planes.
 *
 * @param pairs in order of their names
 * @param leftOut planes that only one end has, for the log
 * @param byOwnNames a sentence about pairs that have another key there than here; empty without
 */
record PlanePairing(List<Pair> pairs, List<String> leftOut, String byOwnNames) {
  /**
   * A plane as both ends have it.
   *
   * @param name what both call the pair
   */
  record Pair(String name, LocalPlane mine, PlaneOffer theirs) {}

  static PlanePairing of(List<LocalPlane> mine, List<PlaneOffer> theirs) {
    List<LocalPlane> here = new ArrayList<>(mine);
    List<PlaneOffer> there = new ArrayList<>(theirs);
    List<Pair> pairs = new ArrayList<>();
    for (LocalPlane plane : mine) {
      for (PlaneOffer offer : theirs) {
        if (plane.key().equals(offer.key())) {
          pair(plane.key(), plane, offer, here, there, pairs);
        }
      }
    }
    List<String> renamed = new ArrayList<>();
    for (LocalPlane plane : List.copyOf(here)) {
      for (PlaneOffer offer : List.copyOf(there)) {
        boolean toldByBoth = isTold(plane) && isTold(offer);
        if (!toldByBoth && plane.ownKey().equals(offer.ownKey()) && here.contains(plane)) {
          pair(plane.ownKey(), plane, offer, here, there, pairs);
          renamed.add(plane.key() + " is " + offer.key() + " there");
        }
      }
    }
    pairs.sort(Comparator.comparing(Pair::name, Plane.KEY_ORDER));
    List<String> leftOut = new ArrayList<>();
    here.forEach(plane -> leftOut.add(plane.key() + " (here only)"));
    there.forEach(offer -> leftOut.add(offer.key() + " (there only)"));
    boolean daemonHere = mine.stream().anyMatch(PlanePairing::isTold);
    return new PlanePairing(
        List.copyOf(pairs),
        List.copyOf(leftOut),
        renamed.isEmpty()
            ? ""
            : "planes are paired by the names that they have without a route daemon, since only %s"
                    .formatted(daemonHere ? "this host's daemon" : "the peer's daemon")
                + " had named them when its job began: "
                + String.join(", ", renamed)
                + "; run a daemon on both for weights both ways");
  }

  /**
   * @throws HeddleException when two planes of the peer have the same address: they would be one
   */
  static void requireAddressesOfTheirOwn(String peer, List<PlaneOffer> theirs) {
    Map<Gid, String> keys = new HashMap<>();
    for (PlaneOffer offer : theirs) {
      String other = keys.putIfAbsent(offer.gid(), offer.key());
      if (other != null) {
        throw new HeddleException(
            "%s has planes %s and %s both on address %s; give each plane an address of its own"
                .formatted(peer, other, offer.key(), offer.gid()));
      }
    }
  }

  private static void pair(
      String name,
      LocalPlane mine,
      PlaneOffer theirs,
      List<LocalPlane> here,
      List<PlaneOffer> there,
      List<Pair> pairs) {
    if (here.remove(mine) && there.remove(theirs)) {
      pairs.add(new Pair(name, mine, theirs));
    }
  }

  private static boolean isTold(LocalPlane plane) {
    return !plane.key().equals(plane.ownKey());
  }

  private static boolean isTold(PlaneOffer offer) {
    return !offer.key().equals(offer.ownKey());
  }

  /** Tells of planes that aren't used, and of those with another name there. */
  void tell(String peer, Log log) {
    if (!leftOut.isEmpty()) {
      log.info(
          "connection with %s uses planes %s; left out: %s",
          peer, pairs.stream().map(pair -> pair.mine().key()).toList(), String.join(", ", leftOut));
    }
    if (!byOwnNames.isEmpty()) {
      log.warn("connection with %s: %s", peer, byOwnNames);
    }
  }

  /** Why there is no pair, and what to do. */
  String refusal(String peer, List<LocalPlane> mine, List<PlaneOffer> theirs) {
    boolean daemonHere = mine.stream().anyMatch(PlanePairing::isTold);
    boolean daemonThere = theirs.stream().anyMatch(PlanePairing::isTold);
    String what =
        daemonHere && daemonThere
            ? "the route daemons of both ends name different planes: compare heddle bgp show"
                + " neighbours on both"
            : daemonHere || daemonThere
                ? "only %s a route daemon names the planes, and without it they have no common name"
                        .formatted(daemonHere ? "here" : "there")
                    + " either: run one on both ends, or give the planes common names with"
                    + " HEDDLE_PLANES on both"
                : "give them common names with HEDDLE_PLANES on both ends, or run a route daemon on"
                    + " both";
    return "no plane is common with %s: here %s, there %s; %s"
        .formatted(
            peer,
            mine.stream().map(plane -> named(plane.key(), plane.ownKey())).toList(),
            theirs.stream().map(offer -> named(offer.key(), offer.ownKey())).toList(),
            what);
  }

  private static String named(String key, String ownKey) {
    return key.equals(ownKey) ? key : key + " (else " + ownKey + ")";
  }
}
