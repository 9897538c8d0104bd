package io.heddle.bridge.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.platform.HeddleException;
import io.heddle.platform.LinuxCalls;
import io.heddle.platform.NetworkNamespaces;
import io.heddle.platform.NetworkTopology;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.Requirements;
import io.heddle.verbs.Gid;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Number of sockets that hold the groups of an interface, while groups are joined and left. */
@EndsWithin(60)
class MembershipsTest {
  private static final int GROUPS_A_SOCKET = 20;

  @BeforeAll
  static void needNamespaces() {
    Requirements.namespaces();
  }

  private static Gid ipv4(int number) {
    return new Gid(0, 0xffff_ef01_0000L | number);
  }

  private static Gid ipv6(int number) {
    return new Gid(0xff05L << 48, number);
  }

  private static void withMemberships(java.util.function.Consumer<Memberships> what) {
    try (NetworkNamespaces net = NetworkTopology.of("join").link("join e0", "join e1").create()) {
      Callable<Boolean> inside =
          () -> {
            limit();
            try (Memberships own = new Memberships("e0", LinuxCalls.interfaceIndex("e0"))) {
              what.accept(own);
            }
            return true;
          };
      net.node("join").call(inside);
    }
  }

  private static void limit() throws IOException {
    Files.writeString(
        Path.of("/proc/sys/net/ipv4/igmp_max_memberships"), Integer.toString(GROUPS_A_SOCKET));
  }

  @Test
  void reusesSocketWithSpaceAndClosesEmptyOne() {
    withMemberships(own -> {
      for (int i = 1; i <= 2 * GROUPS_A_SOCKET + 1; i++) {
        own.join(ipv4(i));
      }
      assertEquals(3, own.sockets());
      own.leave(ipv4(1));
      own.join(ipv4(100));
      assertEquals(3, own.sockets());
      for (int i = GROUPS_A_SOCKET + 1; i <= 2 * GROUPS_A_SOCKET; i++) {
        own.leave(ipv4(i));
      }
      assertEquals(2, own.sockets());
      own.join(ipv6(1));
      assertEquals(3, own.sockets());
      own.leave(ipv6(1));
      own.leave(ipv6(1));
      assertEquals(2, own.sockets());
    });
  }

  @Test
  void joiningAndLeavingLeavesNoSocket() {
    withMemberships(own -> {
      for (int round = 0; round < 10; round++) {
        for (int i = 1; i <= GROUPS_A_SOCKET + 1; i++) {
          own.join(ipv4(i));
        }
        assertEquals(2, own.sockets());
        for (int i = 1; i <= GROUPS_A_SOCKET + 1; i++) {
          own.leave(ipv4(i));
        }
        assertEquals(0, own.sockets());
      }
    });
  }

  @Test
  void refusedGroupLeavesNoSocket() {
    withMemberships(own -> {
      Gid noGroup = new Gid(0, 0xffff_0a01_0001L);
      assertThrows(HeddleException.class, () -> own.join(noGroup));
      assertEquals(0, own.sockets());
    });
  }
}
