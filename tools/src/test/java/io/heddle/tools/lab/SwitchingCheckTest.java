package io.heddle.tools.lab;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SystemTest;
import io.heddle.tools.switching.LabSwitches;
import io.heddle.tools.switching.SprayScope;
import io.heddle.tools.switching.SwitchingMode;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Test of the check of two tiers of switches that hash or spray. Independent counters on every link
 * are the reference.
 */
@EndsWithin(180)
@SystemTest
final class SwitchingCheckTest {
  private HashLab lab;

  @BeforeEach
  void makeLab() {
    HashLab.refusal()
        .or(LabSwitches::refusal)
        .ifPresent(why -> Skip.because("no lab of switches here: " + why));
    lab = HashLab.create(SwitchingCheck.LINKS, SwitchingCheck.LINKS);
  }

  @AfterEach
  void removeLab() {
    if (lab != null) {
      lab.close();
    }
  }

  private SwitchingCheck.Row check(SwitchingMode mode, boolean polarised) {
    SwitchingCheck.Row row =
        new SwitchingCheck(lab)
            .check(new FabricSwitching(mode, polarised, SprayScope.GLOBAL, false));
    assertTrue(row.passed(), row.toString());
    return row;
  }

  @Test
  void sprayLinkSpreadsDataEvenlyExceptProtocolPacketsAndFailedLinks() {
    SwitchingCheck.Row row = check(SwitchingMode.SPRAYLINK, false);
    assertEquals(row.flows(), row.dataOnAllLinks());
    assertEquals(row.flows(), row.protocolOnOneLink());
    assertTrue(row.avoidsFailedLink());
  }

  @Test
  void equalHashesPolariseTheSecondTierAndLeaveTwelveOfSixteenLinksEmpty() {
    SwitchingCheck.Row row = check(SwitchingMode.HASH, true);
    assertEquals(SwitchingCheck.LINKS, row.linkPairs());
    assertEquals(row.flows(), row.dataOnOneLink());
  }

  @Test
  void randomSprayingSpreadsDataOverAllLinks() {
    SwitchingCheck.Row row = check(SwitchingMode.SPRAY, false);
    assertEquals(row.flows(), row.dataOnAllLinks());
  }
}
