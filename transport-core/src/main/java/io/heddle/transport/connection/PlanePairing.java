package io.heddle.transport.connection;

import io.heddle.addr.AddressText;
import io.heddle.addr.PlaneMarks;
import io.heddle.addr.PlaneMatching;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.transport.control.ControlMessage.PlaneList;
import io.heddle.transport.control.ControlMessage.PlaneOffer;
import io.heddle.transport.control.NamespaceId;
import io.heddle.transport.device.LocalPlane;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Pairing of this end's planes with the peer's, by {@link PlaneMatching}, and its log lines.
 *
 * @param pairs paired planes, in order of their names
 * @param renamed sentences about planes whose key at the peer differs from the key here
 * @param leftOut planes that only one end has, with their marks
 * @param addressesOnBoth planes of this end whose address the other host has, too
 * @param daemonOnOneEnd end whose route daemon named paired planes while the other end's daemon
 *     didn't; empty if there is none
 * @param here all planes of this end
 * @param there all planes of the other end
 */
record PlanePairing(
    List<Pair> pairs,
    List<String> renamed,
    List<String> leftOut,
    List<String> addressesOnBoth,
    String daemonOnOneEnd,
    List<PlaneMarks> here,
    List<PlaneMarks> there) {
  /**
   * Plane that both ends have.
   *
   * @param name name of the plane at both ends
   */
  record Pair(String name, LocalPlane mine, PlaneOffer theirs) {}

  static PlanePairing of(List<LocalPlane> mine, PlaneList remote) {
    List<PlaneOffer> theirs = remote.planes();
    List<PlaneMarks> here = mine.stream().map(LocalPlane::marks).toList();
    List<PlaneMarks> there = theirs.stream().map(PlaneOffer::marks).toList();
    PlaneMatching matching =
        PlaneMatching.of(here, there, NamespaceId.isOneHost(NamespaceId.ID, remote.namespace()));
    List<Pair> pairs = new ArrayList<>();
    List<String> renamed = new ArrayList<>();
    String oneDaemon = "";
    for (PlaneMatching.Match match : matching.matches()) {
      LocalPlane own = mine.get(match.here());
      PlaneOffer other = theirs.get(match.there());
      pairs.add(new Pair(match.name(), own, other));
      if (!own.key().equals(other.key())) {
        renamed.add("%s is %s there (by %s)".formatted(own.key(), other.key(), match.by().text()));
        PlaneMarks ownMarks = here.get(match.here());
        PlaneMarks otherMarks = there.get(match.there());
        if (ownMarks.isNamedByDaemon() != otherMarks.isNamedByDaemon()) {
          oneDaemon = ownMarks.isNamedByDaemon() ? "this host's daemon" : "the peer's daemon";
        }
      }
    }
    List<String> leftOut = new ArrayList<>();
    matching.unmatchedHere().forEach(plane -> leftOut.add(here.get(plane) + " here only"));
    matching.unmatchedThere().forEach(plane -> leftOut.add(there.get(plane) + " there only"));
    List<String> onBoth =
        here.stream()
            .filter(each -> matching.addressesOnBoth().contains(each.address()))
            .map(each -> each.key() + " on " + AddressText.of(each.address()))
            .toList();
    return new PlanePairing(
        List.copyOf(pairs),
        List.copyOf(renamed),
        List.copyOf(leftOut),
        onBoth,
        oneDaemon,
        here,
        there);
  }

  /**
   * Checks that the peer's planes have different addresses.
   *
   * @throws HeddleException when two planes of the peer have the same address, and so are really
   *     one
   */
  static void requireDistinctAddresses(String peer, List<PlaneOffer> theirs) {
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

  /** Logs unused planes, and planes that the peer knows by another name. */
  void logDifferences(String peer, Log log) {
    if (!leftOut.isEmpty()
        || !addressesOnBoth.isEmpty()
        || daemonOnOneEnd.isEmpty() && !renamed.isEmpty()) {
      log.info(
          "connection with %s uses planes %s%s%s%s",
          peer,
          pairs.stream().map(pair -> pair.mine().key()).toList(),
          renamed.isEmpty() ? "" : "; " + String.join(", ", renamed),
          leftOut.isEmpty() ? "" : "; left out: " + String.join(", ", leftOut),
          sharedAddresses());
    }
    if (!daemonOnOneEnd.isEmpty()) {
      log.warn(
          "connection with %s: planes have other keys there, since only %s had named them when its"
              + " job began: %s; run a daemon on both for weights both ways",
          peer, daemonOnOneEnd, String.join(", ", renamed));
    }
  }

  /** Returns the reason why no plane matches, and what to do. */
  String describeMismatch(String peer) {
    boolean daemonHere = here.stream().anyMatch(PlaneMarks::isNamedByDaemon);
    boolean daemonThere = there.stream().anyMatch(PlaneMarks::isNamedByDaemon);
    boolean configured =
        here.stream().anyMatch(PlaneMarks::isConfigured)
            && there.stream().anyMatch(PlaneMarks::isConfigured);
    String what =
        daemonHere && daemonThere
            ? "the route daemons of both ends name different planes: compare heddle bgp show"
                + " neighbours on both"
            : configured
                ? "HEDDLE_PLANES has to name a plane alike on both ends"
                : daemonHere || daemonThere
                    ? "only %s a route daemon names the planes, and nothing else agrees either: run"
                            .formatted(daemonHere ? "here" : "there")
                        + " one on both ends, or give the planes common names with HEDDLE_PLANES"
                        + " on both"
                    : "neither prefix, network, key, low bits nor interface agrees for one plane"
                        + " alone: see heddle planes on both, and give the planes common names"
                        + " with HEDDLE_PLANES, or run a route daemon, on both ends";
    return "no plane is common with %s: here %s, there %s%s; %s"
        .formatted(peer, here, there, sharedAddresses(), what);
  }

  private String sharedAddresses() {
    return addressesOnBoth.isEmpty()
        ? ""
        : "; no planes, since both hosts have their addresses: "
            + String.join(", ", addressesOnBoth);
  }
}
