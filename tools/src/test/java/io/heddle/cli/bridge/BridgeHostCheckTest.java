package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.Memory;
import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.lab.Skip;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of {@code heddle bridge check --host}: each cause of missing packets is reproduced in a
 * network namespace.
 */
@EndsWithin(120)
@SystemTest
final class BridgeHostCheckTest extends BridgedFabrics {
  private static final int AF_INET = 2;
  private static final int SOCK_RAW = 3;
  private static final int IPPROTO_IGMP = 2;
  private static final int MRT_INIT = 200;
  private static final int MRT_ADD_VIF = 202;
  private static final int VIFF_USE_IFINDEX = 8;

  @BeforeEach
  void setUp() {
    open(1500);
    assertEquals("", causes("10.1.0.0/16"));
  }

  private void at(String... command) {
    fabrics.runAt(0, List.of(command));
  }

  private BridgeHostCheck.Report check(String prefix) {
    return NetworkNamespace.call(
        fabrics.namespace(0),
        () ->
            BridgeHostCheck.check(
                BridgeConfigParser.parse(
                    "bridge.conf",
                    """
                    [fabric a]
                    interface = e1
                    prefix = %s
                    [fabric b]
                    interface = e2
                    [group 239.1.1.1]
                    """
                        .formatted(prefix))));
  }

  private String causes(String prefix) {
    return String.join(" ", check(prefix).findings().stream().map(each -> each.cause()).toList());
  }

  @Test
  void findsMissingRouteAndReversePathFilter() {
    assertEquals("no-route", causes("10.7.0.0/16"));
    at("ip", "route", "add", "10.7.0.0/16", "dev", "e2");
    at("sysctl", "-qw", "net.ipv4.conf.all.rp_filter=0", "net.ipv4.conf.e1.rp_filter=0");
    assertEquals("", causes("10.7.0.0/16"));
    at("sysctl", "-qw", "net.ipv4.conf.e1.rp_filter=1");
    assertEquals("rp-filter", causes("10.7.0.0/16"));
    assertEquals("", causes("10.1.0.0/16"), "the route to these is right");
    at("sysctl", "-qw", "net.ipv4.conf.e1.rp_filter=2");
    assertEquals("", causes("10.7.0.0/16"));
  }

  @Test
  void findsInterfaceFaults() {
    at("ip", "link", "set", "e2", "mtu", "1400");
    assertEquals("mtu-differs", causes("10.1.0.0/16"));
    at("ip", "link", "set", "e2", "mtu", "1500", "multicast", "off");
    BridgeHostCheck.Report report = check("10.1.0.0/16");
    assertEquals("no-multicast", report.findings().getFirst().cause());
    assertEquals("b", report.findings().getFirst().fabric());
    assertTrue(report.text().contains("remedy: ip link set e2 multicast on"), report.text());
  }

  @Test
  void findsSnoopingSwitchWithoutQuerier() {
    at("ip", "link", "add", "br0", "type", "bridge", "mcast_snooping", "1");
    at("ip", "link", "set", "e2", "master", "br0");
    assertEquals("no-querier", causes("10.1.0.0/16"));
    at("ip", "link", "set", "br0", "type", "bridge", "mcast_querier", "1");
    assertEquals("", causes("10.1.0.0/16"));
  }

  @Test
  void findsFirewallRulesThatDropPort() {
    if (!Files.isExecutable(Path.of("/usr/sbin/nft"))) {
      Skip.because("no nft here: apt-get install nftables");
    }
    at("nft", "add table inet t; add chain inet t in { type filter hook input priority 0; }");
    assertEquals("", causes("10.1.0.0/16"));
    at("nft", "add rule inet t in udp dport 4791 drop");
    assertEquals("firewall firewall", causes("10.1.0.0/16"));
    at("nft", "flush chain inet t in; chain inet t in { policy drop; }");
    assertEquals("firewall firewall", causes("10.1.0.0/16"));
    at("nft", "add rule inet t in udp dport 4791 accept");
    assertEquals("", causes("10.1.0.0/16"));
  }

  @Test
  void findsKernelMulticastRouting() {
    NetworkNamespace.call(
        fabrics.namespace(0),
        () -> {
          int fd = LinuxCalls.socket(AF_INET, SOCK_RAW, IPPROTO_IGMP);
          try (Arena arena = Arena.ofConfined()) {
            assertEquals(0, LinuxCalls.setIntOption(fd, 0, MRT_INIT, 1));
            /* struct vifctl: number, flags, threshold, rate limit, interface, remote end. */
            long request = Memory.allocate(arena, 16, 8);
            Memory.ALL.set(Memory.NATIVE_SHORT, request, (short) 0);
            Memory.ALL.set(Memory.NATIVE_SHORT, request + 2, (short) (VIFF_USE_IFINDEX | 1 << 8));
            Memory.setInt(request + 8, LinuxCalls.interfaceIndex("e1"));
            assertEquals(0, LinuxCalls.setsockopt(fd, 0, MRT_ADD_VIF, request, 16));
            assertEquals("kernel-routes", causes("10.1.0.0/16"));
          } finally {
            LinuxCalls.close(fd);
          }
          return true;
        });
    assertEquals("", causes("10.1.0.0/16"));
  }
}
