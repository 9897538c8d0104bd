package io.heddle.gateway.route;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.addr.AddressPrefix;
import io.heddle.addr.AddressText;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import java.net.Inet6Address;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests of the installed routes, as iproute2 shows them. */
@EndsWithin(60)
@SystemTest
final class KernelRoutesTest {
  private static final List<Inet6Address> SEGMENTS =
      List.of(segment("5f00:0:1::1"), segment("5f00:0:99::d6"));

  @BeforeAll
  static void skipWithoutNamespaces() {
    Requirements.namespaces();
  }

  private static Inet6Address segment(String text) {
    return (Inet6Address) AddressText.parse(text);
  }

  private static NetworkNamespaces network() {
    return NetworkTopology.of("host")
        .link("host wan", "host far")
        .address("host", "wan", "fc00:11::1/64")
        .create();
  }

  private static KernelRoute bySegments(int table, String prefix, int index, boolean reduced) {
    return new KernelRoute(
        table,
        AddressPrefix.parse(prefix),
        index,
        new KernelRoute.ToSegments(new SegmentPath(SEGMENTS, reduced)));
  }

  @Test
  void routesAndRulesAreInstalledChangedAndRemoved() {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace host = net.node("host");
      host.call(() -> {
        int wan = LinuxCalls.interfaceIndex("wan");
        KernelRoute first =
            new KernelRoute(
                KernelRoute.MAIN_TABLE,
                AddressPrefix.parse("5f00:0:1::1"),
                wan,
                new KernelRoute.ToNeighbour(AddressText.parse("fc00:11::2")));
        List<MarkRule> rules =
            List.of(
                new MarkRule(true, 1 << 16, 0xff << 16, 8401, 8401),
                new MarkRule(false, 1 << 16, 0xff << 16, 8401, 8401));
        List<KernelRoute> routes =
            List.of(
                first,
                bySegments(8401, "fc00:2::/64", wan, false),
                bySegments(8401, "10.2.0.0/16", wan, false));
        assertEquals(routes, KernelRoutes.apply(routes, rules).taken());
        KernelRoutes.apply(routes, rules);
        return null;
      });
      String table = host.run("ip", "-6", "route", "show", "table", "8401");
      assertEquals(1, table.lines().count(), table);
      assertTrue(
          table.contains(
              "fc00:2::/64  encap seg6 mode encap segs 2 [ 5f00:0:1::1 5f00:0:99::d6 ] dev wan"),
          table);
      String ipv4 = host.run("ip", "-4", "route", "show", "table", "8401");
      assertTrue(ipv4.contains("10.2.0.0/16  encap seg6 mode encap segs 2 ["), ipv4);
      String rules = host.run("ip", "-6", "rule");
      assertEquals(1, rules.lines().filter(line -> line.contains("lookup 8401")).count(), rules);
      assertTrue(rules.contains("8401:\tfrom all fwmark 0x10000/0xff0000 lookup 8401"), rules);
      assertTrue(host.run("ip", "-6", "route").contains("5f00:0:1::1 via fc00:11::2 dev wan"));

      host.call(() -> {
        int wan = LinuxCalls.interfaceIndex("wan");
        KernelRoutes.apply(
            List.of(bySegments(8402, "fc00:2::/64", wan, false)),
            List.of(new MarkRule(true, 2 << 16, 0xff << 16, 8402, 8402)));
        return null;
      });
      assertFalse(host.run("ip", "-6", "rule").contains("8401"));
      assertFalse(host.run("ip", "-6", "route").contains("5f00:0:1::1"));
      host.call(() -> {
        KernelRoutes.removeAll();
        return null;
      });
      assertFalse(host.run("ip", "-6", "rule").contains("8402"));
      assertFalse(host.run("ip", "-6", "route", "show", "table", "all").contains("seg6"));
      assertTrue(
          host.run("ip", "-6", "route").contains("fc00:11::/64 dev wan"), "routes of others stay");
    }
  }

  @Test
  void reducedEncapsulationFallsBackToFull() {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace host = net.node("host");
      List<KernelRoute> taken =
          host.call(() ->
              KernelRoutes.apply(
                      List.of(
                          bySegments(8401, "fc00:2::/64", LinuxCalls.interfaceIndex("wan"), true)),
                      List.of())
                  .taken());
      boolean reduced = ((KernelRoute.ToSegments) taken.getFirst().next()).path().reduced();
      String table = host.run("ip", "-6", "route", "show", "table", "8401");
      assertTrue(table.contains(reduced ? "mode encap.red" : "mode encap"), table);
    }
  }

  @Test
  void refusedRoutesAreReportedAndTheOthersInstalled() {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace host = net.node("host");
      KernelRoute wrong = bySegments(8401, "fc00:2::/64", 999, false);
      KernelRoutes.Outcome outcome =
          host.call(() ->
              KernelRoutes.apply(
                  List.of(
                      wrong,
                      bySegments(8402, "fc00:2::/64", LinuxCalls.interfaceIndex("wan"), false)),
                  List.of()));
      assertEquals(1, outcome.taken().size());
      assertTrue(
          outcome.refused().get(wrong).contains("refused the route to fc00:2::/64 of table 8401"),
          outcome.toString());
    }
  }

  @Test
  void overheadIsTheOuterHeaderAndTheSegments() {
    assertEquals(40 + 8 + 32, new SegmentPath(SEGMENTS, false).overheadBytes());
    assertEquals(40 + 8 + 16, new SegmentPath(SEGMENTS, true).overheadBytes());
    assertEquals(40, new SegmentPath(SEGMENTS.subList(0, 1), true).overheadBytes());
  }
}
