package io.heddle.daemon;

import static java.util.stream.Collectors.joining;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests of parsing, messages and reference tables, with a small declaration of keys. */
class ConfigTextTest {
  private static final ConfigKeys TOP = ConfigKeys.top();
  private static final ConfigKey<Long> SEED = TOP.number("seed", 7, 0, 0xffff_ffffL, "of a hash");
  private static final ConfigKey<Path> CONTROL =
      TOP.socket("control", Path.of("/run/test.sock"), "the socket");
  private static final ConfigKey<Path> STATUS =
      TOP.file("status", Path.of("/run/test.status"), "the status file");
  private static final ConfigKeys PEER = ConfigKeys.section("peer");
  private static final ConfigKey<List<Integer>> PORTS =
      PEER.list("ports", "numbers", ConfigKey.NONE, Integer::valueOf, "its ports");
  private static final ConfigKey<Boolean> PASSIVE = PEER.flag("passive", false, "it connects");
  private static final ConfigKey<Integer> WEIGHT =
      PEER.integer("weight", 0, ConfigKey.REQUIRED, 1, 9, "its share");
  private static final ConfigKey<String> SECRET = PEER.secret("secret", 8, "its key");
  private static final ConfigKeys GROUP = ConfigKeys.section("group", "[group ADDRESS]", "\\S+");
  private static final ConfigKeys PLAIN = ConfigKeys.section("plain", "[plain]", "");
  private static final ConfigKey<String> NAME =
      PLAIN.text("name", "a name", "the host's", "its name");
  private static final ConfigKey<Integer> HOPS = PLAIN.integer("hops", 1, 1, 255, "its hops");

  static {
    TOP.needRestart(CONTROL);
    PLAIN.needRestart(NAME);
  }

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
        "SEED_ = 3 | line 1: there is no key 'SEED_' outside of a section; did you mean seed?",
        "seed\u00a0= 3 | line 1: the line has the invisible character U+00A0; remove it, or write a"
            + " space",
        "[peer a]; passive = \0yes | line 2: the line has the invisible character U+0000; remove"
            + " it, or write a space",
        "sede = 3 | line 1: there is no key 'sede' outside of a section; did you mean seed?",
        "seed = 1;seed = 2 | line 2: seed occurs twice, first in line 1",
        "[peer a];wieght = 2 | line 2: there is no key 'wieght' in [peer a]; did you mean weight?",
        "[group g];seed = 3 | line 2: there is no key 'seed' in [group g], which has none",
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
        "[peer a];weight = | line 2: weight is empty; allowed is a whole number from 1 to 9",
        "[peer a];weight = 10 | line 2: weight = 10 isn't a whole number from 1 to 9",
        "[peer a];weight = 1;passive = noo | line 3: passive = noo isn't yes or no; did you mean"
            + " no?",
        "seed = 0x-1 | line 1: seed = 0x-1 isn't a whole number from 0 to 4294967295",
        "seed = 0x | line 1: seed = 0x isn't a whole number from 0 to 4294967295",
        "status = rel | line 1: status = rel isn't an absolute path",
        "status = / | line 1: status = / isn't an absolute path",
        "[peer a];weight = 1;ports = 1, x | line 3: ports = 1, x isn't numbers",
        "[peer a];weight = 1;secret = 123456789 | line 1: [peer a]: secret isn't a text of at most"
            + " 8 bytes",
      })
  void refusedValuesAreNamedExceptSecrets(String text, String message) {
    HeddleException refused =
        assertThrows(
            HeddleException.class,
            () -> parse(text.replace(';', '\n')).sections().getFirst().require(WEIGHT));
    assertEquals("test.conf " + message, refused.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "seed = 7;[peer a];weight = 1 | [peer a];weight = 0x1 | nothing changes; unchanged"
            + " sections: 1",
        "seed = 3 | '' | seed becomes 7, was 3; unchanged sections: 0",
        "[peer a];ports = 1 2;[peer b] | [peer b];[peer a];ports = 2, 1 | ports of [peer a] becomes"
            + " 2, 1, was 1 2; unchanged sections: 1",
        "[peer a];[group g] | [peer b];[group g] | [peer a] ends; [peer b] begins; unchanged"
            + " sections: 1",
        "[plain];hops = 2 | [plain] | hops of [plain] becomes 1, was 2; unchanged sections: 0",
        "[peer a] | [peer a];weight = 3;secret = abc | weight of [peer a] becomes 3, was unset"
            + " (must be set); secret of [peer a] becomes a secret, was unset (none); unchanged"
            + " sections: 0",
        "[peer a];secret = abc | [peer a];secret = def | secret of [peer a] becomes a secret, was a"
            + " secret; unchanged sections: 0",
      })
  void changesAreNamedWithBothValues(String before, String after, String changes) {
    assertEquals(changes, changes(before, after));
  }

  private static String changes(String before, String after) {
    return parse(before.replace(';', '\n')).changeTo(parse(after.replace(';', '\n')));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "control = /a | '' | control is /a and can't become /run/test.sock",
        "[plain];name = x | [plain] | name of [plain] is x and can't become unset (the host's)",
        "[peer a] | [plain];hops = 2 | [plain] can't begin",
        "[plain] | seed = 3 | [plain] can't end",
      })
  void changeThatNeedsARestartIsRefused(String before, String after, String message) {
    assertEquals(
        message + " while the daemon runs: restart it",
        assertThrows(HeddleException.class, () -> changes(before, after)).getMessage());
  }

  @Test
  void longListOfChangesIsCut() {
    String many =
        IntStream.rangeClosed(1, 22).mapToObj("[peer p%d]"::formatted).collect(joining(";"));
    String changes = changes("", many);
    assertTrue(changes.startsWith("[peer p1] begins; [peer p2] begins; "), changes);
    assertTrue(
        changes.endsWith("; [peer p20] begins; and 2 more changes; unchanged sections: 0"),
        changes);
  }

  @Test
  void twoFilesOfADaemonHaveTwoNames() {
    assertEquals(Path.of("/run/test.status"), parse("").top().get(STATUS));
    assertEquals(
        "test.conf: control and status can't both be /run/test.status",
        assertThrows(HeddleException.class, () -> parse("control = /run//x/../test.status"))
            .getMessage());
  }

  @Test
  void leadingZerosDontMakeANumberOctal() {
    assertEquals(10, parse("seed = 010").top().get(SEED));
    assertEquals(9, parse("seed = 09").top().get(SEED));
  }

  @Test
  void socketPathFitsIntoAnAddress() {
    String longest = "/" + "x".repeat(106);
    assertEquals(Path.of(longest), parse("control = " + longest).top().get(CONTROL));
    String refused =
        assertThrows(HeddleException.class, () -> parse("control = " + longest + "x")).getMessage();
    assertTrue(refused.endsWith("isn't an absolute path of at most 107 bytes"), refused);
  }

  @Test
  void messageQuotesTheBeginningOfALongText() {
    for (String line : List.of("x".repeat(1 << 20), "seed = " + "9".repeat(1 << 20))) {
      String refused = assertThrows(HeddleException.class, () -> parse(line)).getMessage();
      assertTrue(refused.length() < 300, () -> refused.length() + " characters");
    }
  }

  @Test
  void byteOrderMarkIsSkipped(@TempDir Path folder) throws Exception {
    Path file = Files.writeString(folder.resolve("c"), "\uFEFFseed = 3\r\n");
    assertEquals(3, parse(ConfigText.read(file)).top().get(SEED));
  }

  @Test
  void endlessFileIsRefused() {
    assertEquals(
        "the configuration /dev/zero can't be read: it has more than 16 MiB; mend it, or name"
            + " another with --config",
        assertThrows(HeddleException.class, () -> ConfigText.read(Path.of("/dev/zero")))
            .getMessage());
  }

  @Test
  void missingKeyAboveAllSectionsIsNamed() {
    HeddleException missing =
        assertThrows(HeddleException.class, () -> parse("[plain]").top().require(SEED));
    assertEquals(
        "test.conf: the part above all sections has no 'seed'; allowed is a whole number from 0 to"
            + " 4294967295",
        missing.getMessage());
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
    assertEquals(
        """
        | key | values | default | meaning |
        |---|---|---|---|
        | `name` | a name | the host's | its name *(restart)* |
        | `hops` | 1 to 255 | `1` | its hops |
        """,
        PLAIN.table());
    assertThrows(IllegalStateException.class, () -> PEER.flag("ports", true, "again"));
    assertThrows(IllegalStateException.class, () -> PEER.needRestart(HOPS));
  }
}
