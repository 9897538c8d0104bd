package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.net.Endpoint;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.NextHop;
import io.heddle.bgp.wire.Nlri;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgp.wire.UpdateMessage;
import io.heddle.bgpstub.daemon.BgpDaemon;
import io.heddle.bgpstub.daemon.ConfigParser;
import io.heddle.platform.NanoClock;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.Shell;
import io.heddle.platform.testing.SystemTest;
import io.heddle.routes.RouteAnswer;
import io.heddle.routes.RouteReader;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Interoperability with BIRD on an IPv4 fabric: over sessions of IPv4 and of IPv6 (RFC 8950). */
@SystemTest
class BirdIpv4InteropTest extends DaemonContract {
  private static final String SESSION = "local 10.9.0.1 as 65002; neighbor 10.9.0.2 as 65001;";
  private static final String OVER_IPV6 =
      "local fd00:1::1 as 65002; neighbor fd00:1::2 as 65001; passive;";

  @Override
  Fabric fabric() {
    return Fabric.OF_IPV4;
  }

  @Override
  List<Path> programs() {
    return BirdDaemon.programs();
  }

  @Override
  Process launch(String key, boolean security) throws Exception {
    return launch(
        SESSION
            + " passive;"
            + (key.isEmpty() ? "" : " password \"" + key + "\";")
            + (security ? " ttl security on;" : ""),
        "",
        "");
  }

  /*
   * Starts BIRD. Its configuration has a session, options for the session's IPv4 channel, and
   * further protocols.
   */
  private Process launch(String session, String channel, String more) throws Exception {
    return BirdDaemon.start(
        net,
        """
        log stderr all;
        router id 10.0.3.1;
        protocol device {}
        protocol static own { ipv4;
          route 10.20.0.0/16 unreachable {
            bgp_ext_community.add((generic, 0x01800a00, 0x03010190));
            bgp_large_community.add((65002, 1, 2)); };
          route 0.0.0.0/0 unreachable;
        }
        protocol static late { disabled; ipv4; route 10.20.5.5/32 unreachable {
            bgp_ext_community.add((generic, 0x01800a00, 0x03010000)); }; }
        protocol static six { ipv6; route fd00:aa::/32 unreachable; }
        protocol bgp hosts { %s hold time 9; error wait time 1,2; graceful restart on;
          ipv4 { import all; next hop self; aigp originate; %s
            export filter { if source != RTS_STATIC then reject; igp_metric = 4; accept; }; };
          ipv6 { import all; next hop self; export where source = RTS_STATIC; }; }
        %s
        """
            .formatted(session, channel, more));
  }

  private String birdc(String... words) throws Exception {
    return BirdDaemon.ask(net, words);
  }

  @Override
  String table() throws Exception {
    return birdc("show", "route", "table", "master4", "all");
  }

  @Override
  String speakerRouteEntry() throws Exception {
    return birdc("show", "route", "table", "master4", "all", "for", "10.55.0.5/32");
  }

  @Override
  List<String> ourAttributes() {
    return List.of(
        "BGP.next_hop: 10.9.0.2", "(unknown 0x180, 10.0.0.5, 100)", "BGP.community: (65001,9)");
  }

  @Override
  void reset() throws Exception {
    birdc("restart", "hosts");
  }

  @Override
  void assertAttributes(PathAttributes attributes) {
    assertEquals(
        new ExtendedCommunity.PathBandwidth(true, 0x0a000301, 400), attributes.pathBandwidth());
    assertEquals(new PathAttribute.Aigp(4), attributes.aigp());
    assertEquals("0.0.0.0/0", Prefix.of("0.0.0.0/0").toString());
    assertEquals(65002, attributesOf(Prefix.of("0.0.0.0/0")).asPath().first());
    assertNull(attributesOf(AGGREGATE), "IPv6 wasn't agreed on");
  }

  @Test
  void moreSpecificRouteIsAddedAndWithdrawn() throws Exception {
    launch("", false);
    connect(options());
    await("end of rib", () -> heard.has("end of rib"));
    birdc("enable", "late");
    Prefix host = Prefix.of("10.20.5.5");
    await("the exception", () -> attributesOf(host) != null);
    assertEquals(0, attributesOf(host).pathBandwidth().gigabitsPerSecond());
    birdc("disable", "late");
    await("its withdrawal", () -> attributesOf(host) == null);
  }

  @Test
  void routesAreKeptWhileItRestarts() throws Exception {
    assertRoutesAreKeptOverItsDeath();
  }

  @Test
  void bothFamiliesGoOverOneSession() throws Exception {
    launch(SESSION + " passive;", "", "");
    connect(options().families(Families.UNICAST));
    await("IPv4", () -> attributesOf(aggregate()) != null);
    await("IPv6", () -> attributesOf(AGGREGATE) != null);
    speaker.execute(() -> {
      session.send(announcement());
      session.send(
          UpdateMessage.announce(
              Nlri.of(OURS),
              announcement().attributes(),
              NextHop.of(Prefix.of("fd00:1::2").address())));
    });
    await("our IPv4 route", () -> table().contains("10.55.0.5"));
    await("our IPv6 route", () -> birdc("show", "route").contains("fd00:55::5"));
    speaker.execute(() -> session.send(UpdateMessage.withdraw(Nlri.of(OURS, announced()))));
    await("no IPv4 route", () -> !table().contains("10.55.0.5"));
    await("no IPv6 route", () -> !birdc("show", "route").contains("fd00:55::5"));
    assertEquals(0, speaker.callOnLoop(session::status).counters().attributeFaults());
  }

  @Test
  void routesWithIpv6NextHopsUseAnIpv6Session() throws Exception {
    launch(OVER_IPV6, "extended next hop on;", "");
    speaker.listen(Endpoint.of(Prefix.of("fd00:1::2").inetAddress(), 0, 179));
    connect(
        options()
            .remote(Prefix.of("fd00:1::1").inetAddress())
            .localAddress(Prefix.of("fd00:1::2").inetAddress())
            .families(Families.UNICAST));
    await("IPv4", () -> attributesOf(aggregate()) != null);
    await("both ends", () -> heard.events.stream().filter("end of rib"::equals).count() == 1);
    NextHop nextHop =
        heard.updates.stream()
            .filter(each -> each.announced().prefixes().contains(aggregate()))
            .findFirst()
            .orElseThrow()
            .nextHop();
    assertEquals("fd00:1::1", nextHop.toString().split(" ")[0]);
    speaker.execute(() -> session.send(announcement()));
    await("our IPv4 route", () -> table().contains("10.55.0.5"));
    assertEquals(0, speaker.callOnLoop(session::status).counters().attributeFaults());
  }

  @Test
  void deadPathIsDetectedBeforeTheHoldTime() throws Exception {
    Process first =
        launch(
            SESSION + " passive; bfd on;",
            "",
            "protocol bfd { interface \"*\" { interval 100 ms; multiplier 5; }; }");
    connect(options().bfd(new BfdOptions(100, 5)));
    await("BFD", () -> heard.log.toString().contains("BFD is up"));
    String pid = String.valueOf(daemonProcess(first).pid());
    Shell.run(List.of("kill", "-STOP", pid));
    await("the end", () -> heard.has("down BFD"));
    Shell.run(List.of("kill", "-CONT", pid));
  }

  @Test
  void packetsBelowTheHopLimitAreDropped() throws Exception {
    launch("", false);
    connect(options().gtsmHops(1).openWaitMs(1_500));
    await("a failure", () -> heard.has("failed"));
    assertEquals(0, heard.events.stream().filter(each -> each.startsWith("estab")).count());
  }

  @Test
  void daemonPublishesAnIpv4PlaneAndAnnouncesItsAddress() throws Exception {
    speaker.close();
    launch(SESSION + " ttl security on;", "", "");
    Path routes = net.folder().resolve("routes");
    Path config = net.folder().resolve("bgp.conf");
    Files.writeString(
        config,
        """
        as = 65001
        publish = %s
        [peer leaf]
        address = 10.9.0.1
        as = 65002
        plane = a
        gtsm-hops = 1
        """
            .formatted(routes));
    BgpDaemon daemon =
        NetworkNamespace.call(
            net.host(), () -> BgpDaemon.start(ConfigParser.read(config), Set::of, heard.logTo()));
    try (daemon) {
      await("a live file", () -> daemon.view().live());
      Prefix destination = Prefix.of("10.20.0.9");
      RouteAnswer answer = new RouteAnswer();
      try (RouteReader reader = RouteReader.open(routes, NanoClock.SYSTEM)) {
        await(
            "a weight",
            () ->
                reader.resolve(destination.high(), destination.low(), answer)
                    && answer.bandwidthMbps(0) == 400_000);
        await(
            "our address",
            () ->
                Map.of(InetAddress.getByName("10.9.0.2"), "plane:a")
                    .equals(RouteReader.keys(reader.planes())));
      }
      await("our host route", () -> table().contains("10.9.0.2/32"));
    }
  }

  /*
   * Tests both orders of the two peers: with a single order, the right address could be chosen by
   * chance.
   */
  @Test
  void planeOfTwoPeersHasItsIpv6Address() throws Exception {
    speaker.close();
    for (List<String> order :
        List.of(List.of("fd00:1::1", "10.9.0.1"), List.of("10.9.0.1", "fd00:1::1"))) {
      Path config = net.folder().resolve("both.conf");
      Files.writeString(
          config,
          """
          as = 65001
          publish = %s
          [peer first]
          address = %s
          plane = a
          [peer second]
          address = %s
          plane = a
          """
              .formatted(net.folder().resolve("routes"), order.getFirst(), order.getLast()));
      BgpDaemon daemon =
          NetworkNamespace.call(
              net.host(), () -> BgpDaemon.start(ConfigParser.read(config), Set::of, heard.logTo()));
      try (daemon) {
        await("an address", () -> daemon.view().planes().getFirst().source() != null);
        assertEquals(
            Prefix.of("fd00:1::2").inetAddress(), daemon.view().planes().getFirst().source());
      }
    }
  }
}
