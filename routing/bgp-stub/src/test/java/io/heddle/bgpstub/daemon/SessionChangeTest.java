package io.heddle.bgpstub.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SessionChangeTest {
  private static final String TOP = "as = 65001\n";
  private static final String A = "[peer a]\ninterface = e1\nplane = a\n";
  private static final String B = "[peer b]\ninterface = e2\nplane = b\n";
  private static final String C = "[peer c]\ninterface = e3\nplane = c\n";

  private static DaemonConfig parse(String text) {
    return ConfigParser.parse("bgp.conf", text);
  }

  private static SessionChange change(String before, String after) {
    return SessionChange.between(parse(before), parse(after));
  }

  private static List<String> begun(SessionChange change) {
    return change.begun().stream().map(PeerConfig::name).toList();
  }

  @Test
  void unchangedPeersAreUntouched() {
    SessionChange change = change(TOP + A + B, TOP + A + "bfd-interval-ms = 100\n" + C);
    assertEquals(List.of("a", "b"), change.ended());
    assertEquals(List.of("a", "c"), begun(change));
    change = change(TOP + A + B, TOP + A + "bfd-multiplier = 5\n" + C);
    assertEquals("sessions that end: [b], that begin: [c]", change.describe());
    change = change(TOP + A + B, TOP + B + A);
    assertEquals("sessions that end: [], that begin: []", change.describe());
  }

  @Test
  void rateAndFilterChangeWithoutANewSession() {
    SessionChange change =
        change(TOP + A + B, TOP + A + "rate-gbps = 100\nfilter-always = fd00::/16\n" + B);
    assertEquals(List.of(), change.ended());
    assertEquals(List.of(), begun(change));
  }

  @Test
  void globalSettingsAffectAllPeers() {
    assertEquals(
        List.of("a", "b"), change(TOP + A + B, TOP + "hold-time-s = 30\n" + A + B).ended());
    assertEquals(
        List.of("a", "b"),
        begun(change(TOP + A + B, TOP + "path-bandwidth-type = 0x0182\n" + A + B)));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "as = 65002 | as is 65001 and can't become 65002 while the daemon runs: restart it",
        "as = 65001;listen-port = 0 | listen-port is 179 and can't become 0",
        "as = 65001;router-id = 10.0.0.5 | router-id is unset (from the addresses) and can't become"
            + " 10.0.0.5",
        "as = 65001;publish = /run/other | publish is /run/heddle/routes and can't become"
            + " /run/other",
        "as = 65001;control = /run/other | control is /run/heddle/bgp.sock and can't become"
            + " /run/other",
      })
  void changeThatNeedsARestartIsReportedWithBothValues(String top, String message) {
    DaemonConfig next = parse(top.replace(';', '\n') + "\n" + A);
    HeddleException refused =
        assertThrows(HeddleException.class, () -> parse(TOP + A).text().changeTo(next.text()));
    assertTrue(String.valueOf(refused.getMessage()).contains(message), refused.getMessage());
  }
}
