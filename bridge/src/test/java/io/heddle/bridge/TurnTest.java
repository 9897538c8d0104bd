package io.heddle.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.heddle.bridge.peer.Role;
import io.heddle.bridge.status.DropReason;
import org.junit.jupiter.api.Test;

/** Which packets a bridge forwards around a hand-over, by when they came. */
class TurnTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1000 * MS;

  @Test
  void aBridgeAloneForwardsEverythingWhateverItsClocksSay() {
    assertNull(Turn.ALWAYS.against(0, 0));
    assertNull(Turn.ALWAYS.against(-5 * SECOND, -9 * SECOND));
  }

  @Test
  void nothingIsForwardedBeforeTheFirstTurn() {
    assertEquals(DropReason.NO_OWNER, Turn.NOT_YET.against(5, 6));
    Turn standby = Turn.after(Turn.NOT_YET, Role.STANDBY, 10 * SECOND);
    assertEquals(DropReason.STANDBY, standby.against(10 * SECOND - 1, 10 * SECOND));
  }

  @Test
  void theNewOwnerLeavesWhatCameBeforeItsTurnToTheOldOne() {
    long start = 10 * SECOND;
    Turn owner = Turn.after(Turn.NOT_YET, Role.OWNER, start);
    assertEquals(DropReason.NO_OWNER, owner.against(start - 1, start + MS));
    assertNull(owner.against(start, start + MS));
    assertNull(owner.against(start - 5 * SECOND, start + SECOND), "later no clock matters");
    assertSame(owner, Turn.after(owner, Role.OWNER, start + SECOND));
  }

  @Test
  void theOldOwnerForwardsWhatCameInItsTurnAndCountsTheGap() {
    long stop = 10 * SECOND;
    long told = stop + 3 * MS;
    Turn owner = Turn.after(Turn.NOT_YET, Role.OWNER, SECOND);
    Turn stopped = Turn.after(owner, Role.NO_OWNER, stop);
    assertNull(stopped.against(stop - 1, stop + MS));
    assertEquals(DropReason.NO_OWNER, stopped.against(stop, stop + MS));
    Turn standby = Turn.after(stopped, Role.STANDBY, told);
    assertNull(standby.against(stop - 1, told + MS));
    assertEquals(DropReason.NO_OWNER, standby.against(told - 1, told + MS));
    assertEquals(DropReason.STANDBY, standby.against(told, told + MS));
    assertEquals(DropReason.STANDBY, standby.against(stop - 1, stop + SECOND));
  }
}
