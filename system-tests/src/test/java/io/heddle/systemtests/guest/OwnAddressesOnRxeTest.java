package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of bridge 1, over which two hosts reach each other by their own addresses. Host hA is behind
 * a port of the kernel's rxe, and the far host behind an Ethernet interface. All rxe devices are in
 * one namespace, where an address can't belong to both a host and a bridge. So the far host's own
 * address can't be hB's 10.2.0.1. It is 10.3.0.1, an address of bridge 2, which maps it to hB.
 *
 * <pre>
 * rxeA on hA 10.1.0.1 ══ gA rxeG [bridge 1] [gw1: x1] ══ [gw2: x2 [bridge 2] gB] ══ hB 10.2.0.1 rxeB
 *                        10.3.0.1                 10.1.0.1       10.3.0.1    10.2.0.200
 * </pre>
 */
@EndsWithin(600)
@SystemTest
final class OwnAddressesOnRxeTest {
  private static final int LIMIT_SECONDS = 540;

  /*
   * Script that creates the interfaces. Its settings keep packets between them from being delivered
   * locally, without the wire.
   */
  private static final String TOPOLOGY =
      """
      load_rdma
      for what in all default; do
        echo 1 >/proc/sys/net/ipv4/conf/$what/accept_local
        echo 0 >/proc/sys/net/ipv4/conf/$what/rp_filter
      done
      ip netns add gw1
      ip netns add gw2
      ip link add hA mtu "$GUEST_MTU" type veth peer name gA mtu "$GUEST_MTU"
      ip link add hB mtu "$GUEST_MTU" type veth peer name gB mtu "$GUEST_MTU" netns gw2
      ip link add x1 netns gw1 mtu "$GUEST_MTU" type veth peer name x2 mtu "$GUEST_MTU" netns gw2
      table=100
      for end in "hA 10.1.0.1 rxeA" "gA 10.1.0.254,10.3.0.1 rxeG" "hB 10.2.0.1 rxeB"; do
        set -- $end
        table=$((table + 1))
        ip link set "$1" up
        ip rule add pref 10 oif "$1" lookup $table
        ip route add default dev "$1" table $table
        for own in ${2//,/ }; do
          ip addr add "$own/32" dev "$1"
          ip rule add pref 20 from "$own" iif lo lookup $table
        done
        receive_on_one_processor "$1"
        rdma link add "$3" type rxe netdev "$1"
      done
      ip rule add pref 1000 lookup local
      ip rule del pref 0
      for each in "gw1 x1 10.3.0.254/24 10.1.0.1/32" "gw2 x2 10.3.0.253/24 10.3.0.1/32" "gw2 gB 10.2.0.254/24 10.2.0.200/32"; do
        set -- $each
        ip -n "$1" link set lo up
        ip -n "$1" link set "$2" up
        ip -n "$1" addr add "$3" dev "$2"
        ip -n "$1" addr add "$4" dev "$2"
      done
      ip -n gw2 route add 10.1.0.0/24 dev x2
      cat >/tmp/bridge1.conf <<CONFIG
      name = one
      status = /tmp/status1
      control = /tmp/control1
      [fabric a]
      kind = verbs
      device = rxeG
      address = 10.1.0.254
      prefix = 10.1.0.0/24
      [fabric b]
      kind = wire
      interface = x1
      namespace = gw1
      address = 10.3.0.254
      [unicast]
      mode = mapped
      addresses = proxied
      ports = 7174
      [proxy a 10.3.0.1]
      for = 10.3.0.1
      [proxy b 10.1.0.1]
      for = 10.1.0.1
      CONFIG
      cat >/tmp/bridge2.conf <<CONFIG
      name = two
      status = /tmp/status2
      control = /tmp/control2
      [fabric a]
      kind = wire
      interface = x2
      namespace = gw2
      address = 10.3.0.253
      prefix = 10.3.0.0/24,10.1.0.0/24
      [fabric b]
      kind = wire
      interface = gB
      namespace = gw2
      address = 10.2.0.254
      [unicast]
      addresses = proxied
      [proxy a 10.3.0.1]
      for = 10.2.0.1
      [proxy b 10.2.0.200]
      for = 10.1.0.1
      CONFIG
      """;

  private static final String FUNCTIONS =
      """
      # begun NUMBER PROCESS: once that bridge runs.
      begun() {
        until grep -q 'status at' "/tmp/log$1"; do
          kill -0 "$2" || { cat "/tmp/log$1"; exit 1; }
          sleep 1
        done
      }
      # talk FROM TO BY: both directions between a client and a server of RDMA CM.
      talk() {
        udaddy -b "$2" -C 20 >/tmp/server 2>&1 &
        local server=$! tries=0
        until udaddy -s "$3" -b "$1" -C 20 >/tmp/client 2>&1; do
          tries=$((tries + 1))
          if ! kill -0 "$server" || ((tries > 10)); then
            cat /tmp/client /tmp/server /tmp/log1 /tmp/log2
            exit 1
          fi
          sleep 0.2
        done
        wait "$server"
        echo "$1 talked to $2 by $3"
      }
      """;

  @TempDir private Path folder;

  private static String bridge(int number) {
    return RxeGuest.java(List.of(), HeddleCommand.class)
        + String.format(
            Locale.ROOT,
            " bridge run --config /tmp/bridge%1$s.conf >/tmp/log%1$s 2>&1 &\nbridge%1$s=$!\n",
            number);
  }

  @Test
  @WholeRunOnly
  void stockProgramsConnectInBothDirections() throws Exception {
    RxeGuest.assumePrograms("rdma", "udaddy");
    String talks =
        """
        begun 1 $bridge1
        begun 2 $bridge2
        talk 10.1.0.1 10.2.0.1 10.3.0.1
        talk 10.2.0.1 10.1.0.1 10.2.0.200
        """;
    RxeGuest.Ended ended =
        RxeGuest.run(
            GuestPlan.bare().within(LIMIT_SECONDS),
            folder,
            TOPOLOGY + FUNCTIONS + bridge(1) + bridge(2) + talks);
    String output = ended.output();
    assertEquals(0, ended.exitCode(), output);
    assertTrue(output.contains("10.1.0.1 talked to 10.2.0.1 by 10.3.0.1"), output);
    assertTrue(output.contains("10.2.0.1 talked to 10.1.0.1 by 10.2.0.200"), output);
  }
}
