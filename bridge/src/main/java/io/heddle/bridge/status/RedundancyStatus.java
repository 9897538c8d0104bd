package io.heddle.bridge.status;

import io.heddle.bridge.peer.BeaconFault;
import io.heddle.bridge.peer.BridgeState;
import io.heddle.platform.Memory;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * State of one of several redundant bridges.
 *
 * @param bridgeId number of this bridge
 * @param state starting, standby, active or draining
 * @param reserve whether this bridge owns nothing while another bridge can
 * @param fabricsUp names of the fabrics whose link is up
 * @param owned number of groups that this bridge owns
 * @param settled whether all live bridges share one view, and each other live bridge owns the
 *     groups that the view assigns to it
 * @param peers all other bridges ever received, by number
 * @param refusedBeacons numbers of rejected beacons by reason, without zeros
 */
public record RedundancyStatus(
    int bridgeId,
    String state,
    boolean reserve,
    List<String> fabricsUp,
    int owned,
    boolean settled,
    List<PeerBridge> peers,
    Map<String, Long> refusedBeacons) {
  private static final double MS_PER_S = 1000;

  /**
   * Another bridge.
   *
   * @param bridgeId number of the bridge
   * @param address one of the bridge's addresses; empty if it has announced none
   * @param state the newest state that the bridge has announced, or silent, or ended
   * @param receivedOn names of the fabrics on which its beacons arrive
   * @param fabricsUp names of the fabrics in which its link is up
   * @param priority priority of the bridge
   * @param weight weight of the bridge
   * @param reserve whether it owns nothing while another bridge can
   * @param agrees whether it shares this bridge's view
   * @param sameConfiguration whether it has the same groups with the same settings
   * @param lastBeaconSeconds seconds since its last beacon
   */
  public record PeerBridge(
      int bridgeId,
      String address,
      String state,
      List<String> receivedOn,
      List<String> fabricsUp,
      int priority,
      int weight,
      boolean reserve,
      boolean agrees,
      boolean sameConfiguration,
      double lastBeaconSeconds) {}

  /* Returns the state of redundancy; null for a single bridge. */
  static @Nullable RedundancyStatus read(long file) {
    long self = file + StatusLayout.PEERS_AT;
    int id = Memory.getIntAcquire(self);
    if (id == 0) {
      return null;
    }
    int flags = Memory.getInt(self + StatusLayout.PEER_FLAGS);
    List<PeerBridge> peers = new ArrayList<>();
    int count = Math.clamp(Memory.getInt(self + StatusLayout.PEER_COUNT), 0, StatusLayout.PEERS);
    for (int i = 1; i <= count; i++) {
      peers.add(peer(self + (long) i * StatusLayout.PEER_BYTES));
    }
    Map<String, Long> refused = new TreeMap<>();
    for (BeaconFault each : BeaconFault.values()) {
      long at = file + StatusLayout.BEACON_FAULTS_AT + (long) each.ordinal() * Integer.BYTES;
      long faults = Memory.getInt(at) & 0xffff_ffffL;
      if (faults != 0) {
        refused.put(each.word(), faults);
      }
    }
    return new RedundancyStatus(
        id,
        state(self),
        (flags & StatusLayout.PEER_RESERVE) != 0,
        fabrics(flags >> StatusLayout.PEER_UP_SHIFT),
        Memory.getInt(self + StatusLayout.PEER_OWNED),
        (flags & StatusLayout.PEER_AGREES) != 0,
        List.copyOf(peers),
        refused);
  }

  private static String state(long peer) {
    int state = Memory.getInt(peer + StatusLayout.PEER_STATE);
    return BridgeState.values()[Math.clamp(state, 0, BridgeState.values().length - 1)].word();
  }

  private static PeerBridge peer(long at) {
    int flags = Memory.getInt(at + StatusLayout.PEER_FLAGS);
    boolean ended = (flags & StatusLayout.PEER_ENDED) != 0;
    boolean silent = (flags & StatusLayout.PEER_HEARD) == 0;
    Gid address =
        new Gid(
            Memory.getLong(at + StatusLayout.PEER_ADDRESS),
            Memory.getLong(at + StatusLayout.PEER_ADDRESS + Long.BYTES));
    return new PeerBridge(
        Memory.getInt(at),
        address.high() == 0 && address.low() == 0 ? "" : address.toString(),
        ended ? "ended" : silent ? "silent" : state(at),
        fabrics(flags & StatusLayout.PEER_HEARD),
        fabrics(flags >> StatusLayout.PEER_UP_SHIFT),
        Memory.getInt(at + StatusLayout.PEER_PRIORITY),
        Memory.getInt(at + StatusLayout.PEER_WEIGHT),
        (flags & StatusLayout.PEER_RESERVE) != 0,
        (flags & StatusLayout.PEER_AGREES) != 0,
        (flags & StatusLayout.PEER_ALIKE) != 0,
        Memory.getLong(at + StatusLayout.PEER_SILENT_MS) / MS_PER_S);
  }

  private static List<String> fabrics(int mask) {
    List<String> names = new ArrayList<>();
    for (int side = 0; side < 2; side++) {
      if ((mask & 1 << side) != 0) {
        names.add(side == 0 ? "a" : "b");
      }
    }
    return List.copyOf(names);
  }
}
