package io.heddle.sim.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ControlPlaneTest {
  private static final int HOSTS = 2_000;
  private static final int PLANES = 4;
  private static final int LEAF = 64;
  private static final int LOSSES = 100;
  private static final int PEERS = 16;
  private static final RouteFabric FABRIC =
      new RouteFabric(HOSTS, PLANES, LEAF, LOSSES, PEERS, 100);

  private static SchemeRow row(RouteScheme scheme) {
    return new ControlPlane(FABRIC, 3).run(part -> {}).get(scheme.ordinal());
  }

  @Test
  void realTablesAndCountsAgreeWithTheDraftsArithmetic() {
    List<SchemeRow> rows = new ControlPlane(FABRIC, 3).run(part -> {});
    assertEquals(RouteScheme.values().length, rows.size());
    for (SchemeRow row : rows) {
      assertTrue(row.isEqual() && row.avoidsLostPlanes(), row.toString());
    }
  }

  @Test
  void lossTimeIsReportedOnlyIfCardsReceiveLosses() {
    RouteFabric whole = new RouteFabric(HOSTS, PLANES, LEAF, 0, PEERS, 100);
    for (SchemeRow row : new ControlPlane(whole, 1).run(part -> {})) {
      assertNull(row.lossUs(), row.toString());
    }
    for (RouteScheme scheme : List.of(RouteScheme.HOST_ROUTES, RouteScheme.AGGREGATE)) {
      SchemeRow row = row(scheme);
      assertNotNull(row.lossUs());
      assertNotNull(row.mostLossUs());
      assertTrue(0 < row.lossUs() && row.lossUs() <= row.mostLossUs(), row.toString());
    }
  }

  @Test
  void hostRoutesAreHostsTimesPlanes() {
    SchemeRow row = row(RouteScheme.HOST_ROUTES);
    assertEquals(8_000, row.inTable());
    assertEquals(8_000 - LOSSES, row.afterLosses());
    assertEquals(HOSTS, row.prefixes());
    assertEquals(HOSTS, row.leafForwarding());
  }

  @Test
  void aggregateNeedsAPrefixPerLeafAndARoutePerLoss() {
    SchemeRow row = row(RouteScheme.AGGREGATE);
    int leaves = FABRIC.leaves();
    assertEquals(32, leaves);
    assertEquals(leaves * PLANES, row.inTable());
    assertEquals(leaves * PLANES + LOSSES, row.afterLosses());
    assertEquals(leaves + LOSSES, row.prefixes());
  }

  @Test
  void filterKeepsPeersTimesPlanes() {
    SchemeRow row = row(RouteScheme.ORF);
    assertEquals(PEERS * PLANES, row.inTable());
    assertTrue(row.leastAfterLosses() < row.mostAfterLosses(), "some have peers that lost a plane");
  }

  @Test
  void suppressionLeavesALeafItsOwnHostsAndOtherLeaves() {
    assertEquals(LEAF + 31, row(RouteScheme.HOST_ROUTES).leafForwardingSuppressed());
  }

  @Test
  void aggregateAloneRoutesIntoALostPlane() {
    int host = FABRIC.unreachableIn(1).getFirst();
    try (SampledCard card = new SampledCard(FABRIC)) {
      for (int plane = 0; plane < PLANES; plane++) {
        card.announce(plane, List.of(FABRIC.leaf(host / LEAF)));
      }
      assertTrue(card.reaches(host, 1), "no loss announced yet");
      card.unreachable(1, List.of(FABRIC.host(host)));
      assertFalse(card.reaches(host, 1));
      assertTrue(card.reaches(host, 0) && card.reaches(host, 2) && card.reaches(host, 3));
      card.withdraw(1, List.of(FABRIC.host(host)));
      assertTrue(card.reaches(host, 1), "it is back");
      assertEquals(List.of(), card.faults());
    }
  }
}
