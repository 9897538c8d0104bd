package io.heddle.daemon;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of parsing, messages and reference tables, with a small declaration of keys. */
class ConfigTextTest {
  private static final ConfigKeys TOP = ConfigKeys.top();
  private static final ConfigKey<Long> SEED = TOP.number("seed", 7, 0, 0xffff_ffffL, "of a hash");
  private static final ConfigKey<Path> CONTROL =
      TOP.file("control", Path.of("/run/test.sock"), "the socket");
  private static final ConfigKeys PEER = ConfigKeys.section("peer");
  private static final ConfigKey<List<Integer>> PORTS =
      PEER.list("ports", "numbers", ConfigKey.NONE, Integer::valueOf, "its ports");
  private static final ConfigKey<Boolean> PASSIVE = PEER.flag("passive", false, "it connects");
  private static final ConfigKey<Integer> WEIGHT =
      PEER.integer("weight", 0, ConfigKey.REQUIRED, 1, 9, "its share");
  private static final ConfigKey<String> SECRET = PEER.secret("secret", 8, "its key");
  private static final ConfigKeys GROUP = ConfigKeys.section("group", "[group ADDRESS]", "\\S+");
  private static final ConfigKeys PLAIN = ConfigKeys.section("plain", "[plain]", "");

  private static ConfigText parse(String text) {
    return ConfigText.parse("test.conf", text, TOP, PEER, GROUP, PLAIN);
  }

  @Test
  void sectionsHaveValuesAndDefaults() {
    ConfigText text =
        parse(
            """
            seed = 0xff   # hexadecimal
            [peer a]
            ports = 1, 2 3
            passive = Yes
            [peer b]
            weight = 4
            [group [ff05::1]:4711]
            [plain]
            """);
    assertEquals(255, text.top().get(SEED));
    assertEquals(Path.of("/run/test.sock"), text.top().get(CONTROL));
    assertEquals(List.of(1, 2, 3), text.sections(PEER).getFirst().get(PORTS));
    assertTrue(text.sections(PEER).getFirst().get(PASSIVE));
    assertFalse(text.sections(PEER).getFirst().has(WEIGHT));
    assertEquals(4, text.sections(PEER).getLast().require(WEIGHT));
    assertEquals(5, text.sections(PEER).getFirst().get(WEIGHT, 5));
    assertEquals("[ff05::1]:4711", text.sections(GROUP).getFirst().name());
    assertEquals("[plain]", text.sections(PLAIN).getFirst().title());
    assertEquals(4, text.sections().size());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "sede = 3 | line 1: there is no key 'sede' outside of a section; did you mean seed?",
        "seed = 1;seed = 2 | line 2: seed occurs twice, first in line 1",
        "[peer a];wieght = 2 | line 2: there is no key 'wieght' in [peer a]; did you mean weight?",
        "[plain];seed = 3 | line 2: there is no key 'seed' in [plain], which has none",
        "[peer a];[peer a] | line 2: there is a [peer a] already, in line 1",
        "[plain];[plain] | line 2: there is a [plain] already, in line 1",
        "seed | line 1: 'seed' is neither key = value nor [peer name] nor [group ADDRESS] nor"
            + " [plain]",
        "[pear a] | line 1: '[pear a]' isn't [peer name] nor [group ADDRESS] nor [plain], where"
            + " the name has 1 to 32 letters, digits, dots, dashes or underscores",
        "[peer a | line 1: '[peer a' isn't [peer name] nor [group ADDRESS] nor [plain], where"
            + " the name has 1 to 32 letters, digits, dots, dashes or underscores",
      })
  void malformedTextIsRefused(String text, String message) {
    assertEquals(
        "test.conf " + message,
        assertThrows(HeddleException.class, () -> parse(text.replace(';', '\n'))).getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "[peer a] | line 1: [peer a] has no 'weight'; allowed is a whole number from 1 to 9",
        "[peer a];weight = | line 1: [peer a] has no 'weight'; allowed is a whole number from 1 to"
            + " 9",
        "[peer a];weight = 10 | line 2: weight = 10 isn't a whole number from 1 to 9",
        "[peer a];weight = 1;passive = noo | line 3: passive = noo isn't yes or no; did you mean"
            + " no?",
        "[peer a];weight = 1;ports = 1, x | line 3: ports = 1, x isn't numbers",
        "[peer a];weight = 1;secret = 123456789 | line 1: [peer a]: secret isn't a text of at most"
            + " 8 bytes",
      })
  void refusedValuesAreNamedExceptSecrets(String text, String message) {
    ConfigText.Section section = parse(text.replace(';', '\n')).sections().getFirst();
    HeddleException refused =
        assertThrows(
            HeddleException.class,
            () -> {
              section.require(WEIGHT);
              section.get(PASSIVE);
              section.get(PORTS);
              section.get(SECRET);
            });
    assertEquals("test.conf " + message, refused.getMessage());
  }

  @Test
  void tableListsEveryKeyInOrder() {
    assertEquals(
        """
        | key | values | default | meaning |
        |---|---|---|---|
        | `ports` | numbers | none | its ports |
        | `passive` | yes or no | `no` | it connects |
        | `weight` | 1 to 9 | must be set | its share |
        | `secret` | a text of at most 8 bytes | none | its key |
        """,
        PEER.table());
    assertThrows(IllegalStateException.class, () -> PEER.flag("ports", true, "again"));
  }
}
