package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.bfd.BfdOptions;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.Shell;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.SystemTest;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

@SystemTest
class BirdInteropTest extends DaemonContract {
  @Override
  List<Path> programs() {
    return BirdDaemon.programs();
  }

  @Override
  Process launch(String key, boolean security) throws Exception {
    return launch(
        "local fd00:1::1 as 65002; neighbor fd00:1::2 as 65001; passive;"
            + (key.isEmpty() ? "" : " password \"" + key + "\";")
            + (security ? " ttl security on;" : ""));
  }

  private Process launch(String neighbour) throws Exception {
    return launch(neighbour, "");
  }

  private Process launch(String neighbour, String more) throws Exception {
    return BirdDaemon.start(
        net,
        """
        log stderr all;
        router id 10.0.3.1;
        protocol device {}
        protocol static own { ipv6;
          route fd00:aa::/32 unreachable {
            bgp_ext_community.add((generic, 0x01800a00, 0x03010190));
            bgp_ext_community.add((generic, 0x030b0000, 7));
            bgp_ext_community.add((generic, 0x0004fdea, 0x4cee6b28));
            bgp_large_community.add((65002, 1, 2));
            bgp_community.add((65002, 3)); };
          route fd00:aa:0:5::5/128 unreachable {
            bgp_ext_community.add((generic, 0x01800a00, 0x03010000));
            bgp_ext_community.add((generic, 0x03098000, 0x0a000002)); };
        }
        protocol static late { disabled; ipv6; route fd00:bb::/32 unreachable; }
        protocol bgp hosts { %s hold time 9; error wait time 1,2; graceful restart on;
          ipv6 { import all; next hop self; aigp originate;
            export filter { if source != RTS_STATIC then reject; igp_metric = 4; accept; }; }; }
        %s
        """
            .formatted(neighbour, more));
  }

  private String birdc(String... words) throws Exception {
    return BirdDaemon.ask(net, words);
  }

  @Override
  String table() throws Exception {
    return birdc("show", "route", "all");
  }

  @Override
  String speakerRouteEntry() throws Exception {
    return birdc("show", "route", "all", "for", "fd00:55::5/128");
  }

  @Override
  List<String> ourAttributes() {
    return List.of(
        "(unknown 0x180, 10.0.0.5, 100)",
        "(unknown 0x81, 65001, 167772165)",
        "(unknown 0x4, 65001, %s)".formatted(Float.floatToIntBits(125e6f)),
        "(generic, 0x30b0000, 0x8)",
        "BGP.community: (65001,9)",
        "BGP.aigp: 6",
        "BGP.large_community: (65001, 3, 4)",
        "BGP.c8 [t]: 01 02 03 04");
  }

  @Override
  void reset() throws Exception {
    birdc("restart", "hosts");
  }

  @Override
  void assertAttributes(PathAttributes attributes) {
    assertEquals(
        new ExtendedCommunity.PathBandwidth(true, 0x0a000301, 400), attributes.pathBandwidth());
    assertEquals(new ExtendedCommunity.Color(0, 7), attributes.color());
    assertEquals(1e9, attributes.linkBandwidth().bitsPerSecond());
    assertEquals(new PathAttribute.Aigp(4), attributes.aigp());
    assertEquals(List.of(0xfdea_0003), attributes.find(PathAttribute.Communities.class).values());
    assertEquals(
        "[65002:1:2]", attributes.find(PathAttribute.LargeCommunities.class).values().toString());
  }

  @Test
  void moreSpecificRouteIsAddedAndWithdrawn() throws Exception {
    launch("", false);
    connect(options());
    Prefix host = Prefix.of("fd00:aa:0:5::5");
    await("the exception", () -> attributesOf(host) != null);
    assertTrue(attributesOf(host).pathBandwidth().isUnreachable());
    assertTrue(attributesOf(host).isUnreachable());
    birdc("enable", "late");
    await("a later route", () -> attributesOf(Prefix.of("fd00:bb::/32")) != null);
    birdc("disable", "late");
    await("its withdrawal", () -> attributesOf(Prefix.of("fd00:bb::/32")) == null);
  }

  @Test
  void refreshBringsEverythingAgain() throws Exception {
    launch("", false);
    connect(options());
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
    await("end of rib", () -> heard.has("end of rib"));
    heard.updates.clear();
    assertTrue(speaker.callOnLoop(() -> session.requestRefresh(AddressFamily.IPV6_UNICAST)));
    await("the aggregate again", () -> attributesOf(AGGREGATE) != null && heard.has("drop stale"));
  }

  @Test
  void routesAreKeptWhileItRestarts() throws Exception {
    assertRoutesAreKeptOverItsDeath();
  }

  @Test
  void shutdownSentenceArrives() throws Exception {
    launch("", false);
    connect(options());
    awaitEstablished();
    birdc("disable", "hosts", "\"plane-1 maintenance\"");
    await("the words", () -> heard.log.toString().contains("\"plane-1 maintenance\""));
  }

  @Test
  void linkLocalPeerIsReached() throws Exception {
    launch(
        "local as 65002; neighbor range fe80::/10 external; interface \"h0\"; passive;"
            + " dynamic name \"h\"; ttl security on;");
    connectToLinkLocal();
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }

  @Test
  void deadPathIsDetectedBeforeTheHoldTime() throws Exception {
    Process first =
        launch(
            "local fd00:1::1 as 65002; neighbor fd00:1::2 as 65001; passive; bfd on;",
            "protocol bfd { interface \"*\" { interval 100 ms; multiplier 5; }; }");
    connect(options().bfd(new BfdOptions(100, 5)));
    await("BFD", () -> heard.log.toString().contains("BFD is up"));
    ProcessHandle bird = first.descendants().reduce((one, last) -> last).orElse(first.toHandle());
    Deadline underHoldTime = Deadline.ofSeconds(5);
    Shell.run(List.of("kill", "-STOP", String.valueOf(bird.pid())));
    await("the end", () -> heard.has("down BFD"));
    boolean late = underHoldTime.isOver();
    Shell.run(List.of("kill", "-CONT", String.valueOf(bird.pid())));
    assertFalse(late, () -> "not within " + underHoldTime + ", the hold time is 9 s");
    await(
        "established again",
        () -> heard.events.stream().filter(each -> each.startsWith("established")).count() == 2);
  }

  @Test
  void lostAndRestoredCarrierActImmediately() throws Exception {
    launch("", false);
    connect(options().onInterface("p1").retryMs(10_000, 60_000));
    awaitEstablished();
    Deadline atOnce = Deadline.ofSeconds(3);
    Shell.run(List.of("ip", "-n", net.leaf(), "link", "set", "h0", "down"));
    await("the end", () -> heard.has("down LINK_DOWN"));
    assertFalse(atOnce.isOver(), () -> "not within " + atOnce);
    Shell.run(List.of("ip", "-n", net.leaf(), "link", "set", "h0", "up"));
    Shell.run(
        List.of("ip", "-n", net.leaf(), "addr", "replace", "fd00:1::1/64", "dev", "h0", "nodad"));
    await(
        "established again",
        () -> heard.events.stream().filter(each -> each.startsWith("established")).count() == 2);
  }

  @Test
  void packetsBelowTheHopLimitAreDropped() throws Exception {
    launch("", false);
    connect(options().gtsmHops(1).openWaitMs(1_500));
    await("a failure", () -> heard.has("failed"));
    assertEquals(0, heard.events.stream().filter(each -> each.startsWith("estab")).count());
  }
}
