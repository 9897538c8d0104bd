package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.systemtests.bridge.GroupTalk;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of a bridge between a port of the kernel's rxe and an Ethernet interface. The kernel's RDMA
 * CM joins the groups for the rxe port. The interface is in a namespace of its own, because rxe has
 * bound RoCEv2's port in the first one.
 *
 * <pre>
 * rxeA on hA 10.1.0.1 ══ gA 10.1.0.254 rxeG [the bridge] [gw: gB 10.2.0.254] ══ hB 10.2.0.1 rxeB
 *         fd01::1           fd01::254                         fd02::254           fd02::1
 * </pre>
 */
@EndsWithin(600)
@SystemTest
final class BridgeOverRxeTest {
  private static final int LIMIT_SECONDS = 540;
  private static final int GROUPS = 3;
  private static final int PACKETS = 300;

  /*
   * Counts of a group in the bridge's table: packets forwarded from a, packets from a that were
   * dropped as the bridge's own, and packets forwarded from b. The pattern allows no drops from b.
   */
  private static final Pattern COUNTS =
      Pattern.compile(
          "a>b +\\d+ +\\S+ +(\\d+) +\\S+ +\\S+ +\\d+  own-source (\\d+) *\n"
              + " +b>a +\\d+ +\\S+ +(\\d+) +\\S+ +\\S+ +0 *\n");

  /*
   * All interfaces except gB are in the one namespace that has rxe's sockets. These settings keep
   * packets between the interfaces from being delivered locally, without the wire.
   */
  static final String TOPOLOGY =
      """
      load_rdma
      for what in all default; do
        echo 1 >/proc/sys/net/ipv4/conf/$what/accept_local
        echo 0 >/proc/sys/net/ipv4/conf/$what/rp_filter
      done
      ip netns add gw
      ip link add hA mtu "$GUEST_MTU" type veth peer name gA mtu "$GUEST_MTU"
      ip link add hB mtu "$GUEST_MTU" type veth peer name gB mtu "$GUEST_MTU" netns gw
      ip -n gw link set lo up
      ip -n gw link set gB up
      ip -n gw addr add 10.2.0.254/24 dev gB
      ip -n gw addr add fd02::254/64 dev gB nodad
      table=100
      for end in "hA 1 1" "gA 1 254" "hB 2 1"; do
        set -- $end
        table=$((table + 1))
        set_ipv6 "$1" accept_dad 0
        ip link set "$1" up
        for ip in "ip addr add 10.$2.0.$3/24 dev $1" "ip addr add fd0$2::$3/64 dev $1 nodad" \\
          "ip rule add pref 10 oif $1 lookup $table" "ip -6 rule add pref 10 oif $1 lookup $table" \\
          "ip route add default dev $1 table $table" "ip -6 route add fd0$2::/64 dev $1 table $table" \\
          "ip -6 route add multicast ff00::/8 dev $1 table $table"; do
          $ip
        done
        receive_on_one_processor "$1"
      done
      for ip in ip "ip -6"; do
        $ip rule add pref 1000 lookup local
        $ip rule del pref 0
      done
      rdma link add rxeA type rxe netdev hA
      rdma link add rxeG type rxe netdev gA
      rdma link add rxeB type rxe netdev hB
      cat >/tmp/bridge.conf <<CONFIG
      name = guest
      status = /tmp/status
      [fabric a]
      kind = verbs
      device = rxeG
      address = 10.1.0.254,fd01::254
      [fabric b]
      kind = wire
      interface = gB
      namespace = gw
      address = 10.2.0.254,fd02::254
      [group 239.1.1.1]
      [group 239.1.1.2]
      [group ff15::1:1]
      CONFIG
      """;

  /* Starts a bridge and waits until it runs. */
  static final String BRIDGE =
      """
      heddle bridge check --config /tmp/bridge.conf
      heddle bridge run --config /tmp/bridge.conf >/tmp/log 2>&1 &
      bridge=$!
      until grep -q 'status at' /tmp/log; do
        kill -0 "$bridge" || { cat /tmp/log; exit 1; }
        sleep 0.1
      done
      """;

  @TempDir private Path folder;

  private static String talk(String device, int me, int net) {
    return RxeGuest.java(
        List.of(),
        GroupTalk.class,
        "verbs",
        device,
        Integer.toString(me),
        Integer.toString(PACKETS),
        "240",
        "10." + net + ".0.1,239.1.1.1,239.1.1.2",
        "fd0" + net + "::1,ff15::1:1");
  }

  /*
   * Exchange between stock programs, which join the groups by RDMA CM themselves. The listener
   * prints nothing when it is ready, so the sender sends until the listener has all datagrams.
   */
  private static final String STOCK =
      """
      # mckey asks for a route without naming an interface.
      ip rule add pref 20 from 10.1.0.1 lookup 101
      ip rule add pref 20 from 10.2.0.1 lookup 103
      mckey -m 239.1.1.1 -b 10.2.0.1 -C 20 >/tmp/listener 2>&1 &
      listener=$!
      while kill -0 "$listener" 2>/tmp/none; do
        mckey -s -m 239.1.1.1 -b 10.1.0.1 -C 20 >/tmp/sender 2>&1 || { cat /tmp/sender; exit 1; }
      done
      wait "$listener" || { cat /tmp/listener; exit 1; }
      echo "stock programs have talked"
      """;

  @Test
  @WholeRunOnly
  void everyGroupPacketArrivesOnceInOrder() throws Exception {
    RxeGuest.assumePrograms("rdma", "mckey");
    String heddle = "heddle() { " + RxeGuest.java(List.of(), HeddleCommand.class) + " \"$@\"; }\n";
    String talks =
        talk("rxeA", 1, 1)
            + " >/tmp/a 2>&1 &\na=$!\n"
            + talk("rxeB", 2, 2)
            + " >/tmp/b 2>&1 || { cat /tmp/a /tmp/b /tmp/log; exit 1; }\n"
            + "wait $a || { cat /tmp/a; exit 1; }\ncat /tmp/a /tmp/b\n"
            + "heddle bridge show --status /tmp/status\n";
    RxeGuest.Ended ended =
        RxeGuest.run(
            GuestPlan.bare().within(LIMIT_SECONDS),
            folder,
            TOPOLOGY + heddle + BRIDGE + "cat /tmp/log\n" + talks + STOCK);
    String output = ended.output();
    assertEquals(0, ended.exitCode(), output);
    assertEquals(2, output.split("all right: ", -1).length - 1, output);
    assertTrue(output.contains("joins by RDMA CM, IPv6 groups by IGMP and MLD on gA"), output);
    assertEquals(GROUPS, COUNTS.matcher(output).results().filter(this::isRight).count(), output);
    assertTrue(output.contains("stock programs have talked"), output);
  }

  /* Returns whether all dropped packets are the bridge's own multicast, which rxe receives back. */
  private boolean isRight(MatchResult group) {
    return Integer.parseInt(group.group(1)) > PACKETS
        && Integer.parseInt(group.group(3)) > PACKETS
        && group.group(2).equals(group.group(3));
  }
}
