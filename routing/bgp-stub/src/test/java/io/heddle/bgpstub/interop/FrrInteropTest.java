package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.session.Negotiated;
import io.heddle.bgp.wire.AddressFamily;
import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.OrfEntry;
import io.heddle.bgp.wire.PathAttribute;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.bgp.wire.Prefix;
import io.heddle.bgpstub.rib.PeerRoutes;
import io.heddle.bgpstub.rib.Rib;
import io.heddle.bgpstub.rib.RibOptions;
import io.heddle.bgpstub.rib.Route;
import io.heddle.platform.NanoClock;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.Shell;
import io.heddle.platform.testing.SystemTest;
import io.heddle.routes.RoutePublisher;
import io.heddle.routes.WeightRules;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@SystemTest
class FrrInteropTest extends DaemonContract {
  private static final Path PROGRAMS = Path.of("/usr/lib/frr");
  private static final int LARGE_LEAF = 4_000;
  private String routes = "";

  @Override
  List<Path> programs() {
    return List.of(PROGRAMS.resolve("bgpd"), PROGRAMS.resolve("zebra"), Path.of("/usr/bin/vtysh"));
  }

  @Override
  Process launch(String key, boolean security) throws Exception {
    return launch(
        "fd00:1::2",
        " neighbor fd00:1::2 remote-as 65001\n%s%s"
            .formatted(
                key.isEmpty() ? "" : " neighbor fd00:1::2 password " + key.replace(' ', '_') + "\n",
                security ? " neighbor fd00:1::2 ttl-security hops 1\n" : ""));
  }

  private Process launch(String neighbour, String lines) throws Exception {
    Path run = net.folder();
    Files.setPosixFilePermissions(run, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path folder = Files.createDirectories(run.resolve("frr"));
    Files.writeString(folder.resolve("zebra.conf"), "hostname leaf\n");
    Files.writeString(
        folder.resolve("bgpd.conf"),
        """
        hostname leaf
        router bgp 65002
         bgp router-id 10.0.3.1
         no bgp ebgp-requires-policy
         no bgp default ipv4-unicast
         no bgp network import-check
         bgp graceful-restart
         bgp route-map delay-timer 0
        %s neighbor %s timers 3 9
         neighbor %s timers connect 1
         address-family ipv6 unicast
          neighbor %s activate
          neighbor %s capability orf prefix-list receive
          neighbor %s route-map OUT out
          network fd00:aa::/32
        %s exit-address-family
        route-map OUT permit 10
         set extcommunity bandwidth 1000
         set large-community 65002:1:2
         set community 65002:3
        """
            .formatted(lines, neighbour, neighbour, neighbour, neighbour, neighbour, routes));
    Shell.run(List.of("chown", "-R", "frr:frr", folder.toString()));
    String[] common = {
      "-N",
      "heddle",
      "-z",
      folder.resolve("zserv").toString(),
      "--vty_socket",
      folder.toString(),
      "-A",
      "::1"
    };
    net.start(command("zebra", folder, common));
    await("zebra's socket", () -> Files.exists(folder.resolve("zserv")));
    return net.start(command("bgpd", folder, common));
  }

  private static String[] command(String program, Path folder, String[] common) {
    List<String> all = new ArrayList<>();
    all.add(PROGRAMS.resolve(program).toString());
    all.addAll(List.of("-f", folder.resolve(program + ".conf").toString()));
    all.addAll(List.of("-i", folder.resolve(program + ".pid").toString()));
    all.addAll(List.of(common));
    return all.toArray(String[]::new);
  }

  @Override
  String key() {
    return KEY.replace(' ', '_');
  }

  @Override
  String table() throws Exception {
    return vtysh("show bgp ipv6 unicast").toLowerCase(Locale.ROOT);
  }

  private String vtysh(String question) throws Exception {
    return net.ask("vtysh", "--vty_socket", net.folder().resolve("frr").toString(), "-c", question);
  }

  @Override
  String speakerRouteEntry() throws Exception {
    return vtysh("show bgp ipv6 unicast fd00:55::5/128");
  }

  /*
   * For a colour community FRR shows the type; for other communities, the sub-type. It drops AIGP,
   * and keeps unknown attributes without showing them.
   */
  @Override
  List<String> ourAttributes() {
    return List.of(
        "UNK:1, 128",
        "UNK:0, 129",
        "LB:65001:125000000 (1.000 Gbps)",
        "UNK:3, ",
        "Community: 65001:9",
        "Large Community: 65001:3:4");
  }

  @Override
  void reset() throws Exception {
    vtysh("clear bgp *");
  }

  @Override
  void assertAttributes(PathAttributes attributes) {
    assertEquals(1e9, attributes.linkBandwidth().bitsPerSecond());
    assertTrue(attributes.linkBandwidth().transitive());
    assertEquals(
        "[65002:1:2]", attributes.find(PathAttribute.LargeCommunities.class).values().toString());
    assertEquals(List.of(0xfdea_0003), attributes.find(PathAttribute.Communities.class).values());
  }

  /*
   * Tests filters of several lengths. For each filter, the leaf has the route of the last line,
   * which must arrive, and the route of the next host, which must not. 169 lines fill a message, so
   * the 170th line is alone in a second message.
   */
  @Test
  void filterOfAnyLengthPermitsItsPrefixes() throws Exception {
    TreeSet<Integer> known = new TreeSet<>(List.of(1, 2, 169, 170, 171, 4000, 4001));
    IntStream.range(1, 40).forEach(i -> known.add(100 * i + 1));
    StringBuilder networks = new StringBuilder("  network fd00:cc::/32\n");
    known.forEach(i -> networks.append("  network ").append(host(i)).append('\n'));
    routes = networks.toString();
    launch("", false);
    connect(options().filters(true));
    awaitEstablished();
    Negotiated negotiated = speaker.callOnLoop(session::status).negotiated();
    assertTrue(negotiated != null && negotiated.hasFilters());
    for (int count : new int[] {1, 169, 170, 4000}) {
      List<OrfEntry> lines =
          IntStream.rangeClosed(1, count).mapToObj(i -> OrfEntry.permit(i, host(i))).toList();
      assertTrue(speaker.callOnLoop(() -> session.sendFilter(AddressFamily.IPV6_UNICAST, lines)));
      awaitExactly(count + " lines", known.headSet(count, true));
    }
    heard.updates.clear();
    assertTrue(speaker.callOnLoop(() -> session.requestRefresh(AddressFamily.IPV6_UNICAST)));
    awaitExactly("all of them again", known.headSet(4000, true));
  }

  private static Prefix host(int number) {
    return Prefix.of("fd00:bb::%x/128".formatted(number));
  }

  /*
   * Waits until the speaker has the routes of exactly these hosts. No other route may have been
   * announced, even if it was withdrawn afterwards.
   */
  private void awaitExactly(String what, Set<Integer> numbers) throws Exception {
    Set<Prefix> hosts = new TreeSet<>(numbers.stream().map(FrrInteropTest::host).toList());
    await(
        what,
        () -> {
          Set<Prefix> announced = new TreeSet<>();
          heard.updates.forEach(each -> announced.addAll(each.announced().prefixes()));
          announced.removeAll(hosts);
          assertEquals(Set.of(), announced, what + " don't name these");
          return hosts.stream().allMatch(each -> attributesOf(each) != null);
        });
  }

  /*
   * Tests the route daemon with a leaf that filters. Jobs begin and end, and the leaf sends only
   * the routes to their hosts.
   */
  @Test
  void routesFollowThePeersInUseAndOurAddressIsAnnounced() throws Exception {
    routes = "  network fd00:bb::1/128\n  network fd00:bb::2/128\n  network fd00:bb::3/128\n";
    launch("", false);
    Path file = net.folder().resolve("routes");
    RoutePublisher publisher =
        RoutePublisher.create(file, "a test", WeightRules.DEFAULT, 100, NanoClock.SYSTEM);
    Rib rib = new Rib(publisher, RibOptions.DEFAULT, speaker::execute, heard.logTo());
    PeerRoutes peer =
        speaker.callOnLoop(
            () -> new PeerRoutes(rib.addPeer("leaf", "plane:a", 0), 65001, 0x0a000005, true));
    Prefix first = Prefix.of("fd00:bb::1");
    Prefix second = Prefix.of("fd00:bb::2");
    speaker.execute(() -> {
      peer.setAddresses(Set.of(Prefix.of("fd00:1::2").address()), 400_000);
      peer.setWanted(Set.of(first));
    });
    session = speaker.add(options().filters(true).build(), peer);
    speaker.execute(session::start);
    await("the first", () -> prefixes(peer).equals(List.of(first)));
    speaker.execute(() -> peer.setWanted(Set.of(first, second, AGGREGATE)));
    await("all three", () -> prefixes(peer).equals(List.of(AGGREGATE, first, second)));
    speaker.execute(() -> peer.setWanted(Set.of(second)));
    await("the second alone", () -> prefixes(peer).equals(List.of(second)));
    assertEquals(3, speaker.callOnLoop(peer::filterLines), "two of them deny");
    await("our address", () -> table().contains("fd00:1::2/128"));
    speaker.execute(() -> peer.setAddresses(Set.of(), 400_000));
    await("its end", () -> !table().contains("fd00:1::2/128"));
    speaker.callOnLoop(() -> {
      rib.freeze();
      publisher.close();
      return true;
    });
  }

  /* Uses an IPv4 session and a leaf that has only IPv4 next hops. */
  @Test
  void everyFamilyHasItsOwnFilter() throws Exception {
    routes = "  network fd00:bb::1/128\n  network fd00:bb::2/128\n";
    launch(
        "10.9.0.2",
        """
         neighbor 10.9.0.2 remote-as 65001
         address-family ipv4 unicast
          neighbor 10.9.0.2 activate
          neighbor 10.9.0.2 capability orf prefix-list receive
          network 10.20.0.1/32
          network 10.20.0.2/32
         exit-address-family
        """);
    RoutePublisher publisher =
        RoutePublisher.create(
            net.folder().resolve("routes"), "a test", WeightRules.DEFAULT, 100, NanoClock.SYSTEM);
    Rib rib = new Rib(publisher, RibOptions.DEFAULT, speaker::execute, heard.logTo());
    PeerRoutes peer =
        speaker.callOnLoop(
            () -> new PeerRoutes(rib.addPeer("leaf", "plane:a", 0), 65001, 0x0a000005, true));
    Prefix four = Prefix.of("10.20.0.2");
    Prefix six = Prefix.of("fd00:bb::1");
    speaker.execute(() -> {
      peer.setAddresses(Set.of(Prefix.of("10.9.0.2").inetAddress()), 400_000);
      peer.setWanted(Set.of(four, six));
    });
    session =
        speaker.add(
            options()
                .remote(Prefix.of("10.9.0.1").inetAddress())
                .localAddress(Prefix.of("10.9.0.2").inetAddress())
                .families(Families.UNICAST)
                .filters(true)
                .build(),
            peer);
    speaker.execute(session::start);
    await("one of each", () -> prefixes(peer).equals(List.of(four, six)));
    await("our address", () -> vtysh("show bgp ipv4 unicast").contains("10.9.0.2/32"));
    speaker.execute(() -> peer.setWanted(Set.of(Prefix.of("10.20.0.1"), six)));
    await("another", () -> prefixes(peer).equals(List.of(Prefix.of("10.20.0.1"), six)));
    speaker.callOnLoop(() -> {
      rib.freeze();
      publisher.close();
      return true;
    });
  }

  /* Tests a job with 64 other hosts, at a leaf that has thousands of routes. */
  @Test
  void filterForSixtyFourPeersHoldsOnlyTheirRoutes() throws Exception {
    StringBuilder networks = new StringBuilder();
    for (int i = 1; i <= LARGE_LEAF; i++) {
      networks.append("  network fd00:bb::%x/128%n".formatted(i));
    }
    routes = networks.toString();
    launch("", false);
    RoutePublisher publisher =
        RoutePublisher.create(
            net.folder().resolve("routes"), "a test", WeightRules.DEFAULT, 100, NanoClock.SYSTEM);
    Rib rib = new Rib(publisher, RibOptions.DEFAULT, speaker::execute, heard.logTo());
    PeerRoutes peer =
        speaker.callOnLoop(
            () -> new PeerRoutes(rib.addPeer("leaf", "plane:a", 0), 65001, 0x0a000005, true));
    Set<Prefix> inUse = new TreeSet<>();
    for (int i = 1; i <= 64; i++) {
      inUse.add(Prefix.of("fd00:bb::%x".formatted(i * LARGE_LEAF / 64)));
    }
    speaker.execute(() -> peer.setWanted(inUse));
    long beganNs = System.nanoTime();
    session = speaker.add(options().filters(true).build(), peer);
    speaker.execute(session::start);
    await("the routes in use", () -> prefixes(peer).equals(List.copyOf(inUse)));
    System.out.printf(
        Locale.ROOT,
        "ORF for 64 peers on a leaf with %,d routes: %d held, %d ms after the first attempt%n",
        LARGE_LEAF + 1,
        prefixes(peer).size(),
        (System.nanoTime() - beganNs) / 1_000_000);
    assertEquals(64, speaker.callOnLoop(peer::filterLines));
    speaker.callOnLoop(() -> {
      rib.freeze();
      publisher.close();
      return true;
    });
  }

  private List<Prefix> prefixes(PeerRoutes peer) {
    return speaker.callOnLoop(
        () -> peer.routes().routes(LARGE_LEAF).stream().map(Route::prefix).toList());
  }

  @Test
  void plainRefreshReleasesItsRoutes() throws Exception {
    launch("", false);
    connect(options().filters(true));
    awaitEstablished();
    assertTrue(speaker.callOnLoop(() -> session.requestRefresh(AddressFamily.IPV6_UNICAST)));
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }

  @Test
  void leafThatNeedsOurAdvertisementIsDiscovered() throws Exception {
    new NetworkNamespace(net.host()).set(List.of("net.ipv6.conf.p1.accept_ra=0"));
    launch("h0", " neighbor h0 interface remote-as external\n");
    connect(options().remote(null).localAddress(null).onInterface("p1").bindToDevice(true));
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
    assertTrue(speaker.callOnLoop(session::status).remote().startsWith("[fe80::"));
  }

  @Test
  void routesAreKeptWhileItRestarts() throws Exception {
    assertRoutesAreKeptOverItsDeath();
  }
}
