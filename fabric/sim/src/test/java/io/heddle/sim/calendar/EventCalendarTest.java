package io.heddle.sim.calendar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EventCalendarTest {
  private static final int EVENTS = 4_000;

  @Test
  void emptyCalendarReturnsNothing() {
    assertEquals(EventCalendar.NOTHING, new EventCalendar(1).next());
  }

  @Test
  void eventsOfOneNanosecondKeepTheirOrder() {
    EventCalendar calendar = new EventCalendar(8);
    for (int event : new int[] {5, 2, 7}) {
      calendar.schedule(40, event);
    }
    calendar.schedule(3, 1);
    List<Integer> order = new ArrayList<>();
    for (int event = calendar.next(); event >= 0; event = calendar.next()) {
      order.add(event);
    }
    assertEquals(List.of(1, 5, 2, 7), order);
    assertEquals(40, calendar.nowNs());
  }

  @Test
  void eventInThePastIsRefused() {
    EventCalendar calendar = new EventCalendar(2);
    calendar.schedule(10, 0);
    calendar.next();
    assertThrows(IllegalArgumentException.class, () -> calendar.schedule(9, 1));
  }

  /*
   * The distances are short and long: within a word of the bitmap, across the ring's end, and
   * beyond the ring.
   */
  @ParameterizedTest
  @ValueSource(longs = {3, 70, 5_000, 900_000, 3_000_000, 40_000_000})
  void eventsAreOrderedByTimeAtAnyDistance(long furthestNs) {
    SplittableRandom random = new SplittableRandom(furthestNs);
    EventCalendar calendar = new EventCalendar(EVENTS);
    long[] dueNs = new long[EVENTS];
    for (int event = 0; event < EVENTS / 2; event++) {
      dueNs[event] = random.nextLong(furthestNs);
      calendar.schedule(dueNs[event], event);
    }
    int put = EVENTS / 2;
    long before = 0;
    for (int taken = 0; taken < EVENTS; taken++) {
      int event = calendar.next();
      assertEquals(dueNs[event], calendar.nowNs(), "event " + event);
      assertEquals(Math.max(before, dueNs[event]), dueNs[event], "time goes on only");
      before = dueNs[event];
      dueNs[event] = -1;
      if (put < EVENTS) {
        dueNs[put] = before + random.nextLong(furthestNs);
        calendar.schedule(dueNs[put], put++);
      }
      assertEquals(put - taken - 1, calendar.waiting());
    }
    assertEquals(EventCalendar.NOTHING, calendar.next());
  }
}
