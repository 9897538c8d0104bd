package io.heddle.gateway.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NetworkNamespace;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.Deadline;
import io.heddle.platform.testing.Requirements;
import io.heddle.platform.testing.SystemTest;
import io.heddle.telemetry.report.GatewayReport;
import io.heddle.telemetry.report.InterfaceReport;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

/** Telemetry report of a router between gateways. */
@SystemTest
final class ObserverTest {
  private static final int DATAGRAM_BYTES = 1_000;

  private static InterfaceReport one(NetworkNamespace router, String name) {
    GatewayReport report = router.call(Observer::sample);
    assertTrue(report.lists().isEmpty() && report.elephants().isEmpty());
    return report.interfaces().stream()
        .filter(each -> each.name().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static NetworkNamespaces network() {
    Requirements.namespaces();
    return NetworkTopology.of("router")
        .link("router w1", "router w2")
        .address("router", "w1", "fd00:5::1/64")
        .ip("router", "neigh add fd00:5::2 lladdr 02:00:00:00:00:02 dev w1")
        .create();
  }

  @Test
  void sentBytesAreCounted() {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace router = net.node("router");
      long before = one(router, "w1").outOctets();
      router.call(() -> {
        try (DatagramSocket socket = new DatagramSocket()) {
          InetSocketAddress to = new InetSocketAddress(InetAddress.getByName("fd00:5::2"), 9);
          socket.send(new DatagramPacket(new byte[DATAGRAM_BYTES], DATAGRAM_BYTES, to));
        }
        return null;
      });
      Deadline deadline = Deadline.ofSeconds(30);
      while (one(router, "w1").outOctets() < before + DATAGRAM_BYTES) {
        assertFalse(deadline.isOver());
      }
    }
  }

  @Test
  void cutLinkIsReportedAsDown() {
    try (NetworkNamespaces net = network()) {
      NetworkNamespace router = net.node("router");
      assertEquals(true, one(router, "w1").up());
      router.ip("link set w2 down");
      Deadline deadline = Deadline.ofSeconds(30);
      while (!Boolean.FALSE.equals(one(router, "w1").up())) {
        assertFalse(deadline.isOver());
      }
    }
  }
}
