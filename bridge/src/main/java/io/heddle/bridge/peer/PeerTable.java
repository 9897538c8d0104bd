package io.heddle.bridge.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Table of the other bridges. A bridge stays in it even when silent: its addresses remain known,
 * and replayed beacons remain detectable.
 */
public final class PeerTable {
  private final int self;
  private final long incarnation;
  private final Map<Integer, BridgePeer> peers = new TreeMap<>();

  /**
   * @param self this bridge's number
   * @param incarnation this bridge's incarnation
   */
  public PeerTable(int self, long incarnation) {
    this.self = self;
    this.incarnation = incarnation;
  }

  /**
   * Receives a beacon.
   *
   * @param side fabric that the beacon came from, 0 for a
   * @return reason for the beacon's rejection; null if it is accepted
   */
  public @Nullable BeaconFault receive(Beacon beacon, int side, long nowNs) {
    Beacon.Origin origin = beacon.origin();
    if (origin.id() == self) {
      return origin.incarnation() == incarnation ? BeaconFault.OWN : BeaconFault.SAME_ID;
    }
    if (origin.side() != side) {
      return BeaconFault.OTHER_FABRIC;
    }
    BridgePeer peer = peers.get(origin.id());
    if (peer == null) {
      if (peers.size() >= Beacon.MOST_PEERS) {
        return BeaconFault.TOO_MANY_BRIDGES;
      }
      peer = new BridgePeer(beacon);
      peers.put(origin.id(), peer);
    }
    return peer.receive(beacon, side, nowNs);
  }

  /** Returns all bridges ever received, by number. */
  public List<BridgePeer> all() {
    return List.copyOf(peers.values());
  }

  /** Returns the live bridges. */
  public List<BridgePeer> alive(long nowNs) {
    return peers.values().stream().filter(each -> each.isAlive(nowNs)).toList();
  }

  /** Returns the bridge with this number; null if none was received. */
  public @Nullable BridgePeer find(int id) {
    return peers.get(id);
  }

  /** Returns how the fabrics on which bridges are received have changed since the last call. */
  public List<PeerChange> takeChanges(long nowNs) {
    List<PeerChange> changes = new ArrayList<>();
    for (BridgePeer each : peers.values()) {
      PeerChange change = each.takeChange(nowNs);
      if (change != null) {
        changes.add(change);
      }
    }
    return changes;
  }

  /**
   * Returns the time when the next hold time of a bridge ends unless a beacon arrives first; {@link
   * Long#MAX_VALUE} for none.
   */
  public long nextSilenceNs(long nowNs) {
    long next = Long.MAX_VALUE;
    for (BridgePeer each : peers.values()) {
      long at = each.silentAtNs(nowNs);
      if (at != Long.MAX_VALUE && (next == Long.MAX_VALUE || at - next < 0)) {
        next = at;
      }
    }
    return next;
  }

  /** Returns the acknowledgements of the live bridges' changes, for this bridge's beacons. */
  public List<Beacon.Heard> heard(long nowNs) {
    return alive(nowNs).stream()
        .map(BridgePeer::newest)
        .map(each ->
            new Beacon.Heard(
                each.origin().id(), each.origin().incarnation(), each.agreement().change()))
        .toList();
  }
}
