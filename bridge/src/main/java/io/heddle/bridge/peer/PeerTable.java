package io.heddle.bridge.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The other bridges. A bridge that was heard once stays, silent or not: so its addresses remain
 * known, and what was said before isn't taken again.
 */
public final class PeerTable {
  private final int self;
  private final long incarnation;
  private final Map<Integer, HeardBridge> peers = new TreeMap<>();

  /**
   * @param self the own number
   * @param incarnation the own one
   */
  public PeerTable(int self, long incarnation) {
    this.self = self;
    this.incarnation = incarnation;
  }

  /**
   * Takes a beacon.
   *
   * @param side the fabric that it came from
   * @return why it isn't taken; null where it is
   */
  public @Nullable BeaconFault hear(Beacon beacon, int side, long nowNs) {
    Beacon.Origin origin = beacon.origin();
    if (origin.id() == self) {
      return origin.incarnation() == incarnation ? BeaconFault.OWN : BeaconFault.SAME_ID;
    }
    if (origin.side() != side) {
      return BeaconFault.OTHER_FABRIC;
    }
    HeardBridge peer = peers.get(origin.id());
    if (peer == null) {
      if (peers.size() >= Beacon.MOST_PEERS) {
        return BeaconFault.TOO_MANY_BRIDGES;
      }
      peer = new HeardBridge(beacon);
      peers.put(origin.id(), peer);
    }
    return peer.hear(beacon, side, nowNs);
  }

  /** All that were heard ever, by number. */
  public List<HeardBridge> all() {
    return List.copyOf(peers.values());
  }

  /** Those that are there. */
  public List<HeardBridge> alive(long nowNs) {
    return peers.values().stream().filter(each -> each.isAlive(nowNs)).toList();
  }

  /** The one of this number; null where none was heard. */
  public @Nullable HeardBridge find(int id) {
    return peers.get(id);
  }

  /** What has changed since the last call. */
  public List<PeerChange> look(long nowNs) {
    List<PeerChange> changes = new ArrayList<>();
    for (HeardBridge each : peers.values()) {
      PeerChange change = each.look(nowNs);
      if (change != null) {
        changes.add(change);
      }
    }
    return changes;
  }

  /** When the next one falls silent, unless it is heard before; {@link Long#MAX_VALUE} for none. */
  public long nextSilenceNs(long nowNs) {
    long next = Long.MAX_VALUE;
    for (HeardBridge each : peers.values()) {
      long at = each.silentAtNs(nowNs);
      if (at != Long.MAX_VALUE && (next == Long.MAX_VALUE || at - next < 0)) {
        next = at;
      }
    }
    return next;
  }

  /** What a beacon says that this bridge has heard. */
  public List<Beacon.Heard> heard(long nowNs) {
    return alive(nowNs).stream()
        .map(HeardBridge::newest)
        .map(each ->
            new Beacon.Heard(
                each.origin().id(), each.origin().incarnation(), each.agreement().change()))
        .toList();
  }
}
