package io.heddle.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.peer.Role;
import io.heddle.bridge.status.DropReason;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which packets a bridge forwards around a hand-over, by when they came. */
class TurnTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1000 * MS;

  /* The moments of a hand-over: the old owner stops, and forwards no more; */
  private static final long STOPS = 10;
  private static final long STOPPED = 20;
  /* the new one hears of it, begins, and forwards; */
  private static final long HEARS = 30;
  private static final long BEGINS = 40;
  private static final long BEGUN = 50;
  /* the old one hears of that, and decides by it. */
  private static final long TOLD = 60;
  private static final long SETTLED = 70;
  private static final long END = 80;
  /* Between two moments and at each. */
  private static final long STEP = 5;

  /* Of a packet whose time is known. */
  private static @Nullable DropReason at(Turn turn, long arrivedNs, long nowNs) {
    return turn.against(arrivedNs, arrivedNs, nowNs);
  }

  @Test
  void aBridgeAloneForwardsEverythingWhateverItsClocksSay() {
    assertNull(at(Turn.ALWAYS, 0, 0));
    assertNull(at(Turn.ALWAYS, -5 * SECOND, -9 * SECOND));
  }

  @Test
  void nothingIsForwardedBeforeTheFirstTurn() {
    assertEquals(DropReason.NO_OWNER, at(Turn.NOT_YET, 5, 6));
    Turn standby = Turn.after(Turn.NOT_YET, Role.STANDBY, 10 * SECOND);
    assertEquals(DropReason.STANDBY, at(standby, 10 * SECOND - 1, 10 * SECOND));
  }

  @Test
  void theNewOwnerLeavesWhatCameBeforeItsTurnToTheOldOne() {
    long start = 10 * SECOND;
    Turn owner = Turn.after(Turn.NOT_YET, Role.OWNER, start);
    assertEquals(DropReason.NO_OWNER, at(owner, start - 1, start + MS));
    assertNull(at(owner, start, start + MS));
    assertNull(at(owner, start - 5 * SECOND, start + SECOND), "later no clock matters");
    assertSame(owner, Turn.after(owner, Role.OWNER, start + SECOND));
  }

  @Test
  void theOldOwnerForwardsWhatCameInItsTurnAndCountsTheGap() {
    long stop = 10 * SECOND;
    long told = stop + 3 * MS;
    Turn owner = Turn.after(Turn.NOT_YET, Role.OWNER, SECOND);
    Turn stopped = Turn.after(owner, Role.NO_OWNER, stop);
    assertNull(at(stopped, stop - 1, stop + MS));
    assertEquals(DropReason.NO_OWNER, at(stopped, stop, stop + MS));
    Turn standby = Turn.after(stopped, Role.STANDBY, told);
    assertNull(at(standby, stop - 1, told + MS));
    assertEquals(DropReason.NO_OWNER, at(standby, told - 1, told + MS));
    assertEquals(DropReason.STANDBY, at(standby, told, told + MS));
    assertEquals(DropReason.STANDBY, at(standby, stop - 1, stop + SECOND));
  }

  /* A packet that comes to both bridges at once, and is polled by each at some time after that. */
  private record Came(
      long at, long oldNotBefore, long oldPolled, long newNotBefore, long newPolled) {
    @Nullable DropReason byOld() {
      Turn owner = Turn.after(Turn.NOT_YET, Role.OWNER, STOPS - SECOND);
      Turn stopped = Turn.after(owner, Role.NO_OWNER, STOPS);
      Turn turn =
          oldPolled < STOPPED
              ? owner
              : oldPolled < SETTLED ? stopped : Turn.after(stopped, Role.STANDBY, TOLD);
      return turn.against(oldNotBefore, oldPolled, oldPolled);
    }

    @Nullable DropReason byNew() {
      Turn standby = Turn.after(Turn.NOT_YET, Role.STANDBY, STOPS - SECOND);
      Turn nobody = Turn.after(standby, Role.NO_OWNER, HEARS);
      Turn turn =
          newPolled < HEARS
              ? standby
              : newPolled < BEGUN ? nobody : Turn.after(nobody, Role.OWNER, BEGINS);
      return turn.against(newNotBefore, newPolled, newPolled);
    }
  }

  private static void forEach(Consumer<Came> packet) {
    for (long at = STEP; at <= END; at += STEP) {
      for (long oldNotBefore = STEP; oldNotBefore <= at; oldNotBefore += STEP) {
        for (long oldPolled = at; oldPolled <= END; oldPolled += STEP) {
          for (long newNotBefore = STEP; newNotBefore <= at; newNotBefore += STEP) {
            for (long newPolled = at; newPolled <= END; newPolled += STEP) {
              packet.accept(new Came(at, oldNotBefore, oldPolled, newNotBefore, newPolled));
            }
          }
        }
      }
    }
  }

  @Test
  void atAHandOverNoPacketIsForwardedTwiceAndALostOneIsCountedHoweverItIsPolled() {
    int[] forwarded = new int[1];
    forEach(packet -> {
      DropReason byOld = packet.byOld();
      DropReason byNew = packet.byNew();
      assertTrue(byOld != null || byNew != null, () -> "twice: " + packet);
      assertTrue(
          byOld == null
              || byNew == null
              || byOld == DropReason.NO_OWNER
              || byNew == DropReason.NO_OWNER,
          () -> "lost and not counted: " + packet);
      forwarded[0] += byOld == null || byNew == null ? 1 : 0;
    });
    assertTrue(forwarded[0] > 0);
  }

  /* So the lower bound is what keeps the new owner from what the old one forwards. */
  @Test
  void byTheTimesOfPollsAloneAPacketWouldBeForwardedTwice() {
    int[] twice = new int[1];
    forEach(packet -> {
      Came unknown =
          new Came(
              packet.at(),
              packet.oldPolled(),
              packet.oldPolled(),
              packet.newPolled(),
              packet.newPolled());
      twice[0] += unknown.byOld() == null && unknown.byNew() == null ? 1 : 0;
    });
    assertTrue(twice[0] > 0);
  }
}
