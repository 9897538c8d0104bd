package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.platform.testing.EndsWithin;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests of egress with the kernel's routes, in a namespace with every situation that a plane's
 * address can be in.
 */
@EndsWithin(60)
final class EgressTest {
  private static final String SET_UP =
      """
      ip link set lo up
      for i in 1 2 3 4 5; do
        ip link add e$i type veth peer name p$i; ip link set p$i up; ip link set e$i up
        for f in all default e$i; do echo 0 > /proc/sys/net/ipv4/conf/$f/rp_filter; done
      done
      # One subnet on two interfaces, of both families.
      ip addr add fd77::1/64 dev e1 nodad; ip addr add fd77::2/64 dev e2 nodad
      ip addr add 10.7.0.1/24 dev e1; ip addr add 10.7.0.2/24 dev e2
      # The same with metrics, as NetworkManager sets them.
      ip addr add fd78::1/64 dev e1 nodad noprefixroute; ip -6 route add fd78::/64 dev e1 metric 100
      ip addr add fd78::2/64 dev e2 nodad noprefixroute; ip -6 route add fd78::/64 dev e2 metric 101
      # Two default routes; and a route that is more specific than the default.
      ip -6 route add default via fe80::1 dev e1 metric 1024
      ip -6 route append default via fe80::1 dev e2 metric 1024
      ip -6 route add fd99:1::/32 dev e1
      # An address of the host that is reached by other interfaces.
      ip link add d0 type veth peer name d1; ip link set d0 up; ip link set d1 up
      ip addr add fd00::1/128 dev lo; ip addr add fd00::2/128 dev d0 nodad
      # Several next hops.
      ip addr add fd79::3/64 dev e3 nodad; ip addr add 10.9.3.1/24 dev e3; ip addr add 10.9.4.1/24 dev e4
      ip -6 route add fd7a::/64 nexthop via fe80::1 dev e3 nexthop via fe80::1 dev e4
      ip route add 10.10.0.0/16 nexthop via 10.9.3.9 dev e3 nexthop via 10.9.4.9 dev e4
      # Two macvlans of one parent and a bridge beside each other.
      ip link add link e4 name m3 type macvlan; ip link add link e4 name m4 type macvlan
      ip link add b4 type bridge; ip link set m3 up; ip link set m4 up; ip link set b4 up
      ip addr add fd7b::1/64 dev m3 nodad; ip addr add fd7b::2/64 dev m4 nodad
      ip addr add fd7b::3/64 dev b4 nodad
      # A rule by the source, as the careful have it.
      ip -6 rule add from fd7b::3 lookup 44; ip -6 route add fd7b::/64 dev b4 table 44
      # Where the host drops what comes by the second interface.
      ip addr add 10.8.0.1/24 dev e3; ip addr add 10.8.0.2/24 dev e5
      echo 1 > /proc/sys/net/ipv4/conf/e5/rp_filter
      exec "$@"
      """;

  @Test
  void socketsAreBoundOnlyIfTheRoutesWouldUseAnotherInterface() throws Exception {
    NamespaceRun.assumeNamespaces();
    List<String> expected =
        List.of(
            "first=fd77::1>fd77::b: NONE",
            "second=fd77::2>fd77::b: BIND",
            "first of IPv4=10.7.0.1>10.7.0.9: NONE",
            "second of IPv4=10.7.0.2>10.7.0.9: BIND",
            "own address=fd77::2>fd77::1: NONE",
            "own address of IPv4=10.7.0.2>10.7.0.1: NONE",
            "worse metric=fd78::2>fd78::b: BIND",
            "better metric=fd78::1>fd78::b: NONE",
            "second default=fd77::2>fdaa::1: BIND",
            "more specific=fd77::2>fd99:1::1: NONE",
            "on loopback=fd00::1>fd77::b: NONE",
            "on an interface aside=fd00::2>fd77::b: NONE",
            "several hops=fd79::3>fd7a::1: BIND",
            "several hops of IPv4=10.9.4.1>10.10.0.1: BIND",
            "no route=10.9.3.1>192.0.2.1: NONE",
            "first macvlan=fd7b::1>fd7b::b: NONE",
            "second macvlan=fd7b::2>fd7b::b: BIND",
            "bridge with a rule=fd7b::3>fd7b::b: NONE",
            "strict reverse path=10.8.0.2>10.8.0.9: REFUSED_BY_REVERSE_PATH",
            "other family=fd77::2>10.7.0.9: NONE");
    List<String> requests =
        expected.stream().map(line -> line.substring(0, line.lastIndexOf(": "))).toList();
    String output =
        NamespaceRun.java(SET_UP, EgressScenario.class, requests.toArray(String[]::new));
    assertEquals(
        String.join("\n", expected.stream().map(EgressTest::named).toList()), output.strip());
  }

  private static String named(String line) {
    return line.substring(0, line.indexOf('=')) + line.substring(line.lastIndexOf(": "));
  }

  @Test
  void requestHasTheKernelsLayout() throws Exception {
    byte[] body =
        ResolvedRoute.request(
            InetAddress.getByName("10.7.0.9"), InetAddress.getByName("10.7.0.2"), 5);
    ByteBuffer read = ByteBuffer.wrap(body).order(ByteOrder.nativeOrder());
    assertEquals(36, body.length);
    assertEquals(32, read.get(1));
    assertEquals(0x2000, read.getInt(8));
    assertEquals(5, read.getInt(32));
  }

  @Test
  void malformedAnswerIsNull() {
    assertNull(ResolvedRoute.decode(ByteBuffer.allocate(11)));
    ByteBuffer tooLong = ByteBuffer.allocate(16).order(ByteOrder.nativeOrder());
    tooLong.putShort(12, (short) 5);
    assertNull(ResolvedRoute.decode(tooLong));
  }
}
