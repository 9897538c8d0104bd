package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of unicast datagrams over a bridge between two ports of the kernel's rxe. The bridge uses
 * the kernel's RDMA CM on both sides, and the hosts run stock programs.
 *
 * <pre>
 * rxeA on hA 10.1.0.1 ══ gA 10.1.0.254 rxeGA [the bridge] rxeGB gB 10.2.0.254 ══ hB 10.2.0.1 rxeB
 *         fd01::1           fd01::254                              fd02::254        fd02::1
 * </pre>
 */
@EndsWithin(600)
@SystemTest
final class MappedBetweenRxeTest {
  private static final int LIMIT_SECONDS = 540;

  /*
   * All interfaces are in the one namespace that has rxe's sockets. These settings keep packets
   * between the interfaces from being delivered locally, without the wire.
   */
  private static final String TOPOLOGY =
      """
      load_rdma
      for what in all default; do
        echo 1 >/proc/sys/net/ipv4/conf/$what/accept_local
        echo 0 >/proc/sys/net/ipv4/conf/$what/rp_filter
      done
      ip link add hA mtu "$GUEST_MTU" type veth peer name gA mtu "$GUEST_MTU"
      ip link add hB mtu "$GUEST_MTU" type veth peer name gB mtu "$GUEST_MTU"
      table=100
      for end in "hA 1 1 rxeA" "gA 1 254 rxeGA" "hB 2 1 rxeB" "gB 2 254 rxeGB"; do
        set -- $end
        table=$((table + 1))
        set_ipv6 "$1" accept_dad 0
        ip link set "$1" up
        hosts=$3
        [[ $3 != 254 ]] || hosts="254 200"
        ip rule add pref 10 oif "$1" lookup $table
        ip -6 rule add pref 10 oif "$1" lookup $table
        ip route add default dev "$1" table $table
        ip -6 route add "fd0$2::/64" dev "$1" table $table
        for host in $hosts; do
          ip addr add "10.$2.0.$host/24" dev "$1"
          ip addr add "fd0$2::$host/64" dev "$1" nodad
          # Programs here look up routes by their own address, without an interface.
          ip rule add pref 20 from "10.$2.0.$host" iif lo lookup $table
          ip -6 rule add pref 20 from "fd0$2::$host" iif lo lookup $table
        done
        receive_on_one_processor "$1"
        rdma link add "$4" type rxe netdev "$1"
      done
      for ip in ip "ip -6"; do
        $ip rule add pref 1000 lookup local
        $ip rule del pref 0
      done
      cat >/tmp/bridge.conf <<CONFIG
      name = guest
      status = /tmp/status
      [fabric a]
      kind = verbs
      device = rxeGA
      address = 10.1.0.254,fd01::254
      [fabric b]
      kind = verbs
      device = rxeGB
      address = 10.2.0.254,fd02::254
      """
          + MappedOnRxeTest.MAPPED
          + "CONFIG\n";

  @TempDir private Path folder;

  @Test
  @WholeRunOnly
  void stockProgramsConnectInBothDirections() throws Exception {
    RxeGuest.assumePrograms("rdma", "udaddy");
    String heddle = "heddle() { " + RxeGuest.java(List.of(), HeddleCommand.class) + " \"$@\"; }\n";
    String talks =
        """
        talk 10.1.0.1 10.2.0.1 10.1.0.200 1 50
        talk 10.2.0.1 10.1.0.1 10.2.0.200 1 50
        talk 10.1.0.1 10.2.0.1 10.1.0.200 3 10
        talk fd01::1 fd02::1 fd01::200 1 50
        talk fd02::1 fd01::1 fd02::200 1 50
        heddle bridge show --status /tmp/status
        """;
    RxeGuest.Ended ended =
        RxeGuest.run(
            GuestPlan.bare().within(LIMIT_SECONDS),
            folder,
            TOPOLOGY + heddle + MappedOnRxeTest.PROGRAMS + talks);
    String output = ended.output();
    assertEquals(0, ended.exitCode(), output);
    for (String talk :
        List.of(
            "1 on 10.1.0.1 talked to 10.2.0.1 by 10.1.0.200",
            "1 on 10.2.0.1 talked to 10.1.0.1 by 10.2.0.200",
            "3 on 10.1.0.1 talked to 10.2.0.1 by 10.1.0.200",
            "1 on fd01::1 talked to fd02::1 by fd01::200",
            "1 on fd02::1 talked to fd01::1 by fd02::200")) {
      assertTrue(output.contains(talk), output);
    }
  }
}
