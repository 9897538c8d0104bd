package io.heddle.spray;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PlaneWeightsTest {
  private static final List<String> KEYS = List.of("if:a", "if:b", "subnet:0003");

  @Test
  void withoutAnOptionAllPlanesWeighTheSame() {
    assertEquals("1,1,1", PlaneWeights.parse(null, KEYS).toString());
    assertEquals("all equal", PlaneWeights.parse(" ", KEYS).source());
  }

  @Test
  void weightsAreGivenInOrderOrByKey() {
    assertEquals("4,0,1", PlaneWeights.parse("4, 0,1", KEYS).toString());
    assertEquals("1,7,2", PlaneWeights.parse("subnet:0003=2,if:b=7", KEYS).toString());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "4,2|3 planes",
        "4,2,x|'x'",
        "4,2,-1|'-1'",
        "4,2,9999999|9999999",
        "0,0,0|weight 0",
        "if:z=1|if:z",
        "if:a=1,2|'2'",
        "4,,1|''"
      })
  void malformedListIsReportedWithItsFault(String value, String named) {
    HeddleException refused =
        assertThrows(HeddleException.class, () -> PlaneWeights.parse(value, KEYS));
    assertTrue(refused.getMessage().contains("HEDDLE_WEIGHTS=" + value), refused.getMessage());
    assertTrue(refused.getMessage().contains(named), refused.getMessage());
  }

  @Test
  void aSubsetKeepsItsWeightsUnlessAllAreZero() {
    PlaneWeights weights = PlaneWeights.parse("4,0,1", KEYS);
    assertEquals("1,4", weights.subset(new int[] {2, 0}).toString());
    assertEquals("1", weights.subset(new int[] {1}).toString());
  }
}
