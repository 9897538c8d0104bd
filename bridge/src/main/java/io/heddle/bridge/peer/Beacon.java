package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.List;

/**
 * State announcement that a bridge sends into both fabrics several times a second. A newer beacon
 * replaces an older one completely, so a lost beacon only delays the next one's news.
 *
 * @param origin sender and send sequence
 * @param standing eligibility of the bridge to own groups
 * @param agreement view from which the bridge derives the owners of groups, and its
 *     acknowledgements
 * @param addresses addresses of the bridge, in both fabrics
 * @param pins groups that operators assigned to a bridge
 */
public record Beacon(
    Origin origin, Standing standing, Agreement agreement, List<Gid> addresses, List<Pin> pins) {
  /** Maximum number of addresses of a bridge in a beacon. */
  public static final int MOST_ADDRESSES = 16;

  /** Maximum number of other bridges in a beacon. */
  public static final int MOST_PEERS = 15;

  /** Maximum number of pins in a beacon. */
  public static final int MOST_PINS = 16;

  /**
   * Identity and sequence of a beacon's sender.
   *
   * @param id number of the bridge, above 0
   * @param incarnation number that grows with each start of the bridge
   * @param sequence number that grows with each beacon of an incarnation
   * @param side number of the fabric that the beacon was sent into: 0 for fabric a, 1 for fabric b
   * @param intervalMs interval of the beacons
   * @param configDigest digest of the settings that must be equal on all bridges
   */
  public record Origin(
      int id, long incarnation, long sequence, int side, int intervalMs, long configDigest) {}

  /**
   * Eligibility of a bridge to own groups.
   *
   * @param priority priority of the bridge; the bridges of the highest priority share the groups
   * @param weight the bridge's share, relative to the other bridges of the same priority
   * @param fabricsUp fabrics whose link is up: bit 0 for fabric a, bit 1 for fabric b
   * @param reserve whether the bridge owns groups only while no other bridge can
   * @param leaving whether this is the bridge's last beacon
   */
  public record Standing(
      BridgeState state,
      int priority,
      int weight,
      int fabricsUp,
      boolean reserve,
      boolean leaving) {
    private static final int BOTH_FABRICS = 3;

    /** Returns whether the bridge can own groups. */
    public boolean isEligible() {
      return (state == BridgeState.STANDBY || state == BridgeState.ACTIVE)
          && fabricsUp == BOTH_FABRICS
          && !leaving;
    }
  }

  /**
   * View from which the sender derives the owners of groups, and its acknowledgements of the other
   * bridges' changes.
   *
   * @param change number that grows when the bridge changes its view or gives up all groups
   * @param view digest of the bridge's view
   * @param settled whether the bridge owns all groups that the view assigns to it
   * @param heard acknowledgements, one for each other live bridge
   */
  public record Agreement(int change, long view, boolean settled, List<Heard> heard) {}

  /**
   * Acknowledgement of another bridge's newest change.
   *
   * @param id number of that bridge
   * @param incarnation incarnation of that bridge
   * @param change change number in that bridge's newest beacon
   */
  public record Heard(int id, long incarnation, int change) {}

  /**
   * Operator's order that assigns a group to a bridge.
   *
   * @param group address of the group
   * @param owner number of the bridge; 0 withdraws the order
   * @param version version of the order; a group's order with the highest one takes precedence
   */
  public record Pin(Gid group, int owner, long version) {}

  /**
   * Returns whether the sender has this view, and acknowledges this change.
   *
   * @param view digest of the view
   * @param id number of the bridge with the change
   * @param incarnation incarnation of the bridge with the change
   */
  public boolean agrees(long view, int id, long incarnation, int change) {
    return agreement.view() == view
        && agreement.heard().contains(new Heard(id, incarnation, change));
  }
}
