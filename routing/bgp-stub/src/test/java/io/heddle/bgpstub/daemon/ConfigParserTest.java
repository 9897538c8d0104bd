package io.heddle.bgpstub.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bgp.wire.Families;
import io.heddle.bgp.wire.Prefix;
import io.heddle.platform.HeddleException;
import io.heddle.routes.MissingFigure;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConfigParserTest {
  private static DaemonConfig parse(String text) {
    return ConfigParser.parse("bgp.conf", text);
  }

  @Test
  void configurationIsParsedWithDefaults() {
    DaemonConfig config =
        parse(
            """
            # two separate planes
            as = 65001            # ours
            missing-bandwidth = skip
            path-bandwidth-type = 0x0182

            [peer a]
            interface = p1
            as = 65301
            plane = a
            rate-gbps = 400
            [peer b]
            interface = p2
            address = fe80::2
            plane = b
            filter = yes
            filter-always = fd00:aa::/32, fd00:bb::/32
            hold-time-s = 3
            """);
    assertEquals(65001, config.as());
    assertEquals(Path.of("/run/heddle/routes"), config.publish());
    assertEquals(MissingFigure.SKIP, config.weights().missingFigure());
    assertEquals(0x0182, config.codePoints().pathBandwidth());
    PeerConfig a = config.peers().getFirst();
    assertEquals("plane:a", a.planeKey());
    assertEquals(400_000, a.rateMbps());
    assertEquals(9, a.holdTimeSeconds());
    assertNull(a.address());
    PeerConfig b = config.peers().get(1);
    assertEquals(List.of(Prefix.of("fd00:aa::/32"), Prefix.of("fd00:bb::/32")), b.filterAlways());
    assertEquals(3, b.holdTimeSeconds());
  }

  @Test
  void planesOfOneLeafAreDeterminedByColour() {
    PeerConfig leaf =
        parse("as = 65001\n[peer leaf]\ninterface = e0\nplane = by-colour").peers().getFirst();
    assertTrue(leaf.isPlaneFromColour());
    assertNull(leaf.planeKey());
  }

  @Test
  void familiesDefaultToThePeersAddressFamily() {
    DaemonConfig config =
        parse(
            """
            as = 65001
            [peer a]
            address = 10.0.0.1
            plane = a
            [peer b]
            address = fd00::1
            plane = b
            [peer c]
            interface = e0
            plane = c
            families = ipv4, ipv6
            """);
    assertEquals(
        List.of(Families.IPV4_UNICAST, Families.IPV6_UNICAST, Families.UNICAST),
        config.peers().stream().map(PeerConfig::families).toList());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "as = 65001;ass = 3 | line 2: there is no key 'ass' outside of a section; did you mean as?",
        "as = 65001;[peer a];interfase = p1;plane = a | line 3: there is no key 'interfase' in"
            + " [peer a]; did you mean interface?",
        "as = 0 | line 1: as = 0 isn't a whole number from 1 to 4294967295",
        "as = 65001;as = 65002 | line 2: as occurs twice, first in line 1",
        "as = 65001 | there is no peer; add a section [peer NAME] for each leaf",
        "[peer a];interface = p1;plane = a | there is no 'as'; set as = 65001",
        "as = 65001;[peer a];interface = p1 | line 2: [peer a] has no plane for its routes: plane ="
            + " NAME",
        "as = 65001;[peer a];plane = a | line 2: [peer a] needs an interface, since without an"
            + " address",
        "as = 65001;[peer a];plane = a;address = fe80::1 | needs an interface, since its address is"
            + " link-local",
        "as = 65001;[peer a];plane = a;address = 10.0.1 | line 4: address = 10.0.1 isn't an"
            + " IPv6 or IPv4 address",
        "as = 65001;[peer a];plane = a;address = 10.0.0.1;families = ipv5 | line 5: families = ipv5"
            + " isn't ipv6, ipv4 or both with a comma",
        "as = 65001;[peer a];interface = p;plane = a;[peer a] | line 5: there is a [peer a]"
            + " already, in line 2",
        "as = 65001;[peer a b] | '[peer a b]' isn't [peer name]",
        "as = 65001;hold-time-s = 2 | line 2: hold-time-s = 2 isn't 0 or a whole number from 3 to"
            + " 65535",
        "as = 65001;announce = maybe | line 2: announce = maybe isn't yes or no",
        "as = 65001;nonsense | line 2: 'nonsense' is neither key = value nor [peer name]",
        "as = 65001;fib-suppress-type = 0x0180 | the types of extended communities conflict: code"
            + " point 0x0180 has two meanings",
        "as = 65001;[peer a];interface = p;plane = a;[peer b];interface = p;plane = b;address ="
            + " fe80::2 | planes overlap: [peer b] has plane b and [peer a] has plane a, both on"
            + " interface p",
        "as = 65001;[peer a];interface = p;plane = a;[peer b];interface = q;plane = a | line 5:"
            + " plane a would have two addresses of ours: [peer b] is on interface q and [peer a]"
            + " on p",
        "as = 65001;[peer a];interface = p;plane = a;md5-key ="
            + " 012345678901234567890123456789012345678901234567890123456789012345678901234567890 |"
            + " line 2: [peer a]: md5-key isn't a text of at most 80 bytes",
        "as = 65001;[peer a];interface = p;plane = a;[peer b];interface = p;plane = a | [peer b]"
            + " and [peer a] are the same peer: the default router on p",
      })
  void errorsAreReportedWithLineAndAllowedValues(String text, String message) {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> parse(text.replace(';', '\n')));
    assertTrue(String.valueOf(refused.getMessage()).startsWith("bgp.conf"), refused.getMessage());
    assertTrue(String.valueOf(refused.getMessage()).contains(message), refused.getMessage());
  }

  @Test
  void missingFileIsReported() {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> ConfigParser.read(Path.of("/nowhere/bgp.conf")));
    assertTrue(String.valueOf(refused.getMessage()).contains("/nowhere/bgp.conf can't be read"));
  }
}
