package io.heddle.gateway.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.heddle.gateway.dataplane.DataPlaneSettings;
import io.heddle.platform.HeddleException;
import java.util.List;
import org.junit.jupiter.api.Test;

final class GatewayConfigParserTest {
  private static final String WHOLE =
      """
      # the data centre's side
      lan = lan0, lan1
      seed = 0xffffffff
      gap-us = 50
      move-deadline-ms = 20
      encapsulation = reduced

      [policy dc2]
      destination = fc00:2::/64, 10.2.0.0/16
      colour = 100
      endpoint = 5f00:0:99::1

      [list short]
      policy = dc2
      id = 1
      segments = 5f00:0:1::1, 5f00:0:99::d6
      device = w1
      via = fc00:11::2

      [list long]
      policy = dc2
      id = 7
      weight = 3
      segments = 5f00:0:2::1
      device = w2
      """;

  private static String refusal(String from, String to) {
    List<String> lines = WHOLE.replace(from, to).lines().toList();
    return assertThrows(HeddleException.class, () -> GatewayConfigs.parse(lines)).getMessage();
  }

  @Test
  void allKeysAreParsed() {
    GatewayConfig config = GatewayConfigs.parse(WHOLE.lines().toList());
    assertEquals(List.of("lan0", "lan1"), config.lan());
    assertEquals(new DataPlaneSettings(-1, 16, 50_000, 20_000_000), config.settings());
    assertEquals(true, config.reduced());
    PolicyConfig policy = config.policies().getFirst();
    assertEquals(2, policy.destinations().size());
    assertEquals(100, policy.colour());
    assertEquals("5f00:0:99::1", policy.endpoint());
    assertEquals(List.of(1, 7), policy.lists().stream().map(ListConfig::id).toList());
    assertEquals(3, config.list("long").orElseThrow().weight());
    assertEquals("short", config.listName(1));
    assertEquals("#9", config.listName(9));
    assertEquals("none", config.listName(0));
  }

  @Test
  void misspelledKeyIsReportedWithLineAndNearestName() {
    assertEquals(
        "gateway.conf line 17: there is no key 'devise' in [list short]; did you mean device?",
        refusal("device = w1", "devise = w1"));
    assertEquals(
        "gateway.conf line 14: policy = dc3 is no [policy] of this file; did you mean dc2?",
        refusal("policy = dc2\nid = 1", "policy = dc3\nid = 1"));
    assertEquals(
        "gateway.conf line 13: '[lists short]' isn't [policy name] nor [list name] nor [controller"
            + " name], where the name has 1 to 32 letters, digits, dots, dashes or underscores",
        refusal("[list short]", "[lists short]"));
    assertEquals(
        "gateway.conf line 6: encapsulation = thin isn't whole or reduced",
        refusal("= reduced", "= thin"));
  }

  @Test
  void missingKeysAreReported() {
    assertEquals(
        "gateway.conf: there is no 'lan'; add lan = INTERFACE, on the data centre's side",
        refusal("lan = lan0, lan1", ""));
    assertEquals(
        "gateway.conf line 13: [list short] has no 'id'; allowed is a whole number from 1 to 64",
        refusal("id = 1", ""));
    assertEquals(
        "gateway.conf line 8: [policy dc2] has no 'destination'; allowed is prefixes such"
            + " as fc00:2::/64, 10.2.0.0/16",
        refusal("destination = fc00:2::/64, 10.2.0.0/16", ""));
    assertEquals(
        "gateway.conf line 8: [policy dc2] has no segment list; add a section [list NAME] with"
            + " policy = dc2",
        assertThrows(
                HeddleException.class,
                () ->
                    GatewayConfigs.parse(
                        WHOLE.substring(0, WHOLE.indexOf("[list")).lines().toList()))
            .getMessage());
  }

  @Test
  void probeNeedsADestinationAndASource() {
    assertEquals(
        "gateway.conf line 10: probe = fc00:3::1 is none of the policy's destinations, so no list"
            + " reaches it",
        refusal("colour = 100", "probe = fc00:3::1"));
    assertEquals(
        "gateway.conf line 10: probe = fc00:2::ff needs probe-source, an address of this gateway"
            + " that receives answers",
        refusal("colour = 100", "probe = fc00:2::ff"));
  }

  @Test
  void listsWithTheSameFirstSegmentNeedTheSameNextHop() {
    assertEquals(
        "gateway.conf line 24: segments = 5f00:0:1::1 begins with the same segment as [list short],"
            + " but by another path; give both the same 'device' and 'via'",
        refusal("segments = 5f00:0:2::1", "segments = 5f00:0:1::1"));
    String same =
        WHOLE
            .replace("segments = 5f00:0:2::1", "segments = 5f00:0:1::1")
            .replace("device = w2", "device = w1\nvia = fc00:11::2");
    assertEquals(2, GatewayConfigs.parse(same.lines().toList()).lists().count());
  }

  @Test
  void keyDataPlaneIsGoneWithTheRemedy() {
    assertEquals(
        "gateway.conf line 4: the key 'data-plane' is gone, since the BPF program is the only data"
            + " plane; delete the line. Rules of nftables are removed by: nft delete table inet"
            + " heddle-gateway",
        refusal("gap-us = 50", "data-plane = nftables\ngap-us = 50"));
  }

  @Test
  void valuesOutOfRangeAreRefused() {
    assertEquals(
        "gateway.conf line 22: id = 65 isn't a whole number from 1 to 64",
        refusal("id = 7", "id = 65"));
    assertEquals(
        "gateway.conf line 22: id = 1 is already the id of [list short]",
        refusal("id = 7", "id = 1"));
    assertEquals(
        "gateway.conf line 24: segments = 10.0.0.1 isn't 1 to 16 IPv6 addresses, the first hop's"
            + " first",
        refusal("segments = 5f00:0:2::1", "segments = 10.0.0.1"));
    assertEquals(
        "gateway.conf line 9: destination = fc00:2::/129 isn't prefixes such as fc00:2::/64,"
            + " 10.2.0.0/16",
        refusal("destination = fc00:2::/64, 10.2.0.0/16", "destination = fc00:2::/129"));
  }
}
