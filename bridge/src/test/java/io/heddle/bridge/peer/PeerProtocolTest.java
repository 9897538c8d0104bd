package io.heddle.bridge.peer;

import static io.heddle.bridge.peer.Bridges.INTERVAL_MS;
import static io.heddle.bridge.peer.Bridges.MS;
import static io.heddle.bridge.peer.Bridges.group;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.verbs.Gid;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Protocol of one to three bridges in virtual time, over fabrics that lose and delay beacons. */
class PeerProtocolTest {
  private static final int HOLD_MS = INTERVAL_MS * 7 / 2;
  private static final int ENOUGH_MS = 3000;

  @Test
  void singleBridgeOwnsAllGroupsAfterListening() {
    BeaconNetwork network = new BeaconNetwork(1, 1);
    network.run(HOLD_MS - 1);
    assertEquals(0, network.bridge(1).owned());
    assertEquals(BridgeState.STARTING, network.bridge(1).state());
    network.run(INTERVAL_MS);
    assertEquals(BeaconNetwork.GROUPS.size(), network.bridge(1).owned());
    assertEquals(BridgeState.ACTIVE, network.bridge(1).state());
  }

  @Test
  void twoBridgesShareGroupsAndBackEachOtherUp() {
    BeaconNetwork network = new BeaconNetwork(2, 2);
    network.run(ENOUGH_MS);
    for (Gid each : BeaconNetwork.GROUPS) {
      int owner = network.bridge(1).ownerOf(each);
      assertEquals(owner, network.bridge(2).ownerOf(each));
      assertEquals(Role.OWNER, network.bridge(owner).roleOf(each));
      assertEquals(Role.STANDBY, network.bridge(3 - owner).roleOf(each));
    }
    assertTrue(network.bridge(1).owned() > 0 && network.bridge(2).owned() > 0);
    assertTrue(network.bridge(1).isSettled() && network.bridge(2).isSettled());
  }

  @Test
  void killedBridgeIsTakenOverAfterHoldTime() {
    BeaconNetwork network = new BeaconNetwork(2, 3);
    network.run(ENOUGH_MS);
    network.kill(1);
    network.run(HOLD_MS - INTERVAL_MS - BeaconNetwork.MOST_DELAY_MS);
    assertTrue(network.bridge(2).owned() < BeaconNetwork.GROUPS.size());
    network.run(INTERVAL_MS + 2 * BeaconNetwork.MOST_DELAY_MS + 2);
    assertEquals(BeaconNetwork.GROUPS.size(), network.bridge(2).owned());
  }

  @Test
  void drainedBridgeHandsOverAtOnceAndTakesNoMoreGroups() {
    BeaconNetwork network = new BeaconNetwork(2, 4);
    network.run(ENOUGH_MS);
    network.bridge(1).setDraining(true);
    network.run(5 * BeaconNetwork.MOST_DELAY_MS);
    assertEquals(0, network.bridge(1).owned());
    assertEquals(BeaconNetwork.GROUPS.size(), network.bridge(2).owned());
    network.kill(2);
    network.run(ENOUGH_MS);
    assertEquals(0, network.bridge(1).owned());
    assertEquals(BridgeState.DRAINING, network.bridge(1).state());
    network.bridge(1).setDraining(false);
    network.run(ENOUGH_MS);
    assertEquals(BeaconNetwork.GROUPS.size(), network.bridge(1).owned());
  }

  @Test
  void operatorsOrderOutlivesItsBridge() {
    BeaconNetwork network = new BeaconNetwork(2, 5);
    network.run(ENOUGH_MS);
    Gid moved = group(1);
    int owner = network.bridge(1).ownerOf(moved);
    int other = 3 - owner;
    assertEquals(other, network.bridge(owner).ownerWithoutThis(moved));
    assertTrue(network.bridge(owner).pin(moved, other));
    network.run(ENOUGH_MS);
    assertEquals(Role.OWNER, network.bridge(other).roleOf(moved));
    network.kill(owner);
    network.run(ENOUGH_MS);
    network.start(owner);
    network.run(ENOUGH_MS);
    assertEquals(Role.OWNER, network.bridge(other).roleOf(moved));
    network.bridge(owner).pin(moved, View.NOBODY);
    network.run(ENOUGH_MS);
    assertEquals(Role.OWNER, network.bridge(owner).roleOf(moved));
  }

  @Test
  void partitionedBridgesBothOwnAndAgreeAfterwards() {
    BeaconNetwork network = new BeaconNetwork(2, 6);
    network.run(ENOUGH_MS);
    network.cut(1, true);
    network.run(ENOUGH_MS);
    assertEquals(BeaconNetwork.GROUPS.size(), network.owners());
    network.cut(0, true);
    network.allowTwoOwners();
    network.run(ENOUGH_MS);
    assertEquals(2 * BeaconNetwork.GROUPS.size(), network.owners());
    network.cut(0, false);
    network.run(ENOUGH_MS);
    assertEquals(BeaconNetwork.GROUPS.size(), network.owners());
  }

  @Test
  void bridgeWithFabricDownHandsOver() {
    BeaconNetwork network = new BeaconNetwork(2, 7);
    network.run(ENOUGH_MS);
    network.bridge(2).setFabricsUp(1);
    network.run(5 * BeaconNetwork.MOST_DELAY_MS);
    assertEquals(0, network.bridge(2).owned());
    assertEquals(BeaconNetwork.GROUPS.size(), network.bridge(1).owned());
  }

  @Test
  void stalledBridgeGivesUpGroupsBeforeItContinues() {
    PeerProtocol bridge = new PeerProtocol(Bridges.settings(1), 1, 0);
    bridge.setFabricsUp(Bridges.BOTH_FABRICS);
    bridge.receive(Bridges.beacon(2, 1, 1, 0), 0, 0);
    for (int ms = 1; ms <= ENOUGH_MS; ms++) {
      bridge.step(ms * MS, BeaconNetwork.GROUPS);
    }
    assertEquals(BeaconNetwork.GROUPS.size(), bridge.owned());
    bridge.receive(Bridges.beacon(2, 1, 2, 0), 0, (ENOUGH_MS + HOLD_MS) * MS);
    assertTrue(bridge.step((ENOUGH_MS + HOLD_MS) * MS, BeaconNetwork.GROUPS));
    assertEquals(0, bridge.owned());
  }

  @Test
  void differentConfigurationsMoveNothingUntilEqual() {
    BeaconNetwork network = new BeaconNetwork(2, 8);
    network.run(ENOUGH_MS);
    Gid group = group(1);
    int owner = network.bridge(1).ownerOf(group);
    int other = 3 - owner;
    network.bridge(other).configure(Bridges.settings(other), Map.of(group, other), 77);
    network.run(ENOUGH_MS);
    assertEquals(Role.OWNER, network.bridge(owner).roleOf(group));
    assertFalse(network.bridge(owner).isSettled());
    network.bridge(owner).configure(Bridges.settings(owner), Map.of(group, other), 77);
    network.run(ENOUGH_MS);
    assertEquals(Role.OWNER, network.bridge(other).roleOf(group));
    assertTrue(network.bridge(owner).isSettled());
  }

  /* The simulated network checks each millisecond that no group has two owners. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void noGroupHasTwoOwnersWhileOneFabricCarriesBeacons(int bridges) {
    for (int seed = 1; seed <= 25; seed++) {
      BeaconNetwork network = new BeaconNetwork(bridges, seed);
      network.run(ENOUGH_MS / 2);
      for (int i = 0; i < 30; i++) {
        network.anyEvent();
        network.run(network.random(300));
      }
      network.makeEligible();
      network.run(ENOUGH_MS);
      assertEquals(BeaconNetwork.GROUPS.size(), network.owners(), "seed " + seed);
    }
  }
}
