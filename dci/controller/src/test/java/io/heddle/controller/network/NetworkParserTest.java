package io.heddle.controller.network;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class NetworkParserTest {
  private static final String GOOD =
      """
      router-id = 10.0.0.9
      as = 65000
      certificate = c.pem
      key = c.key
      authorities = ca.pem
      [gateway gw1]
      address = fd00:c:1::1
      router-id = 10.0.0.1
      [router p1]
      address = fd00:c:3::1
      [peer gw1]
      address = fd00:c:1::1
      [link a]
      target = gw1
      interface = w1
      capacity-mbps = 100
      [link b]
      target = p1
      interface = east
      capacity-mbps = 1000
      [path sl1]
      gateway = gw1
      list = 1
      links = a b
      """;

  static NetworkConfig parse(String text) {
    NetworkConfig parsed = NetworkParser.parse(NetworkParser.text("f", text));
    assertNotNull(parsed);
    return parsed;
  }

  @Test
  void networkSectionsAreParsed() {
    NetworkConfig config = parse(GOOD);
    assertEquals(0x0a000009, config.routerId());
    assertEquals(List.of("gw1"), config.gateways().stream().map(each -> each.name()).toList());
    assertEquals(9339, config.targets().get(1).port());
    assertEquals(1e8, config.links().getFirst().capacity());
    assertEquals(List.of(new NetworkConfig.ListPath("gw1", 1, List.of("a", "b"))), config.paths());
    assertEquals(65_000, config.peers().getFirst().remoteAs(), "own AS by default");
  }

  @Test
  void faultIsReportedWithLineAndNearestName() {
    for (String[] each :
        new String[][] {
          {"router-id = 10.0.0.9\n", "", "a network needs router-id and as"},
          {"router-id = 10.0.0.1\n", "", "[gateway gw1] has no 'router-id'"},
          {"key = c.key\n", "", "telemetry needs key = FILE"},
          {"target = gw1", "target = gw2", "line 14: target = gw2 is no [gateway] or [router]"},
          {"gateway = gw1", "gateway = p1", "gateway = p1 is no [gateway] of this file"},
          {"links = a b", "links = a c", "names c, which is no [link]"},
          {"links = a b", "links = a a", "names a link twice"},
          {"capacity-mbps = 1000\n", "", "[link b] has no 'capacity-mbps'"},
          {"[router p1]", "[router gw1]", "target gw1 is defined twice"},
          {"interface = w1", "interfaces = w1", "there is no key 'interfaces'"},
        }) {
      String broken = GOOD.replaceFirst(java.util.regex.Pattern.quote(each[0]), each[1]);
      HeddleException fault =
          assertThrows(HeddleException.class, () -> parse(broken), each[0] + each[2]);
      assertTrue(fault.getMessage().contains(each[2]), fault.getMessage());
    }
  }
}
