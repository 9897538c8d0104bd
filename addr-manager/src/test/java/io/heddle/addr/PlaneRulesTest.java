package io.heddle.addr;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PlaneRulesTest {
  private static final NetworkLink ETH0 =
      new NetworkLink(2, "eth0", 9000, true, true, false, "02:00:00:00:01:01", 0, "");

  private static String keyOf(String rules, String address) {
    AssignedAddress candidate =
        new AssignedAddress(2, java.net.InetAddress.ofLiteral(address), 64, Set.<AddressFlag>of());
    return PlaneRules.parse(rules)
        .ruleFor(candidate, ETH0)
        .map(PlaneRules.Rule::key)
        .orElse("none");
  }

  @Test
  void closestSelectorDecidesInAnyOrder() {
    String rules = "eth0=by-name,fd00::/16=wide,fd00:1:1:1::/64=narrow,fd00:1:1:1::5=exact";
    assertEquals("exact", keyOf(rules, "fd00:1:1:1::5"));
    assertEquals("narrow", keyOf(rules, "fd00:1:1:1::6"));
    assertEquals("wide", keyOf(rules, "fd00:1:1:2::6"));
    assertEquals("by-name", keyOf(rules, "2001:db8::1"));
  }

  @Test
  void prefixMatchesBitsWithinAByte() {
    assertEquals("a", keyOf("fd00:0:0:8000::/49=a", "fd00:0:0:ffff::1"));
    assertEquals("none", keyOf("fd00:0:0:8000::/49=a", "fd00:0:0:7fff::1"));
    assertEquals("a", keyOf("fd00:0:0:8000::/51=a", "fd00:0:0:9fff::1"));
    assertEquals("none", keyOf("fd00:0:0:8000::/51=a", "fd00:0:0:a000::1"));
    assertEquals("a", keyOf("::/0=a", "fd00::1"));
  }

  @Test
  void ipv4RuleDoesNotFitIpv6() {
    assertEquals("none", keyOf("0.0.0.0/0=a", "fd00::1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  "})
  void blankValueMeansNoRule(String value) {
    assertTrue(PlaneRules.parse(value).isEmpty());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "eth0                      | part 1 of 1, \"eth0\": no \"=\"",
        "eth0=1,                   | part 2 of 2, \"\": no \"=\"",
        "eth0=                     | \"\" isn't a plane key",
        "eth0=a b                  | \"a b\" isn't a plane key",
        "fd00::/129=a              | the prefix length \"129\" isn't a number from 0 to 128",
        "127.0.0.0/33=a            | the prefix length \"33\" isn't a number from 0 to 32",
        "fd00::/x=a                | the prefix length \"x\"",
        "fd00::g=a                 | \"fd00::g\" is neither an address, a prefix nor an interface"
            + " name",
        "fe80::1%eth0=a            | is neither an address",
        "eth0/3=a                  | \"eth0/3\" is neither",
        "nameistoolongforlinux=a   | is neither",
        "=a                        | \"\" is neither",
        "eth0=a,eth0=b             | part 2 of 2, \"eth0=b\": the selector eth0 already has the key"
            + " a",
        "fd00::1/64=a,fd00::2/64=b | the selector fd00::2/64 already has the key a"
      })
  void malformedRulesAreReportedWithTheAllowedForm(String value, String sentence) {
    HeddleException refused = assertThrows(HeddleException.class, () -> PlaneRules.parse(value));
    assertTrue(refused.getMessage().startsWith("HEDDLE_PLANES part "), refused.getMessage());
    assertTrue(refused.getMessage().contains(sentence), refused.getMessage());
  }
}
