package io.heddle.tools.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.heddle.platform.testing.EndsWithin;
import io.heddle.stats.PlaneCounters;
import io.heddle.stats.StatsFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Test of {@link ChaosRun} and {@link ChaosBench}, whose ranks are shell scripts. */
@EndsWithin(60)
class ChaosRunTest {
  /*
   * Script of ranks that go on until they receive the line that undoes the clock step. By then all
   * faults have been injected.
   */
  private static final String WAITS_FOR_THE_CLOCK =
      """
      traffic() {
        while read -r word rest; do
          echo "$word $rest" >> "$plugin.heard-$rank"
          [ "$word $rest" = "clock 0" ] && break
        done
        say traffic '"received": 5, "send": {"complete": true}, "receive": {"complete": true}'
      }
      plugin=$2
      """;

  @TempDir private Path folder;
  private ScriptedRanks network;

  @BeforeEach
  void makeNetwork() {
    network = new ScriptedRanks(folder.resolve("plugin.begun"));
  }

  private static ChaosPlan plan(long seed, ChaosEvent... events) {
    ChaosSetting setting = new ChaosSetting(seed / ChaosSetting.GROUP, 2, 1500, "spray", "", 1_000);
    return new ChaosPlan(seed, setting, 4_096, 100, List.of(events));
  }

  private static ChaosEvent event(int atMs, int forMs, ChaosFault fault, int rank) {
    return new ChaosEvent(atMs, forMs, fault, rank, 0, 7);
  }

  private ChaosVerdict run(String otherwise, ChaosPlan plan) throws Exception {
    try (ChaosBench bench = bench(otherwise)) {
      return bench.run(plan, true);
    }
  }

  private ChaosBench bench(String otherwise) throws Exception {
    return new ChaosBench(
        seed -> plan(seed),
        setting -> network,
        false,
        ScriptedRanks.programs(folder, otherwise),
        folder);
  }

  private String heard(int rank) throws Exception {
    return Files.readString(folder.resolve("plugin.heard-" + rank));
  }

  @Test
  void correctRanksPass() throws Exception {
    ChaosVerdict verdict = run("", plan(3));
    assertEquals(ChaosVerdict.Kind.PASSED, verdict.kind(), () -> "" + verdict.explanation());
    assertEquals(10, verdict.messages());
    assertEquals(1_000, verdict.bytes());
    Path ownFolder = folder.resolve("pair-1").resolve("seed-3");
    assertTrue(Files.isDirectory(ownFolder));
    for (int rank = 0; rank < ChaosPair.RANKS; rank++) {
      assertEquals("run 3 100 4096 " + ownFolder + "\nclose \n", heard(rank));
    }
  }

  @Test
  void faultsAreInjectedInOrderAndUndone() throws Exception {
    ChaosVerdict verdict =
        run(
            WAITS_FOR_THE_CLOCK,
            plan(
                0,
                event(1, 40, ChaosFault.CARRIER_CUT, 0),
                event(10, 10, ChaosFault.LOSS, 1),
                event(30, 60, ChaosFault.CLOCK_STEP, 0),
                event(31, 60, ChaosFault.CLOCK_STEP, 1)));
    assertEquals(ChaosVerdict.Kind.PASSED, verdict.kind(), () -> "" + verdict.explanation());
    assertEquals(
        List.of(
            "settle",
            "begin link down",
            "begin loss on a plane",
            "undo loss on a plane",
            "undo link down"),
        network.done);
    assertTrue(heard(0).contains("clock 7\nclock 0\n"), heard(0));
  }

  @Test
  void pendingFaultsAreUndoneAfterTheTraffic() throws Exception {
    run(
        """
        traffic() {
          until [ -e "$plugin.begun" ]; do sleep 0.02; done
          say traffic '"send": {}, "receive": {}'
        }
        plugin=$2
        """,
        plan(0, event(1, 60_000, ChaosFault.SILENT_CUT, 0)));
    assertEquals(List.of("settle", "begin silent cut", "undo silent cut"), network.done);
  }

  @Test
  void earlyEndOfARankFailsWithItsLastLogLine() throws Exception {
    ChaosVerdict verdict = run("traffic() { echo 'no such plane' >&2; exit 3; }", plan(0));
    assertEquals(ChaosVerdict.Kind.FAILED, verdict.kind());
    String explanation = verdict.explanation();
    assertNotNull(explanation);
    assertTrue(
        explanation.matches("(?s).* ended: exit code 3 before its (start|traffic).*"), explanation);
    assertTrue(explanation.contains("no such plane"), explanation);
  }

  @Test
  void hangReportedByARankIsAHang() throws Exception {
    ChaosVerdict verdict = run("traffic() { exit 4; }", plan(0));
    assertEquals(ChaosVerdict.Kind.HUNG, verdict.kind());
  }

  @Test
  void wrongByteReportedByARankIsWrong() throws Exception {
    ChaosVerdict verdict = run("traffic() { [ \"$rank\" = 1 ] && exit 1; sleep 60; }", plan(0));
    assertEquals(ChaosVerdict.Kind.WRONG, verdict.kind());
  }

  @Test
  void rankThatFailsToStartEndedBeforeItsStart() throws Exception {
    ChaosVerdict verdict = run("exit 2", plan(0));
    assertEquals(ChaosVerdict.Kind.FAILED, verdict.kind());
    assertTrue(String.valueOf(verdict.explanation()).contains("before its start"));
  }

  @Test
  void killedRankIsSentNoCommands() throws Exception {
    String survivor =
        """
        [ "$rank" = 0 ] || echo $$ > "$2.pid"
        plugin=$2
        peer_is_there() { [ ! -s "$plugin.pid" ] || kill -0 "$(cat "$plugin.pid")" 2>&-; }
        traffic() {
          [ "$rank" = 1 ] || { while peer_is_there; do sleep 0.02; done
            say traffic '"send": {"result": 6, "failed": "test"}, "receive": {"result": 6, "failed": "test"}'; }
        }
        """;
    ChaosVerdict verdict =
        run(survivor, plan(0, event(50, ChaosEvent.FOR_EVER, ChaosFault.KILLED_PEER, 1)));
    assertEquals(ChaosVerdict.Kind.PASSED, verdict.kind(), () -> "" + verdict.explanation());
    assertFalse(heard(1).contains("close"), heard(1));
    assertTrue(heard(0).contains("close"), heard(0));
  }

  /* Returns a statistics file that counts this number of failovers. */
  private Path counters(int failovers) throws Exception {
    Path copy = folder.resolve("left-" + failovers);
    if (Files.exists(copy)) {
      return copy;
    }
    try (StatsFile file = new StatsFile(folder, (level, sentence) -> {})) {
      PlaneCounters counters = file.open(StatsFile.Direction.SEND, "if:e1", 1, "the other rank");
      for (int i = 0; i < failovers; i++) {
        counters.failover();
      }
      Files.copy(Objects.requireNonNull(file.path()), copy);
      Files.delete(file.path());
    }
    return copy;
  }

  /*
   * Runs ranks of which rank 0 has two failovers before the run, and {@code timesMore} further ones
   * at its end.
   */
  private ChaosVerdict runThatLeavesPlanes(int timesMore) throws Exception {
    String says =
        """
        there=$(dirname "$2")/pair-1/0.stats
        leave() { [ "$rank" != 0 ] || { cp "$1" "$there.new" && mv "$there.new" "$there"; }; }
        leave %s
        end() {
          leave %s
          say end '"leaks": 0'
        }
        """;
    return run(
        String.format(Locale.ROOT, says, counters(2), counters(2 + timesMore)),
        plan(0, event(1, 50, ChaosFault.STOPPED_PEER, 1)));
  }

  @Test
  void failoverWhileARankIsStoppedFailsTheRun() throws Exception {
    ChaosVerdict verdict = runThatLeavesPlanes(1);
    assertEquals(ChaosVerdict.Kind.FENCED, verdict.kind());
    assertTrue(
        String.valueOf(verdict.explanation()).startsWith("1 failovers"), verdict.explanation());
  }

  @Test
  void failoverInAnEarlierRunIsIgnored() throws Exception {
    assertEquals(ChaosVerdict.Kind.PASSED, runThatLeavesPlanes(0).kind());
  }

  @Test
  void uncleanEndOfRanksFailsTheLastRunOfAGroup() throws Exception {
    ChaosVerdict verdict = run("finish() { [ $rank = 1 ] && exit 9; exit 0; }", plan(0));
    assertEquals(ChaosVerdict.Kind.FAILED, verdict.kind());
    assertEquals("rank 1 ended with exit code 9", verdict.explanation());
  }

  @Test
  void runsOfAGroupShareProcesses() throws Exception {
    try (ChaosBench bench = bench("")) {
      assertNull(bench.run(plan(14), false).explanation());
      assertEquals(folder.resolve("pair-1"), bench.pairFolder());
      assertNull(bench.run(plan(15), false).explanation());
      assertEquals(folder.resolve("pair-1"), bench.pairFolder());
      assertEquals(1, network.closed, "the group is over");
      assertNull(bench.run(plan(16), true).explanation());
      assertEquals(folder.resolve("pair-2"), bench.pairFolder());
    }
    assertEquals(2, network.closed);
  }

  @Test
  void runAfterAFailureHasFreshProcesses() throws Exception {
    try (ChaosBench bench =
        bench("traffic() { [ -e \"$plugin.late\" ] || exit 3; touch x; }\nplugin=$2\n")) {
      assertEquals(ChaosVerdict.Kind.FAILED, bench.run(plan(0), false).kind());
      ScriptedRanks.programs(folder, "");
      assertEquals(ChaosVerdict.Kind.PASSED, bench.run(plan(1), true).kind());
      assertEquals(folder.resolve("pair-2"), bench.pairFolder());
    }
  }

  @Test
  void unsupportedFaultIsRejected() {
    IllegalArgumentException refused =
        ChaosNetwork.unsupported(event(1, 2, ChaosFault.SPINE_CUT, 0));
    assertEquals(
        "not a fault of this network: 1 ms: link to a spine down on plane 1 at rank 0, 2 ms",
        refused.getMessage());
  }
}
