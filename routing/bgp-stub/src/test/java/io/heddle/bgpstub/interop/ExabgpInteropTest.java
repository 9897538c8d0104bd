package io.heddle.bgpstub.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.heddle.bgp.session.SessionState;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.testing.SystemTest;
import java.util.List;
import org.junit.jupiter.api.Test;

@SystemTest
class ExabgpInteropTest extends ExabgpContract {
  /*
   * RFC 7606: AIGP of a wrong length is discarded, communities of a wrong length withdraw their
   * route.
   */
  @Test
  void malformedAttributesDoNotEndTheSession() throws Exception {
    invalidRoutes =
        """
        route fd00:ac::/32 next-hop fd00:1::1 attribute [ 0x1a 0x80 0x01000c0000000000000005 ];
        route fd00:ad::/32 next-hop fd00:1::1 attribute [ 0x10 0xc0 0x0180c0a8010101 ];
        """;
    launch("", false);
    connect(options());
    await("the route of the bad AIGP", () -> attributesOf(Prefix.of("fd00:ac::/32")) != null);
    assertNull(attributesOf(Prefix.of("fd00:ac::/32")).aigp());
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
    await(
        "the withdrawal",
        () ->
            heard.updates.stream()
                .anyMatch(each -> each.withdrawn().prefixes().contains(Prefix.of("fd00:ad::/32"))));
    assertNull(attributesOf(Prefix.of("fd00:ad::/32")));
    assertEquals(2, speaker.callOnLoop(session::status).counters().attributeFaults());
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
  }

  /*
   * Tests the forbidden values that ExaBGP can be configured to send. docs/bgp-values.md lists all
   * forbidden values.
   */
  @Test
  void forbiddenValuesLoseOnlyTheirRoutes() throws Exception {
    invalidRoutes =
        """
        route fd00:ae::/32 next-hop fd00:1::1 as-path [ 65002 0 ];
        route fd00:af::/32 next-hop fd00:1::1 as-path [ 65002 ( 65003 65004 ) ];
        route fd00:b0::/32 next-hop fd00:1::2;
        route fd00:b1::/32 next-hop ff02::1;
        route ff0e:1::/32 next-hop fd00:1::1;
        route fe80:0:0:1::/64 next-hop fd00:1::1;
        """;
    launch("", false);
    connect(options());
    for (String route : List.of("fd00:ae::/32", "fd00:af::/32", "fd00:b0::/32", "fd00:b1::/32")) {
      await(
          "the withdrawal of " + route,
          () ->
              heard.updates.stream()
                  .anyMatch(each -> each.withdrawn().prefixes().contains(Prefix.of(route))));
      assertNull(attributesOf(Prefix.of(route)), route);
    }
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
    await("both prefixes", () -> speaker.callOnLoop(session::status).counters().ignored() == 2);
    assertEquals(SessionState.ESTABLISHED, speaker.callOnLoop(session::state));
    assertEquals(6, speaker.callOnLoop(session::status).counters().attributeFaults());
  }

  /*
   * ExaBGP connects to a link-local address without an interface, which the kernel refuses. So
   * ExaBGP listens, and the speaker connects.
   */
  @Test
  void linkLocalPeerIsReached() throws Exception {
    local = HostAndLeaf.linkLocal(net.leaf(), "h0");
    neighbour = HostAndLeaf.linkLocal(net.host(), "p1");
    launch("", false);
    connect(linkLocal().passive(false));
    await("the aggregate", () -> attributesOf(AGGREGATE) != null);
  }
}
