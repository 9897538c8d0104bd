package io.heddle.cli.paths;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Test of {@link UdpProber} on the loopback interface of a network namespace. */
@EndsWithin(60)
class UdpProberTest {
  private static final int FIRST_BASE = 0xc000;

  @BeforeAll
  static void needNamespaces() {
    Requirements.namespaces();
  }

  private static void inNamespace(Callable<Boolean> what) {
    try (NetworkNamespaces net = NetworkTopology.of("probe").create()) {
      net.node("probe").call(what);
    }
  }

  private static Inet6Address loopback() throws Exception {
    return (Inet6Address) InetAddress.getByName("::1");
  }

  private static DatagramChannel taken(int port) throws Exception {
    return DatagramChannel.open(StandardProtocolFamily.INET6)
        .bind(new InetSocketAddress(loopback(), port));
  }

  @Test
  void portsOfARejectedBaseAreClosed() {
    inNamespace(() -> {
      List<Integer> inUse = new ArrayList<>();
      try (DatagramChannel other = taken(FIRST_BASE);
          UdpProber prober = new UdpProber(loopback(), loopback())) {
        assertTrue(other.isOpen());
        List<Integer> planned = PathsMeasureCommand.planned(prober, 64, new Random(1), inUse);
        assertEquals(List.of(), inUse);
        assertFalse(planned.contains(FIRST_BASE));
        assertEquals(new TreeSet<>(planned), new TreeSet<>(prober.ports()));
      }
      return true;
    });
  }

  @Test
  void replyEndsTheWait() {
    inNamespace(() -> {
      try (UdpProber prober = new UdpProber(loopback(), loopback())) {
        prober.open(50_000);
        prober.open(50_001);
        assertNull(prober.receive(prober.nowNs()));
        prober.send(50_001, 7);
        /* No socket has port 4791, so the kernel replies with an ICMPv6 error. */
        Prober.Reply reply = prober.receive(prober.nowNs() + TimeUnit.DAYS.toNanos(1));
        assertNotNull(reply);
        assertEquals(new Prober.Reply(50_001, 7, "::1", true), reply);
        assertNull(prober.receive(prober.nowNs() + TimeUnit.MILLISECONDS.toNanos(5)));
      }
      return true;
    });
  }
}
