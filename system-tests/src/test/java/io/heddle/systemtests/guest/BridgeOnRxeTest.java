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
 * Test of a bridge between two rxe devices, with stock RDMA CM programs at both ends. So the
 * kernel's own communication manager sends the requests and answers.
 *
 * <pre>
 * rxeA on hA 10.1.0.1 ══ gA 10.1.0.254 [gw: the bridge] gB 10.2.0.254 ══ hB 10.2.0.1 rxeB
 *         fd01::1           fd01::254                      fd02::254        fd02::1
 * </pre>
 */
@EndsWithin(600)
@SystemTest
final class BridgeOnRxeTest {
  private static final int LIMIT_SECONDS = 540;

  /*
   * Both hosts' interfaces are in the one namespace that has rxe's sockets. These settings keep
   * packets between the hosts from being delivered locally, without the wire.
   */
  private static final String TOPOLOGY =
      """
      load_rdma
      for what in all default; do
        echo 1 >/proc/sys/net/ipv4/conf/$what/accept_local
        echo 0 >/proc/sys/net/ipv4/conf/$what/rp_filter
      done
      ip netns add gw
      ip -n gw link set lo up
      for side in A B; do
        net=1
        [[ $side == A ]] || net=2
        ip link add "h$side" mtu "$GUEST_MTU" type veth peer name "g$side" mtu "$GUEST_MTU" netns gw
        set_ipv6 "h$side" accept_dad 0
        ip link set "h$side" up
        ip -n gw link set "g$side" up
        for ip in "ip addr add 10.$net.0.1/24 dev h$side" "ip -n gw addr add 10.$net.0.254/24 dev g$side" \\
          "ip addr add fd0$net::1/64 dev h$side nodad" "ip -n gw addr add fd0$net::254/64 dev g$side nodad" \\
          "ip rule add pref 5 oif h$side to 10.$net.0.0/24 lookup local" \\
          "ip -6 rule add pref 5 oif h$side to fd0$net::/64 lookup local" \\
          "ip rule add pref 10 oif h$side lookup 10$net" "ip -6 rule add pref 10 oif h$side lookup 10$net" \\
          "ip route add 10.$net.0.0/24 dev h$side table 10$net" \\
          "ip -6 route add fd0$net::/64 dev h$side table 10$net" \\
          "ip route add default via 10.$net.0.254 dev h$side table 10$net" \\
          "ip -6 route add default via fd0$net::254 dev h$side table 10$net"; do
          $ip
        done
        receive_on_one_processor "h$side"
        rdma link add "rxe$side" type rxe netdev "h$side"
      done
      for ip in ip "ip -6"; do
        $ip rule add pref 1000 lookup local
        $ip rule del pref 0
      done
      cat >/tmp/bridge.conf <<CONFIG
      name = guest
      status = /tmp/status
      [fabric a]
      kind = wire
      interface = gA
      prefix = 10.1.0.0/24,fd01::/64
      [fabric b]
      kind = wire
      interface = gB
      prefix = 10.2.0.0/24,fd02::/64
      [unicast]
      CONFIG
      cp /tmp/bridge.conf /tmp/proxied.conf
      cat >>/tmp/proxied.conf <<CONFIG
      addresses = proxied
      """
          + MappedOnRxeTest.PROXIES
          + "CONFIG\n";

  /* The server prints nothing when it listens, so the client is repeated until it succeeds. */
  private static final String PROGRAMS =
      """
      for ip in "addr add 10.1.0.200/32 dev gA" "addr add 10.2.0.200/32 dev gB" \\
        "addr add fd01::200/128 nodad dev gA" "addr add fd02::200/128 nodad dev gB"; do
        ip -n gw $ip
      done
      for path in "gA 10.2.0.0/24" "gA fd02::/64" "gB 10.1.0.0/24" "gB fd01::/64"; do
        set -- $path
        family=-4
        [[ $2 != *:* ]] || family=-6
        ip -n gw $family rule add iif "$1" to "$2" ipproto udp dport 4791 lookup 4791
        ip -n gw $family route add local "$2" dev lo table 4791
      done
      # bridge FILE: a bridge with this configuration, after the one before has ended.
      bridge() {
        [[ -z ${bridge:-} ]] || { pkill -TERM -P "$bridge"; wait "$bridge" || true; }
        ip netns exec gw bash -c "$(declare -f heddle); heddle bridge run --config $1" >/tmp/log 2>&1 &
        bridge=$!
        until grep -q 'status at' /tmp/log; do
          kill -0 "$bridge" || { cat /tmp/log; exit 1; }
          sleep 0.1
        done
      }
      bridge /tmp/bridge.conf
      # talk FROM TO [BY]: datagrams in both directions between a client and a server of the kernel's RDMA CM.
      talk() {
        udaddy -b "$2" -C 20 >/tmp/server 2>&1 &
        local server=$!
        until udaddy -s "${3:-$2}" -b "$1" -C 20 >/tmp/client 2>&1; do
          kill -0 "$server" || { cat /tmp/client /tmp/server; exit 1; }
          sleep 0.2
        done
        wait "$server"
        echo "$1 talked to $2${3:+ by $3}"
      }
      """;

  @TempDir private Path folder;

  private RxeGuest.Ended runWith(String script) throws Exception {
    RxeGuest.assumePrograms("udaddy", "cmtime");
    String heddle = "heddle() { " + RxeGuest.java(List.of(), HeddleCommand.class) + " \"$@\"; }\n";
    GuestPlan plan = GuestPlan.bare().within(LIMIT_SECONDS);
    return RxeGuest.run(plan, folder, TOPOLOGY + heddle + PROGRAMS + script);
  }

  @Test
  @WholeRunOnly
  void stockProgramsConnectInBothDirectionsAndRcIsRefused() throws Exception {
    RxeGuest.Ended ended =
        runWith(
            """
            talk 10.1.0.1 10.2.0.1
            talk 10.2.0.1 10.1.0.1
            talk fd01::1 fd02::1
            talk fd02::1 fd01::1
            # The bridge refuses by itself: nobody needs to listen.
            cmtime -s 10.2.0.1 -b 10.1.0.1 -c 1 >/tmp/client 2>&1 || true
            cat /tmp/client
            bridge /tmp/proxied.conf
            talk 10.1.0.1 10.2.0.1 10.1.0.200
            talk 10.2.0.1 10.1.0.1 10.2.0.200
            talk fd01::1 fd02::1 fd01::200
            """);
    assertEquals(0, ended.exitCode(), ended.output());
    for (String talk :
        List.of(
            "10.1.0.1 talked to 10.2.0.1",
            "10.2.0.1 talked to 10.1.0.1",
            "fd01::1 talked to fd02::1",
            "fd02::1 talked to fd01::1",
            "10.1.0.1 talked to 10.2.0.1 by 10.1.0.200",
            "10.2.0.1 talked to 10.1.0.1 by 10.2.0.200",
            "fd01::1 talked to fd02::1 by fd01::200")) {
      assertTrue(ended.output().contains(talk), ended.output());
    }
    assertTrue(ended.output().contains("event: RDMA_CM_EVENT_REJECTED, error: 9"), ended.output());
  }
}
