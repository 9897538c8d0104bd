package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bridge.status.BridgeStatus;
import io.heddle.bridge.status.RedundancyStatus;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests of the tables for several bridges and for the owners of groups. */
class RedundancyTableTest {
  private static RedundancyStatus status(RedundancyStatus.PeerBridge... peers) {
    return new RedundancyStatus(
        1, "active", false, List.of("a", "b"), 2, true, List.of(peers), Map.of());
  }

  private static BridgeStatus.Group group(Integer owner, String role) {
    return new BridgeStatus.Group("239.1.1.1", "", false, owner, role, 0, List.of(), null);
  }

  @Test
  void hasOneLinePerBridgeAndFaultsInCapitals() {
    assertEquals(
        "bridge 1 (this one): active, owns 2 groups, links up a and b, NO OTHER BRIDGE WAS HEARD\n",
        RedundancyTable.of(status()));
    RedundancyStatus.PeerBridge other =
        new RedundancyStatus.PeerBridge(
            2, "10.1.0.253", "standby", List.of("b"), List.of(), 100, 1, true, false, false, 0.25);
    RedundancyStatus refusing =
        new RedundancyStatus(
            1, "drained", true, List.of("a"), 0, false, List.of(other), Map.of("unsigned", 3L));
    assertEquals(
        """
        bridge 1 (this one): drained, held, owns 0 groups, links up a, NOT ALL AGREE YET; \
        beacons refused: unsigned 3
        bridge 2 10.1.0.253: standby, held, heard on b, links up none, priority 100, \
        weight 1, last beacon 0.3 s ago, DOESN'T AGREE, OTHER GROUPS CONFIGURED
        """,
        RedundancyTable.of(refusing));
  }

  @Test
  void namesOwnerWithQuestionMarkUntilItForwards() {
    assertEquals("1 this   ", RedundancyTable.owner(status(), group(1, "owner"), true));
    assertEquals("2        ", RedundancyTable.owner(status(), group(2, "standby"), true));
    assertEquals("2?       ", RedundancyTable.owner(status(), group(2, "no-owner"), true));
    assertEquals("none     ", RedundancyTable.owner(status(), group(0, "no-owner"), true));
    assertEquals("         ", RedundancyTable.owner(status(), group(1, "owner"), false));
    assertEquals("", RedundancyTable.owner(null, group(null, "owner"), true));
  }
}
