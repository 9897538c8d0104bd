package io.heddle.systemtests.guest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.cli.heddle.HeddleCommand;
import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.systemtests.bridge.GroupLoad;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Test of two bridges between fabric A, of the kernel's rxe devices, and fabric B, of Ethernet
 * interfaces. They bridge the same multicast group, and each has its own proxy addresses for hosts.
 * Under load, one bridge is drained, and later killed. Then an RDMA CM client resolves a host by
 * the other bridge's proxy address.
 *
 * <pre>
 *                    swA                              swB
 * rxeA on hA 10.1.0.1 ║ gA1 10.1.0.251 rxeG1 [bridge 1] [gw1: gB1 10.2.0.251] ║ 10.2.0.1 hB rxeB
 *                     ║ gA2 10.1.0.252 rxeG2 [bridge 2] [gw2: gB2 10.2.0.252] ║
 * </pre>
 */
@EndsWithin(900)
@SystemTest
final class TwoBridgesOnRxeTest {
  private static final int LIMIT_SECONDS = 840;
  private static final Pattern COUNTS =
      Pattern.compile("from-[ab] sent \\d+ newest \\d+ twice (\\d+) lost (\\d+) ");
  /*
   * Number of runs of the load: undisturbed, after a drain, after the drain's end, and after a
   * kill.
   */
  private static final int FLOWS = 4;
  private static final Pattern NO_OWNER = Pattern.compile("no-owner (\\d+)");

  /*
   * All interfaces except gB1 and gB2 are in the one namespace that has rxe's sockets. So rules
   * keep packets between the interfaces from being delivered locally, without the wire, and each
   * interface answers ARP for its own address only.
   */
  private static final String TOPOLOGY =
      """
      load_rdma
      load_modules bridge
      for what in all default; do
        echo 1 >/proc/sys/net/ipv4/conf/$what/accept_local
        echo 1 >/proc/sys/net/ipv4/conf/$what/arp_ignore
        echo 0 >/proc/sys/net/ipv4/conf/$what/rp_filter
      done
      for side in A B; do
        ip netns add "sw$side"
        ip -n "sw$side" link add name switch mtu "$GUEST_MTU" type bridge mcast_snooping 0
        ip -n "sw$side" link set switch up
      done
      # port INTERFACE SIDE: an interface into that switch.
      port() {
        ip link add "$1" mtu "$GUEST_MTU" type veth peer name "p$1" mtu "$GUEST_MTU" netns "sw$2"
        ip -n "sw$2" link set "p$1" master switch up
      }
      table=100
      # An interface, its switch, the last parts of its addresses, its device.
      for end in "hA A 1 1 rxeA" "hB B 2 1 rxeB" "gA1 A 1 251,201 rxeG1" "gA2 A 1 252,202 rxeG2"; do
        set -- $end
        port "$1" "$2"
        table=$((table + 1))
        ip link set "$1" up
        ip rule add pref 10 oif "$1" lookup $table
        ip route add default dev "$1" table $table
        for host in ${4//,/ }; do
          ip addr add "10.$3.0.$host/24" dev "$1"
          # Programs here look up routes by their own address, without an interface.
          ip rule add pref 20 from "10.$3.0.$host" iif lo lookup $table
        done
        receive_on_one_processor "$1"
        rdma link add "$5" type rxe netdev "$1"
      done
      ip rule add pref 1000 lookup local
      ip rule del pref 0
      for number in 1 2; do
        port "gB$number" B
        ip netns add "gw$number"
        ip link set "gB$number" netns "gw$number"
        ip -n "gw$number" link set lo up
        ip -n "gw$number" link set "gB$number" up
        ip -n "gw$number" addr add "10.2.0.25$number/24" dev "gB$number"
        ip -n "gw$number" addr add "10.2.0.20$number/24" dev "gB$number"
        cat >/tmp/bridge$number.conf <<CONFIG
      name = guest$number
      status = /tmp/status$number
      control = /tmp/control$number
      [fabric a]
      kind = verbs
      device = rxeG$number
      address = 10.1.0.25$number
      [fabric b]
      kind = wire
      interface = gB$number
      namespace = gw$number
      address = 10.2.0.25$number
      [redundancy]
      bridge-id = $number
      beacon = 1000ms
      [group 239.1.1.1]
      owner = 2
      [unicast]
      mode = mapped
      addresses = proxied
      ports = 7174
      [proxy a 10.1.0.20$number]
      for = 10.2.0.1
      [proxy b 10.2.0.20$number]
      for = 10.1.0.1
      CONFIG
      done
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
      # newest FABRIC: the newest number that came from there; sent FABRIC: the last that left.
      newest() { tail -n 4 /tmp/load | sed -n "s/^from-$1 sent [0-9]* newest \\(-*[0-9]*\\) twice.*/\\1/p" | tail -n 1; }
      sent() { tail -n 4 /tmp/load | sed -n "s/^from-$1 sent \\([0-9]*\\) newest.*/\\1/p" | tail -n 1; }
      # flows COUNT: until so many more were sent and received in both directions.
      flows() {
        local fabric goal
        for fabric in a b; do
          goal=$(($(sent $fabric) + $1))
          until (($(newest $fabric) >= goal)); do
            kill -0 "$load" || { cat /tmp/errors; tail -n 4 /tmp/load; exit 1; }
            sleep 1
          done
        done
        echo "flows: $(tail -n 2 /tmp/load | tr '\\n' ' ')"
      }
      # talk BY: between a client of a and a server of b, by that address.
      talk() {
        udaddy -b 10.2.0.1 -C 20 >/tmp/server 2>&1 &
        local server=$! tries=0
        until udaddy -s "$1" -b 10.1.0.1 -C 20 >/tmp/client 2>&1; do
          tries=$((tries + 1))
          if ! kill -0 "$server" || ((tries > 10)); then
            cat /tmp/client /tmp/server /tmp/log1 /tmp/log2
            exit 1
          fi
          sleep 0.2
        done
        wait "$server"
        echo "talked by $1"
      }
      """;

  @TempDir private Path folder;

  private static String bridge(int number) {
    return RxeGuest.java(List.of(), HeddleCommand.class)
        + " bridge run --config /tmp/bridge"
        + number
        + ".conf >/tmp/log"
        + number
        + " 2>&1 &\nbridge"
        + number
        + "=$!\n";
  }

  private static String script() {
    String load =
        RxeGuest.java(
            List.of(),
            GroupLoad.class,
            "239.1.1.1",
            "20000",
            "verbs",
            "rxeA",
            "10.1.0.1",
            "verbs",
            "rxeB",
            "10.2.0.1");
    return TOPOLOGY
        + "heddle() { "
        + RxeGuest.java(List.of(), HeddleCommand.class)
        + " \"$@\"; }\n"
        + FUNCTIONS
        + bridge(1)
        + bridge(2)
        + "begun 1 $bridge1\nbegun 2 $bridge2\n"
        + load
        + " >/tmp/load 2>/tmp/errors &\nload=$!\n"
        + """
        until grep -q from-b /tmp/load; do
          kill -0 "$load" || { cat /tmp/errors; exit 1; }
          sleep 1
        done
        flows 50
        heddle bridge drain --control /tmp/control2
        flows 50
        heddle bridge drain --end --control /tmp/control2
        flows 50
        talk 10.1.0.202
        heddle bridge show --status /tmp/status1
        heddle bridge show --status /tmp/status2
        kill -KILL "$bridge2"
        echo killed
        flows 50
        if udaddy -s 10.1.0.202 -b 10.1.0.1 -C 20 >/tmp/client 2>&1; then
          echo "a bridge that is dead has answered"
          exit 1
        fi
        talk 10.1.0.201
        """;
  }

  @Test
  @WholeRunOnly
  void drainAndKillDuplicateNoPayloadAndClientsSwitchBridge() throws Exception {
    RxeGuest.assumePrograms("rdma", "udaddy", "chrt");
    RxeGuest.Ended ended = RxeGuest.run(GuestPlan.bare().within(LIMIT_SECONDS), folder, script());
    String output = ended.output();
    assertEquals(0, ended.exitCode(), output);
    List<Long> lost = new ArrayList<>();
    for (MatchResult each : COUNTS.matcher(output).results().toList()) {
      assertEquals("0", each.group(1), output);
      lost.add(Long.parseLong(each.group(2)));
    }
    assertEquals(2 * FLOWS, lost.size(), output);
    assertEquals(0, lost.get(0) + lost.get(1), output);
    long counted =
        NO_OWNER.matcher(output).results().mapToLong(each -> Long.parseLong(each.group(1))).sum();
    assertTrue(lost.get(4) + lost.get(5) <= counted, output);
    assertTrue(output.indexOf("talked by 10.1.0.202") < output.indexOf("killed"), output);
    assertTrue(output.indexOf("killed") < output.indexOf("talked by 10.1.0.201"), output);
  }
}
