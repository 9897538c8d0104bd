package io.heddle.tools.soak;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Judge of a run. It collects the ranks' reports and derives the verdict. */
final class ChaosJudge {
  private static final int REMOTE_ERROR = 6;

  /**
   * Limit in ms for the detection of a killed process. The killed process's kernel closes its
   * connections at once; the rest of the time is allowed for a slow machine.
   */
  private static final double KILLED_LIMIT_MS = 3_000;

  /**
   * Longest time in ms to detect that a peer is silent. The grace time begins after it; see
   * docs/failover.md.
   */
  private static final double SILENCE_MS = 1_500;

  private static final double SLOW_MACHINE_MS = 4_000;

  private final ChaosPlan plan;
  private final List<JsonNode> reports = new ArrayList<>();
  private long fatalNs;
  private long failovers;

  ChaosJudge(ChaosPlan plan) {
    this.plan = plan;
  }

  void addReport(JsonNode report) {
    reports.add(report);
  }

  /** Records the time of the fatal fault, by System.nanoTime. */
  void setFatalTime(long nowNs) {
    fatalNs = nowNs;
  }

  /** Records the number of failovers of the ranks' connections, by the ranks' own counters. */
  void setFailovers(long count) {
    failovers = count;
  }

  boolean hasAll(String event, List<Integer> ranks) {
    return ranks.stream().allMatch(rank -> find(event, rank) != null);
  }

  private @Nullable JsonNode find(String event, int rank) {
    for (JsonNode report : reports) {
      if (report.path("event").asText().equals(event) && report.path("rank").asInt(-1) == rank) {
        return report;
      }
    }
    return null;
  }

  /** Returns the verdict of a run that the ranks didn't finish. */
  ChaosVerdict unfinished(
      ChaosVerdict.Kind kind, String explanation, Supplier<String> lastLogLines) {
    return verdict(kind, explanation, lastLogLines, 0);
  }

  /**
   * Returns the verdict of a finished run.
   *
   * @param lastLogLines source of the ranks' last log lines; read only if the run failed
   */
  ChaosVerdict verdict(Supplier<String> lastLogLines) {
    if (wrongBytes() > 0) {
      return verdict(ChaosVerdict.Kind.WRONG, wrongBytes() + " wrong bytes", lastLogLines, 0);
    }
    if (sum("leaks") > 0) {
      return verdict(ChaosVerdict.Kind.LEAKED, "objects were left open", lastLogLines, 0);
    }
    ChaosEvent fatal = plan.fatal();
    return fatal == null ? verdictIfContinued(lastLogLines) : verdictIfFatal(fatal, lastLogLines);
  }

  private ChaosVerdict verdictIfContinued(Supplier<String> lastLogLines) {
    for (JsonNode side : sides()) {
      if (!side.path("complete").asBoolean()) {
        return verdict(ChaosVerdict.Kind.ERRED, describe(side), lastLogLines, 0);
      }
    }
    /*
     * A stopped process answers late, and after it continues it sees its peer's answers late too.
     * That is no plane failure, so no failover is allowed.
     */
    if (plan.onlyStopsRanks() && failovers > 0) {
      String explanation = "%s failovers, though no plane had a fault".formatted(failovers);
      return verdict(ChaosVerdict.Kind.FENCED, explanation, lastLogLines, 0);
    }
    return verdict(ChaosVerdict.Kind.PASSED, null, lastLogLines, 0);
  }

  private ChaosVerdict verdictIfFatal(ChaosEvent fatal, Supplier<String> lastLogLines) {
    double detectedMs = 0;
    for (JsonNode side : sides()) {
      if (side.path("result").asInt() != REMOTE_ERROR) {
        String explanation =
            "%s where a remote error (%s) is expected".formatted(describe(side), REMOTE_ERROR);
        return verdict(ChaosVerdict.Kind.FAILED, explanation, lastLogLines, 0);
      }
      detectedMs = Math.max(detectedMs, 1e3 * side.path("failed_at_s").asDouble() - fatalNs / 1e6);
    }
    double limit = limitMs(fatal);
    return detectedMs > limit
        ? verdict(
            ChaosVerdict.Kind.LATE,
            String.format(
                Locale.ROOT, "detected %.0f ms after its cause, limit %.0f ms", detectedMs, limit),
            lastLogLines,
            detectedMs)
        : verdict(ChaosVerdict.Kind.PASSED, null, lastLogLines, detectedMs);
  }

  /*
   * Returns the limit in ms for the detection of the fatal fault. The short limit applies only if
   * the killed peer is the only fault: another fault may have made the control channel unavailable.
   */
  private double limitMs(ChaosEvent fatal) {
    return fatal.fault() == ChaosFault.KILLED_PEER && plan.events().size() == 1
        ? KILLED_LIMIT_MS
        : SILENCE_MS + plan.setting().graceMs() + SLOW_MACHINE_MS;
  }

  private static String describe(JsonNode side) {
    return side.path("complete").asBoolean()
        ? "a communicator ran to its end"
        : side.path("failed").asText() + " returned " + side.path("result").asInt();
  }

  private List<JsonNode> sides() {
    List<JsonNode> sides = new ArrayList<>();
    for (JsonNode report : reports) {
      if (report.path("event").asText().equals("traffic")) {
        sides.add(report.path("send"));
        sides.add(report.path("receive"));
      }
    }
    return sides;
  }

  private long wrongBytes() {
    return sum("wrong_bytes") + sum("guard_bytes") + sum("canary_bytes");
  }

  private long sum(String name) {
    return reports.stream().mapToLong(report -> report.path(name).asLong()).sum();
  }

  private ChaosVerdict verdict(
      ChaosVerdict.Kind kind,
      @Nullable String explanation,
      Supplier<String> lastLogLines,
      double detectedAfterMs) {
    double gap = 0;
    if (plan.fatal() == null) {
      for (JsonNode report : reports) {
        gap = Math.max(gap, report.path("longest_gap_ms").asDouble());
      }
    }
    return new ChaosVerdict(
        kind,
        explanation == null ? null : explanation + lastLogLines.get(),
        sum("received"),
        sum("bytes"),
        wrongBytes(),
        gap,
        detectedAfterMs);
  }
}
