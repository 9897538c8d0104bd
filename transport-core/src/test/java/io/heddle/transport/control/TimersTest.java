package io.heddle.transport.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TimersTest {
  private static final int STEPS = 20_000;
  private static final int OWNERS = 5;

  private final Timers timers = new Timers();
  private final List<String> ran = new ArrayList<>();

  private Timers.Timer add(long dueNs, long periodNs, String name, Timers.Owner owner) {
    return timers.add(dueNs, periodNs, () -> ran.add(name), told -> {}, owner);
  }

  private void runDue(long nowNs) {
    for (Timers.Timer due = timers.takeDue(nowNs); due != null; due = timers.takeDue(nowNs)) {
      due.action().run();
    }
  }

  @Test
  void timersOfTheSameTimeRunInInsertionOrder() {
    for (int i = 0; i < 9; i++) {
      add(5, 0, "" + i, new Timers.Owner());
    }
    runDue(4);
    assertEquals(List.of(), ran);
    runDue(5);
    assertEquals("012345678", String.join("", ran));
  }

  @Test
  void timesMayOverflow() {
    Timers.Owner owner = new Timers.Owner();
    add(Long.MIN_VALUE + 5, 0, "late", owner);
    add(Long.MAX_VALUE - 5, 0, "early", owner);
    runDue(Long.MAX_VALUE);
    assertEquals(List.of("early"), ran);
    runDue(Long.MIN_VALUE + 5);
    assertEquals(List.of("early", "late"), ran);
  }

  @Test
  void periodicTimerRepeatsUntilItIsCancelled() {
    Timers.Owner owner = new Timers.Owner();
    add(0, 10, "tick", owner);
    for (long now = 0; now <= 30; now += 10) {
      runDue(now);
    }
    assertEquals(4, ran.size());
    timers.cancelAll(owner);
    assertEquals(0, timers.count());
    assertNull(timers.first());
  }

  @Test
  void cancelledTimerKeepsNothingInMemory() {
    Timers.Owner owner = new Timers.Owner();
    WeakReference<Object> held = addHolder(owner);
    timers.cancelAll(owner);
    for (int i = 0; held.get() != null && i < 100; i++) {
      System.gc();
    }
    assertNull(held.get());
  }

  private WeakReference<Object> addHolder(Timers.Owner owner) {
    Object holder = new Object();
    timers.add(1, 0, () -> ran.add(holder.toString()), told -> {}, owner);
    return new WeakReference<>(holder);
  }

  /** Compares the timers with a list that is searched from end to end. */
  @Test
  void timersBehaveLikeASearchedList() {
    record Row(Timers.Timer timer, long dueNs, String name, Timers.Owner owner) {}
    Random random = new Random(15);
    List<Timers.Owner> owners = new ArrayList<>();
    for (int i = 0; i < OWNERS; i++) {
      owners.add(new Timers.Owner());
    }
    List<Row> model = new ArrayList<>();
    long now = 0;
    for (int step = 0; step < STEPS; step++) {
      switch (random.nextInt(8)) {
        case 0 -> {
          now += random.nextInt(40);
          ran.clear();
          runDue(now);
          long until = now;
          List<Row> due = model.stream().filter(row -> row.dueNs <= until).toList();
          List<String> expected =
              due.stream().sorted(Comparator.comparingLong(Row::dueNs)).map(Row::name).toList();
          assertEquals(expected, ran, "step " + step);
          model.removeAll(due);
        }
        case 1 -> {
          if (!model.isEmpty()) {
            timers.cancel(model.remove(random.nextInt(model.size())).timer);
          }
        }
        case 2 -> {
          if (random.nextInt(10) == 0) {
            Timers.Owner owner = owners.get(random.nextInt(OWNERS));
            timers.cancelAll(owner);
            model.removeIf(row -> row.owner == owner);
          }
        }
        default -> {
          Timers.Owner owner = owners.get(random.nextInt(OWNERS));
          long due = now + random.nextInt(100);
          model.add(new Row(add(due, 0, "" + step, owner), due, "" + step, owner));
        }
      }
      assertEquals(model.size(), timers.count(), "step " + step);
    }
  }
}
