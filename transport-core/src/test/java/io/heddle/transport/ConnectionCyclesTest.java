package io.heddle.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.platform.testing.SeparateJvm;
import io.heddle.platform.testing.WholeRunOnly;
import io.heddle.transport.ConnectionCyclesRun.Held;
import io.heddle.transport.ConnectionCyclesRun.Kind;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that a process that keeps opening and closing connections doesn't grow. */
class ConnectionCyclesTest {
  private static final long WHOLE_RUN_SECONDS = 2_000;

  /*
   * Allowed growth between the second and the last series of cycles, caused by the JVM's own
   * tables.
   */
  private static final long MOST_HEAP_GROWTH_BYTES = 64 << 10;
  private static final long MOST_RESIDENT_GROWTH_BYTES = 4 << 20;

  @TempDir private Path folder;

  @Test
  @EndsWithin(100)
  void closedConnectionLeavesNothing() throws Exception {
    checkFlat(run(100, "32m", Kind.CONNECTIONS, 4, 200, 1));
  }

  @ParameterizedTest
  @EnumSource(names = {"UNACCEPTED", "SPANS_ALL_PLANES", "DEAD_LISTENERS", "FALLEN_PLANES"})
  @WholeRunOnly(alwaysRunRows = 1)
  @EndsWithin(200)
  void otherEndsOfAConnectionLeaveNothing(Kind kind) throws Exception {
    checkFlat(run(200, "32m", kind, 3, 100, 1));
  }

  @Test
  @EndsWithin(100)
  void closedListenerLeavesNothing() throws Exception {
    checkFlat(run(100, "32m", Kind.LISTENERS, 4, 50, 50));
  }

  /** Long form of the case {@code cycles} in NcclHabitsTest. */
  @Test
  @WholeRunOnly
  @EndsWithin(WHOLE_RUN_SECONDS)
  void thousandTransportsLeaveNothing() throws Exception {
    checkFlat(run(WHOLE_RUN_SECONDS, "64m", Kind.TRANSPORTS, 4, 250, 1));
  }

  /** The program gets so few descriptors that only 64 connections may linger. */
  @Test
  @EndsWithin(60)
  void lingeringConnectionsAreBounded() throws Exception {
    SeparateJvm.End end =
        SeparateJvm.run(
            60,
            folder.resolve("output"),
            List.of("prlimit", "--nofile=600:600"),
            List.of("-XX:TieredStopAtLevel=1"),
            LingeringRun.class,
            folder.toString(),
            "100");
    assertEquals(0, end.status(), end.output());
    assertEquals(List.of("lingering 64", "log []"), end.output().lines().toList());
  }

  /** Long form; the short form is {@link #closedConnectionLeavesNothing}. */
  @Test
  @WholeRunOnly
  @EndsWithin(WHOLE_RUN_SECONDS)
  void hundredThousandConnectionsLeaveNothing() throws Exception {
    checkFlat(run(WHOLE_RUN_SECONDS, "32m", Kind.CONNECTIONS, 10, 10_000, 1));
  }

  /** Long form; the short form is {@link #closedConnectionLeavesNothing}. */
  @Test
  @WholeRunOnly
  @EndsWithin(WHOLE_RUN_SECONDS)
  void wavesOfSevenHundredConnectionsLeaveNothing() throws Exception {
    checkFlat(run(WHOLE_RUN_SECONDS, "256m", Kind.CONNECTIONS, 10, 5, 700));
  }

  private List<Held> run(
      long limitSeconds, String heap, Kind kind, int seriesCount, int cycles, int connections)
      throws Exception {
    SeparateJvm.End end =
        SeparateJvm.run(
            limitSeconds,
            folder.resolve("output"),
            List.of(),
            List.of(
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-XX:-UseDynamicNumberOfCompilerThreads"),
            ConnectionCyclesRun.class,
            folder.toString(),
            kind.name(),
            Integer.toString(seriesCount),
            Integer.toString(cycles),
            Integer.toString(connections));
    assertEquals(0, end.status(), end.output());
    List<Held> held =
        end.output().lines().filter(line -> line.startsWith("held ")).map(Held::parse).toList();
    assertEquals(seriesCount, held.size(), end.output());
    return held;
  }

  private static void checkFlat(List<Held> held) {
    Held settled = held.get(1);
    Held last = held.getLast();
    assertTrue(last.heapBytes() - settled.heapBytes() < MOST_HEAP_GROWTH_BYTES, held.toString());
    assertTrue(
        last.residentBytes() - settled.residentBytes() < MOST_RESIDENT_GROWTH_BYTES,
        held.toString());
    assertEquals(settled.descriptors(), last.descriptors(), held.toString());
    assertEquals(settled.threads(), last.threads(), held.toString());
  }
}
