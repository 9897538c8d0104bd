package io.heddle.bgpstub.rib;

import static io.heddle.bgpstub.rib.RibTestBed.announce;
import static io.heddle.bgpstub.rib.RibTestBed.attributes;
import static io.heddle.bgpstub.rib.RibTestBed.colour;
import static io.heddle.bgpstub.rib.RibTestBed.communities;
import static io.heddle.bgpstub.rib.RibTestBed.gbps;
import static io.heddle.bgpstub.rib.RibTestBed.withdraw;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.AsPath;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.ExtendedCommunity.LinkBandwidth;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.NanoClock;
import io.heddle.routes.RouteReader;
import io.heddle.routes.WeightReason;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the RIB, from UPDATE messages to the weights that readers of the routes file get. */
class RibTest {
  private static final String HOST = "fd00:aa:0:5::5";
  private static final String NEIGHBOUR = "fd00:aa:0:5::6";
  private static final AsPath OWN_SPINE = AsPath.of(65101, 65203, 65102);

  @TempDir Path folder;

  /* Adds the peers of four independent planes, each with an aggregate. */
  private List<AdjRibIn> fourPlanes(RibTestBed bed) {
    List<AdjRibIn> peers =
        List.of(
            bed.rib.addPeer("p1", "plane:a", 0),
            bed.rib.addPeer("p2", "plane:b", 0),
            bed.rib.addPeer("p3", "plane:c", 0),
            bed.rib.addPeer("p4", "plane:d", 0));
    int[] rates = {400, 400, 200, 400};
    for (int i = 0; i < rates.length; i++) {
      peers.get(i).update(announce("fd00:aa::/32", gbps(rates[i])));
    }
    return peers;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void unreachableHostLosesOnePlaneUntilWithdrawal(boolean byBandwidth) {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn first = fourPlanes(bed).getFirst();
      assertEquals("400,400,200,400", bed.weights(HOST));
      ExtendedCommunity gone =
          byBandwidth ? gbps(0) : new ExtendedCommunity.Unreachable(false, 0, 0x0a000002);
      first.update(announce(HOST + "/128", gone));
      assertEquals("0,400,200,400", bed.weights(HOST));
      assertEquals("400,400,200,400", bed.weights(NEIGHBOUR));
      assertEquals(
          byBandwidth ? WeightReason.PATH_BANDWIDTH_ZERO : WeightReason.UNREACHABLE,
          bed.answer(HOST).reason(0));
      first.update(withdraw(HOST + "/128"));
      assertEquals("400,400,200,400", bed.weights(HOST));
      assertEquals(1, bed.publisher.entries());
    }
  }

  @Test
  void lessBandwidthOnOnePlaneKeepsTheOtherAggregates() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      List<AdjRibIn> peers = fourPlanes(bed);
      peers.get(3).update(announce(HOST + "/128", gbps(50)));
      assertEquals("400,400,200,50", bed.weights(HOST));
      peers.get(2).update(announce("fd00:aa::/32", gbps(50)));
      assertEquals("400,400,50,50", bed.weights(HOST));
      assertEquals("400,400,50,400", bed.weights(NEIGHBOUR));
    }
  }

  @Test
  void lostPeerLosesOnlyItsPlane() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      List<AdjRibIn> peers = fourPlanes(bed);
      peers.get(1).clear();
      assertEquals("400,0,200,400", bed.weights(HOST));
      peers.get(2).markStale(AddressFamily.IPV6_UNICAST);
      assertEquals("400,0,200,400", bed.weights(HOST), "kept while it restarts");
      peers.get(2).update(announce("fd00:aa::/32", gbps(100)));
      peers.get(2).dropStale(AddressFamily.IPV6_UNICAST);
      assertEquals("400,0,100,400", bed.weights(HOST), "it came again");
      peers.get(3).markStale(AddressFamily.IPV6_UNICAST);
      peers.get(3).dropStale(AddressFamily.IPV6_UNICAST);
      assertEquals("400,0,100,0", bed.weights(HOST), "it didn't");
    }
  }

  @Test
  void localPortLimitsTheBandwidth() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn peer = bed.rib.addPeer("p1", "plane:a", 100_000);
      peer.update(announce("::/0", gbps(400)));
      assertEquals("100", bed.weights(HOST));
      assertEquals(WeightReason.LOCAL_RATE, bed.answer(HOST).reason(0));
      peer.setRateMbps(800_000);
      assertEquals("400", bed.weights(HOST));
    }
  }

  @Test
  void linkBandwidthReplacesMissingPathBandwidth() {
    LinkBandwidth hundred = new LinkBandwidth(true, 65002, 1.25e10f);
    LinkBandwidth integer = new LinkBandwidth(true, 65002, 1.8e-34f);
    LinkBandwidth zero = new LinkBandwidth(true, 65002, 0);
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn peer = bed.rib.addPeer("p1", "plane:a", 0);
      peer.update(announce("::/0", hundred, gbps(400)));
      assertEquals("400", bed.weights(HOST));
      peer.update(announce("::/0", hundred));
      assertEquals("100", bed.weights(HOST));
      for (LinkBandwidth useless : List.of(integer, zero)) {
        peer.update(announce("::/0", useless));
        assertEquals(WeightReason.NO_FIGURE, bed.answer(HOST).reason(0), useless.toString());
      }
    }
    try (RibTestBed bed = new RibTestBed(folder, new RibOptions(true, true))) {
      bed.rib.addPeer("p1", "plane:a", 0).update(announce("::/0", zero));
      assertEquals(WeightReason.UNREACHABLE, bed.answer(HOST).reason(0));
    }
  }

  /*
   * Tests RFC 10005: of several link bandwidths, transitive or not, the lowest counts, even if it
   * is zero.
   */
  @Test
  void lowestLinkBandwidthCounts() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn peer = bed.rib.addPeer("p1", "plane:a", 0);
      peer.update(announce("::/0", linkGbps(false, 100)));
      assertEquals("100", bed.weights(HOST), "the non-transitive form alone");
      for (boolean lower : new boolean[] {true, false}) {
        peer.update(announce("::/0", linkGbps(!lower, 100), linkGbps(lower, 50)));
        assertEquals("50", bed.weights(HOST), "the lower last, transitive " + lower);
        peer.update(announce("::/0", linkGbps(lower, 25), linkGbps(!lower, 100)));
        assertEquals("25", bed.weights(HOST), "the lower first, transitive " + lower);
        assertEquals(WeightReason.LINK_BANDWIDTH, bed.answer(HOST).reason(0));
        peer.update(announce("::/0", linkGbps(!lower, 100), linkGbps(lower, 0)));
        assertEquals(WeightReason.NO_FIGURE, bed.answer(HOST).reason(0), "zero is the lowest");
        peer.update(
            announce("::/0", linkGbps(!lower, 100), new LinkBandwidth(lower, 65002, 1.8e-34f)));
        assertEquals("100", bed.weights(HOST), "an integer in the other form is no figure");
      }
      peer.update(announce("::/0", linkGbps(false, 10), linkGbps(true, 20), gbps(400)));
      assertEquals("400", bed.weights(HOST), "path bandwidth comes before both");
    }
  }

  private static LinkBandwidth linkGbps(boolean transitive, int value) {
    return new LinkBandwidth(transitive, 65002, value * 1.25e8f);
  }

  private static PathAttributes coloured(int colour, AsPath path, PathAttribute... more) {
    PathAttribute[] all = java.util.Arrays.copyOf(more, more.length + 1);
    all[more.length] = communities(colour(colour), gbps(100));
    return attributes(path, all);
  }

  @Test
  void coloursAreThePlanesAndLostAigpMeansABorrowedPath() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn leaf = bed.rib.addPeer("leaf", null, 0);
      /* The leaf's own prefix is announced first; it never has AIGP. */
      leaf.update(announce("fd00:1:1:3::/64", coloured(3, AsPath.of(65101))));
      leaf.update(announce("fd00:2:1:4::/64", coloured(4, OWN_SPINE)));
      assertFalse(bed.answer("fd00:2:1:4::1").isOverOtherPlane(1), "nobody has AIGP yet");
      PathAttributes whole = coloured(3, OWN_SPINE, new PathAttribute.Aigp(2));
      leaf.update(announce("fd00:2:1:3::/64", whole));
      assertEquals("100,0", bed.weights("fd00:2:1:3::1"));
      assertEquals("0,5", bed.weights("fd00:2:1:4::1"), "now its absence says something");
      leaf.update(announce("fd00:2:1:3::/64", coloured(3, AsPath.of(65101, 65201, 65102))));
      assertEquals("5,0", bed.weights("fd00:2:1:3::1"), "over another plane's spine");
      assertEquals(
          "100,0", bed.weights("fd00:1:1:3::1"), "what the leaf has itself isn't borrowed");
      leaf.update(announce("fd00:2:1:3::/64", whole));
      assertEquals("100,0", bed.weights("fd00:2:1:3::1"));
      assertEquals(
          List.of("colour:3", "colour:4"), bed.rib.planes().stream().map(p -> p.key()).toList());
    }
  }

  @Test
  void coveringRoutesColourNamesAnOwnAddressesPlane() throws Exception {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn leaf = bed.rib.addPeer("leaf", null, 0);
      leaf.update(announce("fd00:1:1:3::/64", coloured(7, AsPath.of(65101))));
      leaf.update(announce("fd00::/16", coloured(8, OWN_SPINE)));
      leaf.update(announce("::/0", coloured(9, OWN_SPINE)));
      leaf.update(announce("fd00:1:1:5::/64", gbps(5)));
      assertEquals("colour:7", bed.rib.planeOf(address("fd00:1:1:3::105")));
      assertEquals("colour:8", bed.rib.planeOf(address("fd00:1:1:4::105")));
      assertEquals(null, bed.rib.planeOf(address("2001:db8::1")), "a default route says nothing");
      assertEquals(1, leaf.withoutPlane());
    }
  }

  private static Inet6Address address(String text) throws Exception {
    return (Inet6Address) InetAddress.getByName(text);
  }

  @Test
  void betterLeafOfOnePlaneCounts() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn one = bed.rib.addPeer("leaf 1", "plane:a", 0);
      AdjRibIn two = bed.rib.addPeer("leaf 2", "plane:a", 0);
      one.update(announce(HOST + "/128", gbps(0)));
      assertEquals("0", bed.weights(HOST));
      two.update(announce(HOST + "/128", gbps(200)));
      assertEquals("200", bed.weights(HOST));
      one.update(announce(HOST + "/128", gbps(400)));
      assertEquals("400", bed.weights(HOST));
      one.clear();
      assertEquals("200", bed.weights(HOST));
      two.clear();
      assertEquals(0, bed.publisher.entries());
    }
  }

  @Test
  void destinationIsExplainedByItsRoutes() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      List<AdjRibIn> peers = fourPlanes(bed);
      peers.getFirst().update(announce(HOST + "/128", gbps(0)));
      List<Route> routes = bed.rib.explain(Prefix.of(HOST));
      assertEquals(4, routes.size());
      assertEquals(HOST + "/128", routes.getFirst().prefix().toString());
      assertEquals("p1", routes.getFirst().peer());
      assertEquals("plane:a", routes.getFirst().plane());
      assertEquals("fd00:aa::/32", routes.get(1).prefix().toString());
    }
  }

  @Test
  void attributesAreReleasedWithTheirLastRoute() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn peer = bed.rib.addPeer("p1", "plane:a", 0);
      for (int i = 0; i < 500; i++) {
        peer.update(announce("fd00:0:0:" + Integer.toHexString(i) + "::/64", gbps(1 + i % 3)));
      }
      assertEquals(3, peer.attributeSets());
      for (int i = 0; i < 500; i++) {
        peer.update(announce("fd00:0:0:" + Integer.toHexString(i) + "::/64", gbps(7)));
      }
      assertEquals(1, peer.attributeSets());
      peer.clear();
      assertEquals(0, peer.attributeSets());
      assertEquals(0, peer.routes());
      assertEquals(0, bed.publisher.entries());
    }
  }

  @Test
  void fullDiskIsLoggedOnceAndPublishingResumes() throws Exception {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn peer = bed.rib.addPeer("p1", "plane:a", 0);
      /* A larger file can't be created while a non-empty folder has its name. */
      Path aside = Files.createDirectories(folder.resolve("routes.new/x")).getParent();
      for (int i = 0; i < 2000; i++) {
        peer.update(announce("fd00:0:0:" + Integer.toHexString(i) + "::/64", gbps(8)));
      }
      peer.update(withdraw("fd00::/64"));
      assertTrue(bed.rib.isIncomplete());
      assertEquals(1, bed.log.size(), bed.log.toString());
      for (int i = 0; i < 3; i++) {
        bed.rib.retry();
      }
      assertTrue(bed.rib.isIncomplete());
      /*
       * The first retry tries to reserve space for all routes, and logs its failure. Further
       * retries fail for the same reason and log nothing.
       */
      assertEquals(2, bed.log.size(), bed.log.toString());
      assertTrue(
          bed.log.getFirst().contains("readers keep what they have: the routes file can't be"));
      assertEquals("8", bed.weights("fd00:0:0:1::1"));
      Files.delete(aside.resolve("x"));
      Files.delete(aside);
      bed.rib.retry();
      assertFalse(bed.rib.isIncomplete());
      assertEquals(1999, bed.publisher.entries());
      assertEquals("8", bed.weights("fd00:0:0:7cf::1"));
      assertEquals("0", bed.weights("fd00::1"));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void truncatedRoutesFileIsCreatedAgain(boolean changes) throws IOException {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn first = fourPlanes(bed).getFirst();
      try (RandomAccessFile file = new RandomAccessFile(bed.path.toFile(), "rw")) {
        file.setLength(0);
      }
      if (changes) {
        first.update(announce(HOST + "/128", gbps(100)));
      } else {
        bed.rib.restoreIfTruncated();
      }
      bed.publisher.goLive();
      assertEquals(changes ? "100,400,200,400" : "400,400,200,400", bed.weights(HOST));
      assertEquals("400,400,200,400", bed.weights(NEIGHBOUR));
      assertEquals(1, bed.log.size(), bed.log.toString());
      assertTrue(bed.log.getFirst().endsWith(": creating it again"), bed.log.getFirst());
    }
  }

  @Test
  void ipv6RoutesDoNotCoverIpv4Destinations() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn first = bed.rib.addPeer("p1", "plane:a", 0);
      AdjRibIn second = bed.rib.addPeer("p2", "plane:b", 0);
      first.update(announce("::/0", gbps(400)));
      first.update(announce("10.0.0.0/8", gbps(200)));
      second.update(announce("0.0.0.0/0", gbps(100)));
      assertEquals("200,100", bed.weights("10.1.2.3"));
      assertEquals("0,100", bed.weights("192.0.2.1"));
      assertEquals("400,0", bed.weights(HOST));
      first.update(announce("10.1.2.3/32", gbps(0)));
      assertEquals("0,100", bed.weights("10.1.2.3"));
      assertEquals("200,100", bed.weights("10.1.2.4"));
      assertEquals(
          List.of("10.1.2.3/32", "0.0.0.0/0"),
          bed.rib.explain(Prefix.of("10.1.2.3")).stream()
              .map(each -> each.prefix().toString())
              .toList());
      assertEquals(1, bed.rib.explain(Prefix.of(HOST)).size());
    }
  }

  @Test
  void staleRoutesAreDroppedPerFamily() {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      AdjRibIn peer = bed.rib.addPeer("p1", "plane:a", 0);
      peer.update(announce("fd00:aa::/32", gbps(400)));
      peer.update(announce("10.0.0.0/8", gbps(200)));
      peer.markStale(AddressFamily.IPV6_UNICAST);
      peer.markStale(AddressFamily.IPV4_UNICAST);
      peer.dropStale(AddressFamily.IPV4_UNICAST);
      assertEquals("0", bed.weights("10.1.2.3"));
      assertEquals("400", bed.weights(HOST));
      peer.dropStale(AddressFamily.IPV6_UNICAST);
      assertEquals(0, peer.routes());
    }
  }

  @Test
  void sourceOfAPlaneMayBeOfIpv4() throws Exception {
    try (RibTestBed bed = RibTestBed.of(folder)) {
      InetAddress own = InetAddress.getByName("10.1.0.7");
      bed.rib.setSource("plane:a", own, 0, "p1");
      try (RouteReader reader = RouteReader.open(bed.path, NanoClock.SYSTEM)) {
        assertEquals(Map.of(own, "plane:a"), RouteReader.keys(reader.planes()));
      }
    }
  }
}
