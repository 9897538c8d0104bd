package io.heddle.fabric.model;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.HeddleException;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Test of models in text form and of the predictions of their paths. */
final class PathsPredictionTest {
  private static final String FLOWS = "\nflows fd00::1 fd00::2 49152-49215\n";

  private static FabricModel model(String text) {
    return ModelText.parse("fabric.model", text.lines().toList());
  }

  private static PathsPrediction predict(String text) {
    return PathsPrediction.of(model(text));
  }

  private static String refusal(String text) {
    return String.valueOf(
        assertThrows(HeddleException.class, () -> model(text), text).getMessage());
  }

  @Test
  void twoTiersOfOneHashArePolarised() {
    PathsPrediction prediction =
        predict(
            "tier leaf\nmembers 4\nalgorithm crc32LSB\ntier spine\nmembers 4\nalgorithm crc32LSB"
                + FLOWS);
    PathsPrediction.TierPair pair = prediction.pairs().getFirst();
    assertEquals(1, pair.polarisation());
    assertEquals(4, pair.used());
    for (int row = 0; row < 4; row++) {
      for (int column = 0; column < 4; column++) {
        assertEquals(row == column, pair.loads().get(row).get(column) > 0, "only the diagonal");
      }
    }
    PathsPrediction.TierLoad spines = prediction.tiers().get(1);
    assertEquals(16, spines.links());
    assertEquals(12, spines.unused());
    assertTrue(
        spines.worstProbability() < 1e-3,
        "random choice doesn't do that: " + spines.worstProbability());
    assertEquals(64, spines.loads().stream().mapToInt(Integer::intValue).sum());
  }

  @Test
  void lastPointEqualsPredictionAndIsAboveRandomBand() {
    FabricModel model =
        model(
            "tier leaf\nmembers 4\nalgorithm crc32LSB\ntier spine\nmembers 4\nalgorithm crc32LSB"
                + FLOWS);
    PathsPrediction prediction = PathsPrediction.of(model);
    List<WorstLinks> worst = WorstLinks.of(model);
    for (int tier = 0; tier < 2; tier++) {
      PathsPrediction.TierLoad load = prediction.tiers().get(tier);
      WorstLinks.Point last = worst.get(tier).points().getLast();
      assertEquals(load.name(), worst.get(tier).tier());
      assertEquals(64, last.flows());
      assertEquals(load.most() / load.even(), last.worst());
      assertTrue(last.randomLow() <= last.randomHigh(), last.toString());
    }
    WorstLinks.Point ofSpines = worst.get(1).points().getLast();
    assertTrue(ofSpines.worst() > ofSpines.randomHigh(), ofSpines.toString());
  }

  @Test
  void shiftOfTheSecondTierPreventsPolarisation() {
    PathsPrediction.TierPair pair =
        predict(
                "tier leaf\nmembers 4\ntier spine # the same hash, other bits\nmembers 4\nshift 5"
                    + FLOWS)
            .pairs()
            .getFirst();
    assertTrue(pair.polarisation() < 0.2, pair.toString());
  }

  /*
   * The polynomial of CRC16-BISYNC is a multiple of x + 1, and its low bits hardly mix. So ports
   * that are next to each other select only half of the links.
   */
  @Test
  void neighbouringPortsReachOnlyHalfTheLinksUnderCrc16() {
    PathsPrediction.TierLoad leaf =
        predict("tier leaf\nmembers 4\nalgorithm crc16" + FLOWS).tiers().getFirst();
    assertEquals(2, leaf.unused(), leaf.toString());
    assertEquals(0, predict("tier leaf\nmembers 4\nshift 5" + FLOWS).tiers().getFirst().unused());
  }

  /*
   * A linear hash with another seed is the same hash with one more XOR. So flows that collide under
   * one seed collide under every other seed.
   */
  @Test
  void anotherSeedHelpsOnlyNonLinearHashes() {
    String tiers = "tier leaf\nmembers 4\nalgorithm %1$s\nseed 3\ntier spine\nmembers 4\n";
    assertEquals(
        1,
        predict((tiers + "algorithm %1$s\nseed 99").formatted("crc16") + FLOWS)
            .pairs()
            .getFirst()
            .polarisation());
    assertTrue(
        predict((tiers + "algorithm %1$s\nseed 99").formatted("linux") + FLOWS)
                .pairs()
                .getFirst()
                .polarisation()
            < 0.2);
    assertEquals(
        1,
        predict((tiers + "algorithm %1$s\nseed 3").formatted("linux") + FLOWS)
            .pairs()
            .getFirst()
            .polarisation());
  }

  @Test
  void switchesWithSeedsOfTheirOwnDiffer() {
    PathsPrediction prediction =
        predict(
            "tier leaf\nmembers 2\nalgorithm linux\nseed 5\ntier spine\nmembers 2\n"
                + "algorithm linux\nseed 6 per-switch"
                + FLOWS);
    assertEquals(0, prediction.tiers().get(1).unused(), prediction.toString());
  }

  @Test
  void queuePairsMatterIfTheHashUsesThem() {
    String two = "flows fd00::1 fd00::2 49152 %s\nflows fd00::1 fd00::2 49152 %s\n";
    String tier = "tier leaf\nmembers 2\nalgorithm xor16\nfields queue-pair\n";
    assertEquals(
        List.of(1, 1),
        predict(tier + String.format(Locale.ROOT, two, 16, 17)).tiers().getFirst().loads());
    assertEquals(
        List.of(2, 0),
        predict(tier + String.format(Locale.ROOT, two, 16, 18)).tiers().getFirst().loads());
  }

  @Test
  void errorsNameLineAndWord() {
    assertEquals(
        "fabric.model line 3: 'crc17' isn't an algorithm; known are crc16, crc16cc, crc32MSB,"
            + " crc32LSB, xor1, xor2, xor4, xor8, xor16, linux, jenkins; did you mean crc16?",
        refusal("tier leaf\nmembers 4\nalgorithm crc17" + FLOWS));
    assertEquals(
        "fabric.model line 2: 'membres' isn't a keyword of a model; did you mean members?",
        refusal("tier leaf\nmembres 4" + FLOWS));
    assertEquals(
        "fabric.model line 2: 'many' isn't a whole number from 1 to 1024",
        refusal("tier leaf\nmembers many" + FLOWS));
    assertEquals(
        "fabric.model line 1: 'members' belongs to a tier; add before it: tier NAME",
        refusal("members 4"));
    assertEquals(
        "fabric.model line 1: tier leaf has no number of links per switch; add: members N",
        refusal("tier leaf" + FLOWS));
    assertEquals(
        "fabric.model line 2: there are no flows; add some with: flows SOURCE DESTINATION PORTS",
        refusal("tier leaf\nmembers 4"));
    assertEquals(
        "fabric.model line 3: '49160-49152' isn't a range of ports from 1 to 65535",
        refusal("tier leaf\nmembers 4\nflows fd00::1 fd00::2 49160-49152"));
    assertEquals(
        "fabric.model line 3: 'host' isn't an IP address",
        refusal("tier leaf\nmembers 4\nflows host fd00::2 49152"));
    assertEquals(
        "fabric.model line 3: 192.0.2.1 is of another family than fd00::1",
        refusal("tier leaf\nmembers 4\nflows fd00::1 192.0.2.1 49152"));
    assertEquals(
        "fabric.model line 4: 'seed' is repeated in tier leaf",
        refusal("tier leaf\nmembers 4\nseed 1\nseed 2" + FLOWS));
    assertEquals(
        "fabric.model line 1: tier leaf has the algorithm linux, which doesn't use 'shift'",
        refusal("tier leaf\nmembers 4\nalgorithm linux\nseed 1\nshift 3" + FLOWS));
    assertEquals(
        "fabric.model line 1: tier leaf needs a seed: without one Linux chooses an unknown"
            + " one",
        refusal("tier leaf\nmembers 4\nalgorithm linux" + FLOWS));
    assertEquals(
        "fabric.model line 1: there is no tier; add one with: tier NAME", refusal("# nothing"));
    assertTrue(
        refusal("tier a\nmembers 1024\ntier b\nmembers 1024" + FLOWS)
            .startsWith("fabric.model line 3: with tier b there are 1048576 links"));
  }
}
