package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of topologies of network namespaces: their content, their end, and their leftovers. */
@EndsWithin(120)
class NetworkNamespacesTest {
  @BeforeEach
  void requireNamespaces() {
    Requirements.namespaces();
  }

  private static boolean exists(String namespace) {
    return Files.exists(NetworkNamespace.NAMES.resolve(namespace));
  }

  private static NetworkTopology hostAndRouter() {
    return new NetworkTopology()
        .node("host")
        .node("router", "net.ipv6.conf.all.forwarding=1")
        .link("host lan mtu 9000 address 02:00:00:00:00:01", "router lan mtu 9000 down")
        .address("host", "lan", "fd00:1::1/64", "10.1.0.1/24")
        .ip("host", "route add default via fd00:1::2 dev lan");
  }

  @Test
  void declaredTopologyIsCreated() {
    try (NetworkNamespaces net = hostAndRouter().create()) {
      String addresses = net.node("host").run("ip", "addr");
      assertTrue(addresses.contains("mtu 9000"), addresses);
      assertTrue(addresses.contains("02:00:00:00:00:01"), addresses);
      assertTrue(addresses.contains("inet 10.1.0.1/24"), addresses);
      assertTrue(addresses.contains("fd00:1::1/64"), addresses);
      assertFalse(addresses.contains("tentative"), addresses);
      assertTrue(net.node("host").run("ip", "-6", "route").contains("default via fd00:1::2"));
      assertTrue(net.node("router").run("ip", "link", "show", "lan").contains("state DOWN"));
      assertEquals(
          "1",
          net.node("router")
              .call(() ->
                  Files.readString(Path.of("/proc/sys/net/ipv6/conf/all/forwarding")).strip()));
    }
  }

  @Test
  void addedLinkLeadsToAnExistingNode() {
    try (NetworkNamespaces net = hostAndRouter().create()) {
      net.add(NetworkTopology.of("late").link("late lan", "router late"));
      assertTrue(net.node("router").run("ip", "link").contains("late@"));
    }
  }

  @Test
  void closeRemovesAllNodes() {
    NetworkNamespaces net = hostAndRouter().create();
    assertTrue(exists(net.name("host")) && exists(net.name("router")));
    net.close();
    assertFalse(exists(net.name("host")) || exists(net.name("router")));
  }

  @Test
  void failedSetUpLeavesNothing() {
    String own = "heddle-" + ProcessHandle.current().pid() + "-";
    List<NetworkNamespace> before = NetworkNamespaces.named(own);
    NetworkTopology wrong = hostAndRouter().ip("host", "route add default via nowhere");
    assertThrows(HeddleException.class, wrong::create);
    assertEquals(before, NetworkNamespaces.named(own));
  }

  @Test
  void closeDuringSetUpLeavesNothing() throws Exception {
    NetworkNamespaces net = new NetworkNamespaces();
    NetworkTopology many = new NetworkTopology();
    for (int i = 0; i < 20; i++) {
      many.node("n" + i);
    }
    Thread setUp =
        Thread.ofPlatform()
            .start(() -> {
              try {
                net.add(many);
              } catch (HeddleException ended) {
                /* Expected if the set-up wasn't complete when it was closed. */
              }
            });
    Deadline deadline = Deadline.ofSeconds(30);
    while (!exists(net.name("n0"))) {
      assertFalse(deadline.isOver(), "no namespace is created");
      Thread.sleep(1);
    }
    net.close();
    setUp.join();
    assertEquals(List.of(), NetworkNamespaces.named(net.name("")));
  }

  @Test
  void onlyAnEndsLastWordLeavesItDown() {
    try (NetworkNamespaces net =
        NetworkTopology.of("one", "two")
            .link("one downhill", "fd00::1/64", "two uphill down", "fd00::2/64")
            .create()) {
      assertTrue(
          net.node("one")
              .run("ip", "-o", "address", "show", "dev", "downhill")
              .contains("fd00::1/64"));
      assertTrue(net.node("one").run("ip", "link", "show", "dev", "downhill").contains(",UP"));
      assertFalse(net.node("two").run("ip", "link", "show", "dev", "uphill").contains(",UP"));
    }
  }

  @Test
  void lastingNamespacesAreFoundByTheirPrefix() {
    String prefix = "lasting-" + ProcessHandle.current().pid() + "-";
    hostAndRouter().createLasting(prefix);
    List<NetworkNamespace> found = NetworkNamespaces.named(prefix);
    found.forEach(NetworkNamespace::remove);
    assertEquals(
        List.of(new NetworkNamespace(prefix + "host"), new NetworkNamespace(prefix + "router")),
        found);
  }

  @Test
  void namespacesOfAKilledProcessAreRemovedByTheNext() throws Exception {
    Process gone = new ProcessBuilder("true").start();
    gone.waitFor();
    NetworkNamespace leftover = new NetworkNamespace("heddle-" + gone.pid() + "-1-r0");
    leftover.add();
    NetworkTopology.of("next").create().close();
    assertFalse(exists(leftover.name()));
  }
}
