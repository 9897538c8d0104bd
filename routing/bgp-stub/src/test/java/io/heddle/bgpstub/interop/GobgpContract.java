package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bgp.wire.ExtendedCommunity;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Contract tests with GoBGP in the leaf, with sessions and routes of either address family. */
abstract class GobgpContract extends DaemonContract {
  String local = fabric().leaf();
  String neighbour = fabric().host();

  @Override
  List<Path> programs() {
    return List.of(Path.of("/usr/bin/gobgpd"), Path.of("/usr/bin/gobgp"));
  }

  @Override
  Process launch(String key, boolean security) throws Exception {
    Path configuration = net.folder().resolve("gobgp.toml");
    Files.writeString(
        configuration,
        """
        [global.config]
          as = 65002
          router-id = "10.0.3.1"
          local-address-list = ["%s"]
        [global.apply-policy.config]
          export-policy-list = ["figures"]
          default-export-policy = "accept-route"
        [[policy-definitions]]
          name = "figures"
          [[policy-definitions.statements]]
            name = "one gigabit"
            [policy-definitions.statements.actions]
              route-disposition = "accept-route"
            [policy-definitions.statements.actions.bgp-actions.set-ext-community]
              options = "add"
            [policy-definitions.statements.actions.bgp-actions.set-ext-community.set-ext-community-method]
              communities-list = ["lb:65002:125000000"]
        [[neighbors]]
          [neighbors.config]
            neighbor-address = "%s"
            peer-as = 65001
        %s  [neighbors.transport.config]
            passive-mode = true
          [neighbors.timers.config]
            hold-time = 9
            keepalive-interval = 3
          [neighbors.ttl-security.config]
            enabled = %b
            ttl-min = 255
          [neighbors.graceful-restart.config]
            enabled = true
            restart-time = 20
          [[neighbors.afi-safis]]
            [neighbors.afi-safis.config]
              afi-safi-name = "%s-unicast"
            [neighbors.afi-safis.mp-graceful-restart.config]
              enabled = true
        """
            .formatted(
                local,
                neighbour,
                key.isEmpty() ? "" : "    auth-password = \"" + key + "\"\n",
                security,
                family()));
    Process process =
        net.start(
            "/usr/bin/gobgpd", "-f", configuration.toString(), "--api-hosts", "127.0.0.1:50051");
    await("its interface", () -> net.ask("gobgp", "global").contains("65002"));
    String said =
        net.ask(
            "gobgp",
            "global",
            "rib",
            "add",
            "-a",
            family(),
            aggregate().toString(),
            "nexthop",
            fabric().leaf(),
            "aigp",
            "metric",
            "4",
            "color",
            "7",
            "community",
            "65002:3",
            "large-community",
            "65002:1:2");
    assertEquals("", said);
    return process;
  }

  private String family() {
    return fabric().choose("ipv6", "ipv4");
  }

  @Override
  String table() throws Exception {
    return net.ask("gobgp", "global", "rib", "-a", family()).toLowerCase(Locale.ROOT);
  }

  @Override
  String speakerRouteEntry() throws Exception {
    return net.ask("gobgp", "global", "rib", "-a", family(), announced().toString(), "-j");
  }

  /* GoBGP always shows link bandwidth as non-transitive (64). */
  @Override
  List<String> ourAttributes() {
    return List.of(
        "{\"type\":1,\"subtype\":128,\"value\":\"10.0.0.5:100\"}",
        "{\"type\":0,\"subtype\":129,\"value\":\"65001:167772165\"}",
        "{\"type\":64,\"subtype\":4,\"asn\":65001,\"bandwidth\":125000000}",
        "{\"type\":3,\"subtype\":11,\"color\":8}",
        "\"communities\":[%s]".formatted(0xfde9_0009L),
        "{\"type\":26,\"value\":[{\"type\":1,\"metric\":6}]}",
        "{\"ASN\":65001,\"LocalData1\":3,\"LocalData2\":4}",
        "{\"flags\":192,\"type\":200,\"value\":\"AQIDBA==\"}");
  }

  @Override
  void reset() throws Exception {
    net.ask("gobgp", "neighbor", fabric().host(), "reset");
  }

  @Override
  void assertAttributes(PathAttributes attributes) {
    assertEquals(new ExtendedCommunity.Color(0, 7), attributes.color());
    assertEquals(
        new ExtendedCommunity.LinkBandwidth(false, 65002, 125e6f), attributes.linkBandwidth());
    assertEquals(new PathAttribute.Aigp(4), attributes.aigp());
    assertEquals(List.of(0xfdea_0003), attributes.find(PathAttribute.Communities.class).values());
    assertEquals(
        "[65002:1:2]", attributes.find(PathAttribute.LargeCommunities.class).values().toString());
  }

  @Test
  void routesAreKeptWhileItRestarts() throws Exception {
    assertRoutesAreKeptOverItsDeath();
  }

  /*
   * GoBGP waits half a minute after a reset, so this test runs only in a whole run. The same test with
   * BIRD, FRR and OpenBGPD runs always.
   */
  @Test
  @WholeRunOnly
  @Override
  void operatorsResetIsReportedAndTheSessionReturns() throws Exception {
    super.operatorsResetIsReportedAndTheSessionReturns();
  }
}
