package io.heddle.platform;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OptionsTest {
  private static final Option<Long> TIMEOUT =
      Option.number("HEDDLE_CONNECT_TIMEOUT_MS", "ms", 30_000, 100, 600_000, "a test");
  private static final Option<String> POLICY =
      Option.choice("HEDDLE_POLICY", List.of("spray", "pinned"), "spray", "a test");
  private static final List<Option<?>> KNOWN = List.of(TIMEOUT, POLICY);

  private static Options parse(Map<String, String> environment) {
    return Options.parse(environment, KNOWN, Map.of("NCCL_IB_DISABLE", "ignored"));
  }

  @Test
  void unsetOptionHasDefault() {
    Options options = parse(Map.of("PATH", "/bin", "HEDDLE_POLICY", " "));
    assertEquals(30_000, options.get(TIMEOUT));
    assertEquals("spray", options.get(POLICY));
    assertEquals(List.of(), options.remarks());
  }

  @Test
  void malformedValueNamesAllowedValues() {
    for (String text : List.of("fast", "99", "600001", "1e3", "0x100")) {
      HeddleException refused =
          assertThrows(
              HeddleException.class, () -> parse(Map.of("HEDDLE_CONNECT_TIMEOUT_MS", text)));
      assertTrue(
          refused.getMessage().contains("HEDDLE_CONNECT_TIMEOUT_MS=" + text)
              && refused.getMessage().contains("from 100 to 600000"),
          refused.getMessage());
    }
    HeddleException unknown =
        assertThrows(HeddleException.class, () -> parse(Map.of("HEDDLE_POLICY", "Spary")));
    assertEquals(
        "HEDDLE_POLICY=Spary is not understood; allowed is one of spray, pinned; did you mean"
            + " spray?",
        unknown.getMessage());
  }

  @Test
  void unknownNameSuggestsNearest() {
    assertEquals(
        List.of("HEDDLE_POLCIY is not a setting; did you mean HEDDLE_POLICY?"),
        parse(Map.of("HEDDLE_POLCIY", "spray")).remarks());
  }

  @Test
  void ignoredNcclVariableIsReported() {
    assertEquals(
        List.of("NCCL_IB_DISABLE=1: ignored"), parse(Map.of("NCCL_IB_DISABLE", "1")).remarks());
  }

  @Test
  void swappedLettersCountOnce() {
    assertEquals(1, NearestName.distance("weihgts", "weights"));
    assertEquals(3, NearestName.distance("kitten", "sitting"));
    assertEquals(4, NearestName.distance("", "four"));
  }

  @Test
  void distantNameSuggestsNothing() {
    List<String> names = List.of("--stats", "--min-bytes");
    assertEquals("; did you mean --stats?", NearestName.suggestion("--stat", names));
    assertEquals("; did you mean --min-bytes?", NearestName.suggestion("--bytes", names));
    assertEquals("", NearestName.suggestion("--port", names));
    assertEquals("", NearestName.suggestion("--stats", List.of()));
  }
}
