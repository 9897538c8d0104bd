package io.heddle.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.bridge.peer.Role;
import io.heddle.bridge.redundancy.ForwardingGate;
import io.heddle.bridge.status.DropReason;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Packets that two bridges forward around a handover, by arrival time. */
class ForwardingGateTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1000 * MS;

  /* Times of a handover. The old owner decides to stop, then has stopped forwarding. */
  private static final long STOPS = 10;
  private static final long STOPPED = 20;
  /* The new owner receives the old one's beacon, decides to begin, then forwards. */
  private static final long BEACON_RECEIVED = 30;
  private static final long BEGINS = 40;
  private static final long BEGUN = 50;
  /* The old owner receives the new one's beacon, then is the backup. */
  private static final long OLD_INFORMED = 60;
  private static final long SETTLED = 70;
  private static final long END = 80;
  /* Step between tested times. */
  private static final long STEP = 5;

  /* Returns the drop reason of a packet whose arrival time is known exactly. */
  private static @Nullable DropReason at(ForwardingGate gate, long arrivedNs, long nowNs) {
    return gate.dropReason(arrivedNs, arrivedNs, nowNs);
  }

  @Test
  void singleBridgeForwardsEverythingForAnyClock() {
    assertNull(at(ForwardingGate.ALWAYS, 0, 0));
    assertNull(at(ForwardingGate.ALWAYS, -5 * SECOND, -9 * SECOND));
  }

  @Test
  void forwardsNothingBeforeFirstRole() {
    assertEquals(DropReason.NO_OWNER, at(ForwardingGate.NOT_YET, 5, 6));
    ForwardingGate standby =
        ForwardingGate.after(ForwardingGate.NOT_YET, Role.STANDBY, 10 * SECOND);
    assertEquals(DropReason.STANDBY, at(standby, 10 * SECOND - 1, 10 * SECOND));
  }

  @Test
  void newOwnerDropsPacketsFromBeforeItsOwnership() {
    long start = 10 * SECOND;
    ForwardingGate owner = ForwardingGate.after(ForwardingGate.NOT_YET, Role.OWNER, start);
    assertEquals(DropReason.NO_OWNER, at(owner, start - 1, start + MS));
    assertNull(at(owner, start, start + MS));
    assertNull(at(owner, start - 5 * SECOND, start + SECOND), "clocks don't matter any more");
    assertSame(owner, ForwardingGate.after(owner, Role.OWNER, start + SECOND));
  }

  @Test
  void oldOwnerForwardsPacketsFromItsOwnershipAndCountsGap() {
    long stop = 10 * SECOND;
    long notified = stop + 3 * MS;
    ForwardingGate owner = ForwardingGate.after(ForwardingGate.NOT_YET, Role.OWNER, SECOND);
    ForwardingGate stopped = ForwardingGate.after(owner, Role.NO_OWNER, stop);
    assertNull(at(stopped, stop - 1, stop + MS));
    assertEquals(DropReason.NO_OWNER, at(stopped, stop, stop + MS));
    ForwardingGate standby = ForwardingGate.after(stopped, Role.STANDBY, notified);
    assertNull(at(standby, stop - 1, notified + MS));
    assertEquals(DropReason.NO_OWNER, at(standby, notified - 1, notified + MS));
    assertEquals(DropReason.STANDBY, at(standby, notified, notified + MS));
    assertEquals(DropReason.STANDBY, at(standby, stop - 1, stop + SECOND));
  }

  /* Packet that arrives at both bridges at the same time, and is polled by each of them later. */
  private record Arrival(
      long at, long oldNotBefore, long oldPolled, long newNotBefore, long newPolled) {
    @Nullable DropReason byOld() {
      ForwardingGate owner =
          ForwardingGate.after(ForwardingGate.NOT_YET, Role.OWNER, STOPS - SECOND);
      ForwardingGate stopped = ForwardingGate.after(owner, Role.NO_OWNER, STOPS);
      ForwardingGate gate =
          oldPolled < STOPPED
              ? owner
              : oldPolled < SETTLED
                  ? stopped
                  : ForwardingGate.after(stopped, Role.STANDBY, OLD_INFORMED);
      return gate.dropReason(oldNotBefore, oldPolled, oldPolled);
    }

    @Nullable DropReason byNew() {
      ForwardingGate standby =
          ForwardingGate.after(ForwardingGate.NOT_YET, Role.STANDBY, STOPS - SECOND);
      ForwardingGate nobody = ForwardingGate.after(standby, Role.NO_OWNER, BEACON_RECEIVED);
      ForwardingGate gate =
          newPolled < BEACON_RECEIVED
              ? standby
              : newPolled < BEGUN ? nobody : ForwardingGate.after(nobody, Role.OWNER, BEGINS);
      return gate.dropReason(newNotBefore, newPolled, newPolled);
    }
  }

  private static void forEach(Consumer<Arrival> packet) {
    for (long at = STEP; at <= END; at += STEP) {
      for (long oldNotBefore = STEP; oldNotBefore <= at; oldNotBefore += STEP) {
        for (long oldPolled = at; oldPolled <= END; oldPolled += STEP) {
          for (long newNotBefore = STEP; newNotBefore <= at; newNotBefore += STEP) {
            for (long newPolled = at; newPolled <= END; newPolled += STEP) {
              packet.accept(new Arrival(at, oldNotBefore, oldPolled, newNotBefore, newPolled));
            }
          }
        }
      }
    }
  }

  @Test
  void handoverForwardsNoPacketTwiceAndCountsLostOnes() {
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

  /*
   * Shows that the new owner needs the lower bound of arrival times, so as not to forward the old
   * owner's packets again.
   */
  @Test
  void pollTimesAloneWouldForwardTwice() {
    int[] twice = new int[1];
    forEach(packet -> {
      Arrival unknown =
          new Arrival(
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
