package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.List;

/**
 * State announcement that a bridge sends into both fabrics several times a second. A newer beacon
 * replaces an older one completely, so a lost one costs only time.
 *
 * @param origin sender and send sequence
 * @param standing eligibility of the bridge to own groups
 * @param agreement view under which it decides ownership, and the peers that it has received
 * @param addresses of the bridge, in both fabrics
 * @param pins groups that operators assigned to a bridge
 */
public record Beacon(
    Origin origin, Standing standing, Agreement agreement, List<Gid> addresses, List<Pin> pins) {
  /** Maximum addresses of a bridge in a beacon. */
  public static final int MOST_ADDRESSES = 16;

  /** Maximum other bridges in a beacon. */
  public static final int MOST_PEERS = 15;

  /** Maximum pins in a beacon. */
  public static final int MOST_PINS = 16;

  /**
   * Identity and sequence of a beacon's sender.
   *
   * @param id of the bridge, above 0
   * @param incarnation larger each time that the bridge starts
   * @param sequence larger with each beacon of an incarnation
   * @param side the fabric that it was sent into, 0 for a
   * @param intervalMs between two beacons
   * @param configDigest of the settings that must be equal on all bridges
   */
  public record Origin(
      int id, long incarnation, long sequence, int side, int intervalMs, long configDigest) {}

  /**
   * Eligibility of a bridge to own groups.
   *
   * @param priority the bridges of the highest priority share the groups
   * @param weight its share among those of the same priority
   * @param fabricsUp bit 0 for a, bit 1 for b
   * @param reserve whether it owns nothing while another bridge can
   * @param leaving whether this is its last beacon
   */
  public record Standing(
      BridgeState state,
      int priority,
      int weight,
      int fabricsUp,
      boolean reserve,
      boolean leaving) {
    private static final int BOTH_FABRICS = 3;

    /** Returns whether it can own groups. */
    public boolean isEligible() {
      return (state == BridgeState.STANDBY || state == BridgeState.ACTIVE)
          && fabricsUp == BOTH_FABRICS
          && !leaving;
    }
  }

  /**
   * View under which the bridge decides.
   *
   * @param change how often its view has changed
   * @param view the digest of its view
   * @param settled whether it owns all groups that the view assigns to it
   * @param heard the newest change received from each other bridge
   */
  public record Agreement(int change, long view, boolean settled, List<Heard> heard) {}

  /**
   * Newest change that a bridge has received from another one.
   *
   * @param id of the other bridge
   * @param incarnation of the other bridge
   * @param change of the other bridge
   */
  public record Heard(int id, long incarnation, int change) {}

  /**
   * Operator's order that assigns a group to a bridge.
   *
   * @param group its address
   * @param owner the bridge; 0 withdraws the order
   * @param version the higher one takes precedence
   */
  public record Pin(Gid group, int owner, long version) {}

  /**
   * Returns whether its sender decides under this view and has received this change of that bridge.
   */
  public boolean agrees(long view, int id, long incarnation, int change) {
    return agreement.view() == view
        && agreement.heard().contains(new Heard(id, incarnation, change));
  }
}
