package io.heddle.tools.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.heddle.cli.kit.Json;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Test of {@link ChaosJudge}: each limit of a verdict is tested on both sides. */
class ChaosJudgeTest {
  private static final int REMOTE_ERROR = 6;
  private static final int LOCAL_ERROR = 3;
  private static final int GRACE_MS = 1_000;

  /* Sum of the time to detect silence, the grace time, and an allowance for a slow machine, ms. */
  private static final double LOST_LIMIT_MS = 1_500 + GRACE_MS + 4_000;
  private static final double KILLED_LIMIT_MS = 3_000;

  private static final ChaosEvent CUT = event(ChaosFault.CARRIER_CUT, 100);
  private static final ChaosEvent STOP = event(ChaosFault.STOPPED_PEER, 300);
  private static final ChaosEvent KILL = event(ChaosFault.KILLED_PEER, ChaosEvent.FOR_EVER);
  private static final ChaosEvent ALL_DOWN = event(ChaosFault.ALL_LINKS_DOWN, ChaosEvent.FOR_EVER);

  private static ChaosEvent event(ChaosFault fault, int forMs) {
    return new ChaosEvent(50, forMs, fault, 1, 0, 0);
  }

  private static ChaosJudge judge(ChaosEvent... events) {
    ChaosSetting setting = new ChaosSetting(0, 2, 1500, "spray", "", GRACE_MS);
    return new ChaosJudge(new ChaosPlan(7, setting, 1 << 14, 500, List.of(events)));
  }

  private static ObjectNode side(boolean complete) {
    return Json.mapper().createObjectNode().put("complete", complete);
  }

  private static ObjectNode failed(int result, double atSeconds) {
    return side(false).put("failed", "test").put("result", result).put("failed_at_s", atSeconds);
  }

  private static ObjectNode traffic(int rank, ObjectNode send, ObjectNode receive) {
    ObjectNode report = Json.mapper().createObjectNode().put("event", "traffic").put("rank", rank);
    report.set("send", send);
    report.set("receive", receive);
    return report.put("received", 10).put("bytes", 1_000);
  }

  private static ObjectNode good(int rank) {
    return traffic(rank, side(true), side(true));
  }

  private static ObjectNode end(int rank) {
    return Json.mapper().createObjectNode().put("event", "end").put("rank", rank);
  }

  private static ChaosVerdict verdict(ChaosJudge judge) {
    return judge.verdict(() -> "\n  what the ranks said last");
  }

  private static String explanation(ChaosVerdict verdict) {
    return String.valueOf(verdict.explanation());
  }

  @Test
  void runWithAllMessagesPassesWithoutStory() {
    ChaosJudge judge = judge(CUT);
    judge.addReport(good(0));
    judge.addReport(good(1));
    ChaosVerdict verdict = verdict(judge);
    assertEquals(ChaosVerdict.Kind.PASSED, verdict.kind());
    assertNull(verdict.explanation());
    assertEquals(20, verdict.messages());
    assertEquals(2_000, verdict.bytes());
    assertTrue(verdict.isGood());
  }

  @ParameterizedTest
  @ValueSource(strings = {"wrong_bytes", "guard_bytes", "canary_bytes"})
  void oneWrongByteAnywhereFails(String where) {
    ChaosJudge judge = judge();
    judge.addReport(good(0));
    judge.addReport(good(1).put(where, 1));
    ChaosVerdict verdict = verdict(judge);
    assertEquals(ChaosVerdict.Kind.WRONG, verdict.kind());
    assertEquals(1, verdict.wrongBytes());
    assertTrue(explanation(verdict).startsWith("1 wrong bytes"), explanation(verdict));
  }

  @Test
  void wrongBytesOfBothRanksAreSummed() {
    ChaosJudge judge = judge();
    judge.addReport(good(0).put("wrong_bytes", 2).put("guard_bytes", 3));
    judge.addReport(good(1).put("canary_bytes", 5));
    assertEquals(10, verdict(judge).wrongBytes());
  }

  @Test
  void wrongBytesPrecedeLeaksAndLeaksPrecedeErrors() {
    ChaosJudge wrong = judge();
    wrong.addReport(traffic(0, failed(LOCAL_ERROR, 0), side(true)).put("wrong_bytes", 1));
    wrong.addReport(end(0).put("leaks", 1));
    assertEquals(ChaosVerdict.Kind.WRONG, verdict(wrong).kind());
    ChaosJudge leaked = judge();
    leaked.addReport(traffic(0, failed(LOCAL_ERROR, 0), side(true)));
    leaked.addReport(end(0).put("leaks", 1));
    assertEquals(ChaosVerdict.Kind.LEAKED, verdict(leaked).kind());
  }

  @Test
  void endWithoutLeaksPasses() {
    ChaosJudge judge = judge();
    judge.addReport(good(0));
    judge.addReport(end(0).put("leaks", 0));
    assertTrue(verdict(judge).isGood());
  }

  @Test
  void errorWithAPlaneLeftNamesCallAndResult() {
    ChaosJudge judge = judge(CUT);
    judge.addReport(good(0));
    judge.addReport(traffic(1, side(true), failed(LOCAL_ERROR, 1)));
    ChaosVerdict verdict = verdict(judge);
    assertEquals(ChaosVerdict.Kind.ERRED, verdict.kind());
    assertTrue(explanation(verdict).startsWith("test returned 3"), explanation(verdict));
    assertTrue(explanation(verdict).endsWith("what the ranks said last"), explanation(verdict));
  }

  private static ChaosVerdict afterPlanesLeft(long count, ChaosEvent... events) {
    ChaosJudge judge = judge(events);
    judge.addReport(good(0));
    judge.addReport(good(1));
    judge.setFailovers(count);
    return verdict(judge);
  }

  @Test
  void stoppedRanksMustNotFailOver() {
    ChaosVerdict left = afterPlanesLeft(2, STOP, event(ChaosFault.STOPPED_PEER, 20));
    assertEquals(ChaosVerdict.Kind.FENCED, left.kind());
    assertTrue(
        explanation(left).startsWith("2 failovers, though no plane had a fault"),
        explanation(left));
    assertTrue(explanation(left).endsWith("what the ranks said last"), explanation(left));
    assertEquals(ChaosVerdict.Kind.PASSED, afterPlanesLeft(0, STOP).kind());
  }

  @ParameterizedTest
  @EnumSource(
      value = ChaosFault.class,
      names = {"STOPPED_PEER", "KILLED_PEER"},
      mode = EnumSource.Mode.EXCLUDE)
  void stoppedRanksMayFailOverWithPlaneFaults(ChaosFault fault) {
    assertEquals(ChaosVerdict.Kind.PASSED, afterPlanesLeft(3, STOP, event(fault, 100)).kind());
  }

  @Test
  void failoverIsAllowedWithAKilledPeer() {
    ChaosJudge judge = judge(STOP, KILL);
    judge.setFailovers(2);
    judge.addReport(traffic(0, failed(REMOTE_ERROR, 0), failed(REMOTE_ERROR, 0)));
    assertEquals(ChaosVerdict.Kind.PASSED, verdict(judge).kind());
  }

  @Test
  void runWithKilledPeerMustFail() {
    ChaosJudge judge = judge(KILL);
    judge.setFatalTime(0);
    judge.addReport(traffic(0, failed(REMOTE_ERROR, 0), side(true)));
    ChaosVerdict verdict = verdict(judge);
    assertEquals(ChaosVerdict.Kind.FAILED, verdict.kind());
    assertTrue(
        explanation(verdict)
            .startsWith("a communicator ran to its end where a remote error (6) is expected"),
        explanation(verdict));
  }

  @Test
  void otherErrorThanRemoteIsWrong() {
    ChaosJudge judge = judge(KILL);
    judge.setFatalTime(0);
    judge.addReport(traffic(0, failed(REMOTE_ERROR, 0), failed(LOCAL_ERROR, 0)));
    ChaosVerdict verdict = verdict(judge);
    assertEquals(ChaosVerdict.Kind.FAILED, verdict.kind());
    assertTrue(explanation(verdict).startsWith("test returned 3 where"), explanation(verdict));
  }

  /*
   * Returns the verdict for a fault that the second of two communicators detects {@code ms} after
   * the first. The later detection counts.
   */
  private static ChaosVerdict detectedAfter(double ms, ChaosEvent... events) {
    long fatalNs = TimeUnit.SECONDS.toNanos(100);
    ChaosJudge judge = judge(events);
    judge.setFatalTime(fatalNs);
    judge.addReport(traffic(0, failed(REMOTE_ERROR, 100), failed(REMOTE_ERROR, 100 + ms / 1e3)));
    return verdict(judge);
  }

  @Test
  void killMustBeDetectedWithinItsLimit() {
    ChaosVerdict inTime = detectedAfter(KILLED_LIMIT_MS - 1, KILL);
    assertEquals(ChaosVerdict.Kind.PASSED, inTime.kind());
    assertEquals(KILLED_LIMIT_MS - 1, inTime.detectedAfterMs(), 0.01);
    ChaosVerdict late = detectedAfter(KILLED_LIMIT_MS + 1, KILL);
    assertEquals(ChaosVerdict.Kind.LATE, late.kind());
    assertTrue(
        explanation(late).startsWith("detected 3001 ms after its cause, limit 3000 ms"),
        explanation(late));
  }

  @Test
  void killWithAnotherFaultMayTakeAsLongAsSilence() {
    assertEquals(ChaosVerdict.Kind.PASSED, detectedAfter(LOST_LIMIT_MS - 1, CUT, KILL).kind());
    assertEquals(ChaosVerdict.Kind.LATE, detectedAfter(LOST_LIMIT_MS + 1, CUT, KILL).kind());
  }

  @Test
  void lossOfAllPlanesIsReportedAfterTheGraceTimeWithAllowance() {
    assertEquals(ChaosVerdict.Kind.PASSED, detectedAfter(LOST_LIMIT_MS - 1, ALL_DOWN).kind());
    assertEquals(ChaosVerdict.Kind.LATE, detectedAfter(LOST_LIMIT_MS + 1, ALL_DOWN).kind());
  }

  @Test
  void failureBeforeItsCauseCountsAsZero() {
    assertEquals(0, detectedAfter(-1_000, KILL).detectedAfterMs());
  }

  @Test
  void longestGapIsOfTheWorseRankAndOnlyOfContinuedRuns() {
    ChaosJudge went = judge(CUT);
    went.addReport(good(0).put("longest_gap_ms", 12.5));
    went.addReport(good(1).put("longest_gap_ms", 80));
    assertEquals(80, verdict(went).longestGapMs());
    ChaosJudge ended = judge(KILL);
    ended.addReport(
        traffic(0, failed(REMOTE_ERROR, 0), failed(REMOTE_ERROR, 0)).put("longest_gap_ms", 80));
    assertEquals(0, verdict(ended).longestGapMs());
  }

  @Test
  void reportCountsOnlyForItsRank() {
    ChaosJudge judge = judge();
    judge.addReport(end(1));
    assertTrue(judge.hasAll("end", List.of(1)));
    assertFalse(judge.hasAll("end", List.of(0, 1)));
    assertFalse(judge.hasAll("traffic", List.of(1)));
    assertTrue(judge.hasAll("traffic", List.of()), "no rank is left to report");
    judge.addReport(end(0));
    assertTrue(judge.hasAll("end", List.of(0, 1)));
  }

  @Test
  void reportWithoutRankIsIgnored() {
    ChaosJudge judge = judge();
    judge.addReport(
        Json.mapper().createObjectNode().put("event", "unknown").put("line", "Segfault"));
    judge.addReport(Json.mapper().createObjectNode().put("event", "end"));
    assertFalse(judge.hasAll("end", List.of(0)));
  }

  @ParameterizedTest
  @CsvSource({"HUNG, not finished after 90 s", "FAILED, rank 1 ended: exit code 3"})
  void unfinishedRunKeepsItsStoryAndMessages(ChaosVerdict.Kind kind, String trouble) {
    ChaosJudge judge = judge();
    judge.addReport(good(0));
    ChaosVerdict verdict = judge.unfinished(kind, trouble, () -> " (last words)");
    assertEquals(kind, verdict.kind());
    assertEquals(trouble + " (last words)", verdict.explanation());
    assertEquals(10, verdict.messages());
    assertFalse(verdict.isGood());
  }
}
