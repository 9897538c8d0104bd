package io.heddle.bridge.infiniband;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.Gid;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Map from hosts to ports of an InfiniBand subnet, in virtual time. */
class SubnetHostsTest {
  private static final Gid OWN = new Gid(0, 0xffff_0a01_00feL);
  private static final Gid ONE = new Gid(0, 0xffff_0a01_0001L);
  private static final Gid OTHER = new Gid(0, 0xffff_0a01_0002L);
  private static final Gid SIXTH = new Gid(0xfd01L << 48, 1);
  private static final Gid PORT = new Gid(0xfe80L << 48, 1);
  private static final Gid FAR_PORT = new Gid(0xfe80L << 48, 2);
  private static final long AGAIN = SubnetHosts.REFRESH_NS;
  private static final long RETRY = SubnetHosts.RETRY_NS;

  private final SubnetHosts hosts = KnownPorts.none(OWN);
  private int changes;

  private void learn(Gid host, Gid port, int lid, long nowNs) {
    assertEquals("", hosts.learn(host, KnownPorts.path(port, lid, 0x7fff), nowNs));
  }

  @Test
  void pathRecordMapsAddressPortAndLid() {
    hosts.onChange(() -> changes++);
    assertNull(hosts.portOf(ONE));
    assertNull(hosts.portOfLid(5));
    learn(ONE, PORT, 5, 0);
    learn(ONE, PORT, 5, 1);
    assertEquals(1, changes, "once");
    assertEquals(PORT, hosts.portOf(ONE));
    assertEquals(PORT, hosts.portOfLid(5));
    assertNull(hosts.portOfLid(6), "adjacent LIDs may belong to others");
    assertNull(hosts.portOfLid(0xffff));
    assertEquals(
        new AddressHandleAttributes(KnownPorts.OWN_PORT, PORT, 7, 3, 0, 5, false, 16),
        assertNotNullPath(ONE).attributes(7));
  }

  private HostPath assertNotNullPath(Gid host) {
    HostPath path = hosts.pathTo(host);
    assertNotNull(path);
    return path;
  }

  @Test
  void reassignedLidInvalidatesPreviousPort() {
    learn(ONE, PORT, 5, 0);
    learn(SIXTH, PORT, 5, 0);
    learn(OTHER, FAR_PORT, 6, 0);
    assertEquals(List.of(), hosts.due(1));
    learn(OTHER, FAR_PORT, 5, 1);
    assertEquals(FAR_PORT, hosts.portOfLid(5));
    assertNull(hosts.portOfLid(6), "it has left that LID");
    assertNull(hosts.pathTo(ONE));
    assertNull(hosts.pathTo(SIXTH));
    assertEquals(Set.of(ONE, SIXTH), Set.copyOf(hosts.due(2)), "they are due at once");
    learn(ONE, PORT, 6, 3);
    assertEquals(PORT, hosts.portOfLid(6));
    assertEquals(0, hosts.moves(), "no host has changed its port");
  }

  @Test
  void newLidOfPortMakesItsOtherAddressesDue() {
    learn(ONE, PORT, 5, 0);
    learn(SIXTH, PORT, 5, 0);
    learn(ONE, PORT, 9, 1);
    assertEquals(PORT, hosts.portOfLid(5), "the other address may still be there");
    assertEquals(PORT, hosts.portOfLid(9));
    assertEquals(List.of(SIXTH), hosts.due(1));
    learn(SIXTH, PORT, 9, 2);
    assertNull(hosts.portOfLid(5));
    assertEquals(List.of(), hosts.due(3), "and it doesn't make the other one due");
  }

  @Test
  void countsAddressMovedToAnotherPort() {
    learn(ONE, PORT, 5, 0);
    learn(ONE, FAR_PORT, 6, 1);
    assertEquals(1, hosts.moves());
    assertNull(hosts.portOfLid(5));
    assertEquals(FAR_PORT, hosts.portOf(ONE));
  }

  @Test
  void subnetChangeInvalidatesAllPaths() {
    learn(ONE, PORT, 5, 0);
    learn(OTHER, FAR_PORT, 6, 0);
    hosts.invalidateAll();
    assertNull(hosts.portOfLid(5));
    assertNull(hosts.portOf(OTHER));
    assertEquals(Set.of(ONE, OTHER), Set.copyOf(hosts.due(1)));
    assertEquals(List.of(), hosts.due(RETRY));
    assertEquals(
        Set.of(ONE, OTHER), Set.copyOf(hosts.due(1 + RETRY)), "retried until there is an answer");
  }

  @Test
  void knownPathIsRefreshedAndSurvivesTimeout() {
    hosts.track(ONE);
    assertEquals(List.of(ONE), hosts.due(0));
    learn(ONE, PORT, 5, 1);
    assertEquals(List.of(), hosts.due(AGAIN));
    assertEquals(List.of(ONE), hosts.due(1 + AGAIN));
    hosts.fail(ONE, true);
    assertEquals(PORT, hosts.portOfLid(5), "without a manager LIDs don't change");
    hosts.fail(ONE, false);
    assertNull(hosts.portOfLid(5));
    assertEquals(List.of(), hosts.due(AGAIN + RETRY));
    assertEquals(List.of(ONE), hosts.due(1 + AGAIN + RETRY));
  }

  @Test
  void rejectsPathThatQueuePairsCantUse() {
    learn(ONE, PORT, 5, 0);
    assertEquals(
        "its path has LID 0x5 in partition 0x8001, and the bridge's queue pairs are in 0xffff",
        hosts.learn(ONE, KnownPorts.path(PORT, 5, 0x8001), 1));
    assertNull(hosts.pathTo(ONE));
    assertNull(hosts.portOfLid(5));
    assertEquals(
        "its path has LID 0xc001 in partition 0xffff, and the bridge's queue pairs are in 0xffff",
        hosts.learn(ONE, KnownPorts.path(PORT, 0xc001, 0xffff), 1),
        "that is a multicast LID");
  }
}
