package io.heddle.transport.device;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.heddle.platform.Log;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlaneLogTest {
  private static final long SECOND_NS = 1_000_000_000;
  private static final long PAUSE_NS = 4 * SECOND_NS;
  private static final String PLANE = "plane if:e1 (fd00::1 to fd00::2)";

  private final List<String> lines = new ArrayList<>();
  private final Log log = (level, sentence) -> lines.add(sentence);
  private final PlaneLog.Source one = () -> "rank 1";
  private final PlaneLog.Source other = () -> "rank 1";
  private long nowNs = 7 * SECOND_NS;
  private final PlaneLog planeLog = new PlaneLog(() -> nowNs);

  private void tryFor(long seconds) {
    long endNs = nowNs + seconds * SECOND_NS;
    while (nowNs < endNs) {
      nowNs += PAUSE_NS;
      planeLog.logStillDown(one, PLANE, "no carrier", PAUSE_NS, log);
      planeLog.logStillDown(other, PLANE, "no carrier", PAUSE_NS, log);
    }
  }

  private static String reminder(int seconds) {
    return "rank 1: "
        + PLANE
        + " has been away for "
        + seconds
        + " s (no carrier), and is tried again in 4000 ms";
  }

  @Test
  void longAbsenceIsLoggedEverLessOftenForAllConnectionsTogether() {
    planeLog.logLost(one, PLANE, "no carrier", false, log);
    planeLog.logLost(other, PLANE, "no carrier", false, log);
    lines.removeIf(line -> !line.contains("has been away"));
    tryFor(3 * 3600);
    assertEquals(
        List.of(reminder(60), reminder(600), reminder(3600), reminder(7200), reminder(10_800)),
        lines);
  }

  @Test
  void returnedPlaneEndsItsRemindersUntilTheNextFailure() {
    planeLog.logLost(one, PLANE, "no carrier", false, log);
    tryFor(100);
    planeLog.logReturned(one, PLANE, PLANE, log);
    assertEquals("rank 1: back on " + PLANE + " after 100000 ms", lines.getLast());
    lines.clear();
    tryFor(3600);
    assertEquals(List.of(), lines);
    planeLog.logLost(one, PLANE, "no carrier", false, log);
    lines.clear();
    tryFor(60);
    assertEquals(List.of(reminder(60)), lines);
  }

  @Test
  void planeBackAtOtherAddressesIsLoggedWithTheEarlierOnes() {
    planeLog.logLost(one, PLANE, "its address is gone", false, log);
    tryFor(8);
    planeLog.logReturned(one, PLANE, "plane if:e1 (fd00:5::1 to fd00::2)", log);
    assertEquals(
        "rank 1: back on plane if:e1 (fd00:5::1 to fd00::2) after 8000 ms, in place of " + PLANE,
        lines.getLast());
  }

  @Test
  void endedConnectionIsCountedButNotKeptWhileAnotherIsAway() {
    planeLog.logLost(one, PLANE, "no carrier", false, log);
    List<WeakReference<Object>> connections = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      PlaneLog.Source passing = new Passing();
      connections.add(new WeakReference<>(passing));
      planeLog.logLost(passing, PLANE, "no carrier", false, log);
      planeLog.forget(passing);
    }
    for (int i = 0; i < 100 && connections.stream().anyMatch(each -> each.get() != null); i++) {
      System.gc();
    }
    assertEquals(0, connections.stream().filter(each -> each.get() != null).count());
    planeLog.logReturned(one, PLANE, PLANE, log);
    assertEquals("rank 1: back on " + PLANE + " after 0 ms, with 21 connections", lines.getLast());
  }

  private static final class Passing implements PlaneLog.Source {
    @Override
    public String peer() {
      return "rank 1";
    }
  }

  @Test
  void planeIsNoWarningWhileConnectionsToThePeerEnd() {
    List<Log.Level> levels = new ArrayList<>();
    Log leveled = (level, sentence) -> levels.add(level);
    planeLog.logLost(one, PLANE, "silence", true, leveled);
    planeLog.logReturned(one, PLANE, PLANE, leveled);
    planeLog.logLost(one, PLANE, "silence", false, leveled);
    assertEquals(List.of(Log.Level.INFO, Log.Level.INFO, Log.Level.WARN), levels);
  }
}
