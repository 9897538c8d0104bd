package io.heddle.bgp.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.Capability.FourOctetAs;
import io.heddle.bgp.wire.Capability.GracefulRestart;
import io.heddle.bgp.wire.Capability.OutboundRouteFilter;
import io.heddle.bgp.wire.ExtendedCommunity.LinkBandwidth;
import io.heddle.bgp.wire.ExtendedCommunity.PathBandwidth;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Tests with messages captured from other daemons, decoded and encoded again. */
class DaemonMessagesTest {
  @Test
  void birdsOpenHasIdentityAndCapabilities() throws Exception {
    OpenMessage open = WireMessages.decode(OpenMessage.class, WireMessages.fromDaemon("bird-open"));
    assertEquals(65301, open.realAutonomousSystem());
    assertEquals(9, open.holdTimeSeconds());
    assertEquals("10.0.3.1", ExtendedCommunity.dotted(open.identifier()));
    assertTrue(open.supports(AddressFamily.IPV6_UNICAST));
    assertFalse(open.supports(AddressFamily.IPV4_UNICAST));
    assertTrue(open.has(Capability.RouteRefresh.class));
    assertTrue(open.has(Capability.EnhancedRouteRefresh.class));
    assertEquals(
        new GracefulRestart(false, false, 120, List.of()), open.find(GracefulRestart.class));
    assertFalse(open.has(OutboundRouteFilter.class));
  }

  @Test
  void frrsOpenHasOneParameterForEachCapability() throws Exception {
    OpenMessage open =
        WireMessages.decode(OpenMessage.class, WireMessages.fromDaemon("frr-open-orf"));
    OutboundRouteFilter filter = open.find(OutboundRouteFilter.class);
    assertTrue(filter != null && filter.receivesPrefixFilters(AddressFamily.IPV6_UNICAST));
    assertEquals(new FourOctetAs(65101), open.find(FourOctetAs.class));
    assertTrue(open.has(Capability.ExtendedMessage.class));
    GracefulRestart restart = open.find(GracefulRestart.class);
    assertTrue(restart != null && restart.restarting() && restart.notifications());
    List<Integer> codes = open.capabilities().stream().map(Capability::code).toList();
    assertEquals(List.of(1, 128, 2, 70, 65, 6, 69, 130, 3, 73, 64, 71), codes);
  }

  @Test
  void aggregateHasItsPathBandwidth() throws Exception {
    UpdateMessage update =
        WireMessages.decode(UpdateMessage.class, WireMessages.fromDaemon("bird-aggregate"));
    assertEquals(List.of(Prefix.of("fd00:aa::/32")), update.announced().prefixes());
    assertEquals(AsPath.of(65301), update.attributes().asPath());
    assertEquals(new PathBandwidth(true, 0x0a000301, 400), update.attributes().pathBandwidth());
    NextHop nextHop = update.nextHop();
    assertTrue(nextHop != null && nextHop.toString().equals(":: fe80::44b7:cdff:fed2:7323"));
  }

  @Test
  void hostWithoutBandwidthIsAnnouncedThenWithdrawn() throws Exception {
    Prefix host = Prefix.of("fd00:aa:0:5::5/128");
    UpdateMessage update =
        WireMessages.decode(UpdateMessage.class, WireMessages.fromDaemon("bird-unreachable-host"));
    assertEquals(List.of(host), update.announced().prefixes());
    PathBandwidth bandwidth = update.attributes().pathBandwidth();
    assertTrue(bandwidth != null && bandwidth.isUnreachable());

    UpdateMessage gone =
        WireMessages.decode(UpdateMessage.class, WireMessages.fromDaemon("bird-withdrawal"));
    assertEquals(List.of(host), gone.withdrawn().prefixes());
    assertTrue(gone.announced().isEmpty());
    assertNull(gone.endOfRib());
  }

  @Test
  void endOfRibIsNoWithdrawal() throws Exception {
    assertEquals(
        AddressFamily.IPV6_UNICAST,
        WireMessages.decode(UpdateMessage.class, WireMessages.fromDaemon("bird-end-of-rib"))
            .endOfRib());
    UpdateMessage ofIpv4 = WireMessages.decode(UpdateMessage.class, WireMessages.update(""));
    assertNull(ofIpv4.endOfRib(), "an empty UPDATE is IPv4's");
  }

  @Test
  void bothBandwidthsAreReadFromOneRoute() throws Exception {
    UpdateMessage update =
        WireMessages.decode(UpdateMessage.class, WireMessages.fromDaemon("frr-two-bandwidths"));
    PathAttributes attributes = update.attributes();
    assertEquals(new PathBandwidth(true, 0x0a000201, 200), attributes.pathBandwidth());
    LinkBandwidth link = attributes.linkBandwidth();
    assertTrue(link != null && link.transitive());
    assertEquals(1e9, link.bitsPerSecond());
    assertEquals(65201, link.autonomousSystem());
    assertEquals(AsPath.of(65101, 65201), attributes.asPath());
    assertEquals("fd00:1:1:1::1 fe80::c098:72ff:fe6a:1dd6", String.valueOf(update.nextHop()));
  }

  @Test
  void colourAndAigpAreDecoded() throws Exception {
    UpdateMessage update =
        WireMessages.decode(UpdateMessage.class, WireMessages.fromDaemon("bird-colour-aigp"));
    assertEquals(new ExtendedCommunity.Color(0, 3), update.attributes().color());
    assertEquals(new PathAttribute.Aigp(2), update.attributes().aigp());
    assertNull(update.attributes().pathBandwidth());

    WireOptions without =
        new WireOptions(true, true, false, false, 4096, CodePoints.DEFAULT, Families.IPV6_UNICAST);
    DecodeResult decoded =
        WireMessages.decode(WireMessages.fromDaemon("bird-colour-aigp"), without);
    assertTrue(decoded instanceof UpdateMessage);
    assertNull(((UpdateMessage) decoded).attributes().aigp());
  }

  @Test
  void everyDaemonsRouteIsDecoded() throws Exception {
    Map<String, String> expected =
        Map.of(
            "gobgp",
            "origin IGP, AS path 65002, color 0:7, AIGP 4, 65002:1:2",
            "openbgpd",
            "origin IGP, AS path 65002, target 65002:1, 65002:1:2",
            "exabgp",
            "origin IGP, AS path 65002, path bandwidth 400 Gbit/s by 192.168.1.1, color 0:7,"
                + " link bandwidth 1.0 Gbit/s by AS 65004, non-transitive, AIGP 4",
            "frr",
            "origin IGP, AS path 65002, metric 0, 65002:1:2,"
                + " link bandwidth 1.0 Gbit/s by AS 65002");
    for (String daemon : expected.keySet()) {
      byte[] bytes = WireMessages.fromDaemon(daemon + "-aggregate");
      UpdateMessage update = WireMessages.decode(UpdateMessage.class, bytes);
      assertEquals("[fd00:aa::/32]", update.announced().toString(), daemon);
      assertEquals(List.of(), update.faults(), daemon);
      assertEquals(expected.get(daemon), update.attributes().toString(), daemon);
    }
  }

  @Test
  void filterForThreePrefixesIsEncodedAsFrrExpects() throws Exception {
    RouteRefreshMessage filter =
        RouteRefreshMessage.filter(
            AddressFamily.IPV6_UNICAST,
            true,
            List.of(
                OrfEntry.permit(5, Prefix.of("fd00:aa::/32")),
                OrfEntry.permit(10, Prefix.of("fd00:aa:0:5::5")),
                OrfEntry.permit(15, Prefix.of("fd00:aa:0:6::6"))));
    byte[] expected = WireMessages.fromDaemon("orf-aggregate-and-two-hosts");
    assertEquals(hex(expected), hex(new MessageEncoder(WireMessages.OPTIONS).encode(filter)));
    assertEquals(filter, WireMessages.decode(expected));
  }

  @Test
  void messagesRoundTrip() throws Exception {
    MessageEncoder encoder = new MessageEncoder(WireMessages.OPTIONS);
    for (var each : WireMessages.fromDaemons().entrySet()) {
      BgpMessage message = WireMessages.decode(BgpMessage.class, each.getValue());
      assertEquals(message, WireMessages.decode(encoder.encode(message)), each.getKey());
    }
  }

  private static String hex(byte[] bytes) {
    return java.util.HexFormat.of().formatHex(bytes);
  }
}
