package io.heddle.bridge.status;

import io.heddle.bridge.peer.Beacon;
import io.heddle.bridge.peer.BeaconFault;
import io.heddle.bridge.peer.BridgePeer;
import io.heddle.bridge.peer.PeerProtocol;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Map;

/**
 * Writer of this bridge's and the other bridges' redundancy state into the status file. Used by the
 * thread that receives beacons.
 */
public final class PeerStatusWriter {
  private static final long NS_PER_MS = 1_000_000;

  private final long file;
  private final int id;

  PeerStatusWriter(long file, int id) {
    this.file = file;
    this.id = id;
  }

  /**
   * Writes the current state.
   *
   * @param faults number of rejected beacons for each reason
   */
  public void write(PeerProtocol protocol, Map<BeaconFault, Long> faults, long nowNs) {
    long self = file + StatusLayout.PEERS_AT;
    List<BridgePeer> peers = protocol.table().all();
    for (int i = 0; i < peers.size(); i++) {
      write(self + (i + 1L) * StatusLayout.PEER_BYTES, peers.get(i), protocol, nowNs);
    }
    Memory.setInt(self + StatusLayout.PEER_STATE, protocol.state().ordinal());
    int flags =
        flag(protocol.isReserve(), StatusLayout.PEER_RESERVE)
            | flag(protocol.isSettled(), StatusLayout.PEER_AGREES)
            | protocol.linksUp() << StatusLayout.PEER_UP_SHIFT;
    Memory.setInt(self + StatusLayout.PEER_FLAGS, flags);
    Memory.setInt(self + StatusLayout.PEER_OWNED, protocol.owned());
    Memory.setInt(self + StatusLayout.PEER_COUNT, peers.size());
    faults.forEach((fault, count) ->
        Memory.setInt(
            file + StatusLayout.BEACON_FAULTS_AT + (long) fault.ordinal() * Integer.BYTES,
            (int) Math.min(count, 0xffff_ffffL)));
    Memory.setIntRelease(self, id);
  }

  private static int flag(boolean is, int flag) {
    return is ? flag : 0;
  }

  private static void write(long at, BridgePeer peer, PeerProtocol protocol, long nowNs) {
    Beacon newest = peer.newest();
    Beacon.Standing standing = newest.standing();
    boolean alive = peer.isAlive(nowNs);
    int flags =
        peer.receivedOn(nowNs)
            | standing.fabricsUp() << StatusLayout.PEER_UP_SHIFT
            | flag(standing.reserve(), StatusLayout.PEER_RESERVE)
            | flag(alive && protocol.agrees(peer), StatusLayout.PEER_AGREES)
            | flag(protocol.isConfiguredAlike(peer), StatusLayout.PEER_ALIKE)
            | flag(standing.leaving(), StatusLayout.PEER_ENDED);
    Gid address = newest.addresses().isEmpty() ? new Gid(0, 0) : newest.addresses().getFirst();
    Memory.setInt(at, peer.id());
    Memory.setInt(at + StatusLayout.PEER_STATE, standing.state().ordinal());
    Memory.setInt(at + StatusLayout.PEER_FLAGS, flags);
    Memory.setInt(at + StatusLayout.PEER_PRIORITY, standing.priority());
    Memory.setInt(at + StatusLayout.PEER_WEIGHT, standing.weight());
    Memory.setLong(at + StatusLayout.PEER_SILENT_MS, peer.sinceNs(nowNs) / NS_PER_MS);
    Memory.setLong(at + StatusLayout.PEER_ADDRESS, address.high());
    Memory.setLong(at + StatusLayout.PEER_ADDRESS + Long.BYTES, address.low());
  }
}
