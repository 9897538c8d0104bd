package io.heddle.cli.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.bridge.config.BridgeConfigParser;
import io.heddle.platform.testing.SystemTest;
import org.junit.jupiter.api.Test;

/** Tests of the set-up commands that {@code heddle bridge check} prints. */
@SystemTest
class UnicastRoutesTest {
  @Test
  void addsProxyAddressesOnTheirInterfaces() {
    assertEquals(
        """
        unicast needs on this host, once after each start:
          ip addr add 10.1.0.200/32 dev $(cat /sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0)
          ip addr add fd02::9/128 nodad dev $(cat /sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0)
          ip -n gw addr add 10.2.0.200/32 dev y
        hosts of fabric a reach 10.2.0.9 of b as 10.1.0.200
        hosts of fabric a reach fd02::9 of b by its own address, and need a route there by this host
        hosts of fabric b reach 10.1.0.9 of a as 10.2.0.200
        """,
        UnicastRoutes.of(
            BridgeConfigParser.parse(
                "bridge.conf",
                """
                [fabric a]
                kind = verbs
                device = rxe0
                [fabric b]
                interface = y
                namespace = gw
                [unicast]
                mode = mapped
                addresses = proxied
                [proxy a 10.1.0.200]
                for = 10.2.0.9
                [proxy a fd02::9]
                for = fd02::9
                [proxy b 10.2.0.200]
                for = 10.1.0.9
                """)));
  }

  @Test
  void usesIpoibInterfaceWithConfiguredAddress() {
    assertEquals(
        """
        unicast needs on this host, once after each start:
          ip addr add 10.9.0.200/32 dev $(ip -o addr show to 10.9.0.1 | cut -d' ' -f2)
        hosts of fabric a reach 10.2.0.9 of b as 10.9.0.200
        """,
        UnicastRoutes.of(
            BridgeConfigParser.parse(
                "bridge.conf",
                """
                [fabric a]
                kind = verbs
                device = mlx5_0
                address = 10.9.0.1
                [fabric b]
                interface = y
                [unicast]
                mode = mapped
                addresses = proxied
                [proxy a 10.9.0.200]
                for = 10.2.0.9
                """)));
  }
}
