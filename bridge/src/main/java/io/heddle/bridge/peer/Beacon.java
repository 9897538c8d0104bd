package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.List;

/**
 * What a bridge tells the others, on both fabrics and several times a second. A newer one replaces
 * an older one whole, so a lost one costs nothing but time.
 *
 * @param origin who tells it, and when
 * @param standing what the bridge could own
 * @param agreement under which view it decides who owns a group, and whom it has heard
 * @param addresses of the bridge, in both fabrics
 * @param pins groups that operators gave to a bridge
 */
public record Beacon(
    Origin origin, Standing standing, Agreement agreement, List<Gid> addresses, List<Pin> pins) {
  /** Addresses of a bridge that a beacon has room for. */
  public static final int MOST_ADDRESSES = 16;

  /** Other bridges that a beacon has room for. */
  public static final int MOST_PEERS = 15;

  /** Pins that a beacon has room for. */
  public static final int MOST_PINS = 16;

  /**
   * Who tells it.
   *
   * @param id of the bridge, above 0
   * @param incarnation larger each time that the bridge starts
   * @param sequence larger with each beacon of an incarnation
   * @param side the fabric that it was sent into, 0 for a
   * @param intervalMs between two beacons
   * @param configDigest of what all bridges should be configured alike
   */
  public record Origin(
      int id, long incarnation, long sequence, int side, int intervalMs, long configDigest) {}

  /**
   * What the bridge could own.
   *
   * @param priority bridges of the highest one share the groups
   * @param weight its share among those of the same priority
   * @param fabricsUp bit 0 for a, bit 1 for b
   * @param reserve whether it takes nothing while another bridge can
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

    /** Whether it can own groups. */
    public boolean isEligible() {
      return (state == BridgeState.STANDBY || state == BridgeState.ACTIVE)
          && fabricsUp == BOTH_FABRICS
          && !leaving;
    }
  }

  /**
   * Under which view the bridge decides.
   *
   * @param change how often its view has changed
   * @param view the digest of its view
   * @param settled whether it owns all that the view gives it
   * @param heard the newest changes of other bridges that it has heard of
   */
  public record Agreement(int change, long view, boolean settled, List<Heard> heard) {}

  /**
   * What a bridge has heard of another one.
   *
   * @param id of the other one
   * @param incarnation of the other one
   * @param change of the other one
   */
  public record Heard(int id, long incarnation, int change) {}

  /**
   * An operator's order that a bridge is to own a group.
   *
   * @param group its address
   * @param owner the bridge; 0 takes the order back
   * @param version the higher one counts
   */
  public record Pin(Gid group, int owner, long version) {}

  /** Whether its sender decides under this view and has heard of this change of that bridge. */
  public boolean agrees(long view, int id, long incarnation, int change) {
    return agreement.view() == view
        && agreement.heard().contains(new Heard(id, incarnation, change));
  }
}
