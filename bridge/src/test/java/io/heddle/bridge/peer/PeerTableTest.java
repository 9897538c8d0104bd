package io.heddle.bridge.peer;

import static io.heddle.bridge.peer.Bridges.MS;
import static io.heddle.bridge.peer.Bridges.beacon;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Live bridges and the fabrics on which they are received, in virtual time. */
class PeerTableTest {
  private static final int SELF = 1;
  private static final long INCARNATION = 50;

  private final PeerTable table = new PeerTable(SELF, INCARNATION);

  private BridgePeer peer(int id) {
    BridgePeer peer = table.find(id);
    assertTrue(peer != null, () -> "bridge " + id + " was never received");
    return peer;
  }

  @Test
  void peerIsGoneAfterThreeAndAHalfIntervals() {
    assertNull(table.receive(beacon(2, 1, 1, 0), 0, 1000 * MS));
    assertTrue(peer(2).isAlive(1350 * MS));
    assertEquals(1350 * MS, table.nextSilenceNs(1350 * MS));
    assertFalse(peer(2).isAlive(1350 * MS + 1));
    assertEquals(Long.MAX_VALUE, table.nextSilenceNs(1350 * MS + 1));
    assertNull(table.receive(beacon(2, 1, 2, 0), 0, 5000 * MS));
    assertEquals(1, table.alive(5000 * MS).size());
  }

  @Test
  void oneFabricKeepsPeerAliveAndLossOfOtherIsReported() {
    table.receive(beacon(2, 1, 1, 0), 0, 0);
    table.receive(beacon(2, 1, 2, 1), 1, 0);
    assertEquals(
        List.of("bridge 2 is heard on both fabrics"),
        table.takeChanges(0).stream().map(PeerChange::describe).toList());
    for (int i = 1; i <= 10; i++) {
      table.receive(beacon(2, 1, 2 + i, 0), 0, i * 100 * MS);
    }
    List<PeerChange> changes = table.takeChanges(1000 * MS);
    assertEquals(1, changes.size());
    assertTrue(changes.getFirst().isWarning());
    assertTrue(
        changes.getFirst().describe().startsWith("bridge 2 is heard on fabric a only"),
        changes.getFirst().describe());
    assertTrue(peer(2).isAlive(1000 * MS));
    assertEquals(1, peer(2).receivedOn(1000 * MS));
    assertEquals(List.of(), table.takeChanges(1000 * MS));
    assertTrue(
        table.takeChanges(2000 * MS).getFirst().describe().contains("silent on both fabrics"));
  }

  @Test
  void rejectsReplayedBeacons() {
    assertNull(table.receive(beacon(2, 7, 5, 0), 0, 0));
    assertEquals(BeaconFault.REPLAYED, table.receive(beacon(2, 7, 5, 0), 0, 0));
    assertEquals(BeaconFault.REPLAYED, table.receive(beacon(2, 7, 4, 0), 0, 0));
    assertNull(table.receive(beacon(2, 7, 4, 1), 1, 0), "each fabric has its own sequence");
    assertEquals(5, peer(2).newest().origin().sequence(), "and the newer one of both is used");
    assertEquals(BeaconFault.REPLAYED, table.receive(beacon(2, 6, 99, 0), 0, 0));
    assertEquals(
        BeaconFault.REPLAYED,
        table.receive(beacon(2, 6, 99, 0), 0, 9000 * MS),
        "silence doesn't make an older incarnation newer");
    assertNull(table.receive(beacon(2, 8, 1, 0), 0, 0));
    assertEquals(
        1, peer(2).receivedOn(0), "a restarted bridge counts only on the fabric with its beacon");
  }

  @Test
  void classifiesForeignBeacons() {
    assertEquals(BeaconFault.OWN, table.receive(beacon(SELF, INCARNATION, 1, 0), 0, 0));
    assertEquals(BeaconFault.SAME_ID, table.receive(beacon(SELF, 51, 1, 0), 0, 0));
    assertEquals(BeaconFault.OTHER_FABRIC, table.receive(beacon(2, 1, 1, 0), 1, 0));
    for (int id = 2; id < 2 + Beacon.MOST_PEERS; id++) {
      assertNull(table.receive(beacon(id, 1, 1, 0), 0, 0));
    }
    assertEquals(BeaconFault.TOO_MANY_BRIDGES, table.receive(beacon(99, 1, 1, 0), 0, 0));
    assertEquals(Beacon.MOST_PEERS, table.heard(0).size());
  }

  @Test
  void leavingBridgeIsGoneAtOnce() {
    table.receive(beacon(2, 1, 1, 0), 0, 0);
    table.takeChanges(0);
    Beacon usual = beacon(2, 1, 2, 0);
    Beacon.Standing last =
        new Beacon.Standing(BridgeState.DRAINING, 100, 1, Bridges.BOTH_FABRICS, false, true);
    Beacon leaving =
        new Beacon(usual.origin(), last, usual.agreement(), usual.addresses(), usual.pins());
    assertNull(table.receive(leaving, 0, 10 * MS));
    assertFalse(peer(2).isAlive(10 * MS));
    assertEquals("bridge 2 has ended", table.takeChanges(10 * MS).getFirst().describe());
  }
}
