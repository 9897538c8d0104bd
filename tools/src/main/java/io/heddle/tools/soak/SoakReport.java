package io.heddle.tools.soak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Report of a soak, to which each run is added. */
final class SoakReport {
  private static final double MEBI = 1 << 20;

  private final long firstSeed;
  private final Map<ChaosVerdict.Kind, Integer> byKind = new EnumMap<>(ChaosVerdict.Kind.class);
  private final Map<ChaosFault, int[]> byFault = new EnumMap<>(ChaosFault.class);
  private final Map<String, Integer> byPolicy = new TreeMap<>();
  private final List<Failure> failures = new ArrayList<>();
  private long messages;
  private long bytes;
  private long wrongBytes;
  private Gap longestGap = new Gap(0, 0);
  private Gap longestGapWithPlane = new Gap(0, 0);
  private int fatalRuns;
  private double longestKilledMs;
  private double longestLostMs;
  private int runs;

  /**
   * Longest time without an arrival, over the runs.
   *
   * @param ms duration in ms
   * @param seed seed of the run in which it occurred
   */
  record Gap(double ms, long seed) {
    private Gap or(double otherMs, long otherSeed) {
      return otherMs > ms ? new Gap(otherMs, otherSeed) : this;
    }

    @Override
    public String toString() {
      return milliseconds(ms) + (ms > 0 ? " (seed " + seed + ")" : "");
    }
  }

  /**
   * Failed run.
   *
   * @param seed seed that repeats the run
   * @param kind outcome
   * @param explanation description of the failure with the last log lines
   */
  record Failure(long seed, String kind, @Nullable String explanation) {}

  /**
   * JSON document of the soak.
   *
   * @param firstSeed seed of the first run; the seeds of further runs are consecutive
   * @param runs number of runs
   * @param outcomes number of runs by outcome
   * @param faults number of injections of each fault
   * @param policies number of runs by policy
   * @param messages number of checked messages
   * @param bytes number of checked bytes
   * @param wrongBytes number of wrong bytes; must be 0
   * @param hangs number of runs that hung
   * @param leaks number of runs that left objects open
   * @param longestGap longest time without an arrival
   * @param longestGapWithPlane longest time without an arrival while a plane was up
   * @param fatalRuns number of runs with a fatal fault: a killed peer, or the loss of every plane
   * @param longestKillDetectionMs longest time until the other rank detected a killed rank, ms
   * @param longestLossDetectionMs longest time until both ranks reported the loss of every plane,
   *     ms
   * @param passed whether all runs passed
   */
  record Document(
      long firstSeed,
      int runs,
      Map<String, Integer> outcomes,
      Map<String, Integer> faults,
      Map<String, Integer> policies,
      long messages,
      long bytes,
      long wrongBytes,
      int hangs,
      int leaks,
      Gap longestGap,
      Gap longestGapWithPlane,
      int fatalRuns,
      double longestKillDetectionMs,
      double longestLossDetectionMs,
      List<Failure> failures,
      boolean passed) {}

  SoakReport(long firstSeed) {
    this.firstSeed = firstSeed;
  }

  void add(ChaosPlan plan, ChaosVerdict verdict) {
    runs++;
    byKind.merge(verdict.kind(), 1, Integer::sum);
    byPolicy.merge(plan.setting().policy(), 1, Integer::sum);
    for (ChaosEvent event : plan.events()) {
      byFault.computeIfAbsent(event.fault(), fault -> new int[1])[0]++;
    }
    messages += verdict.messages();
    bytes += verdict.bytes();
    wrongBytes += verdict.wrongBytes();
    longestGap = longestGap.or(verdict.longestGapMs(), plan.seed());
    if (plan.alwaysHasPlaneAndPeer()) {
      longestGapWithPlane = longestGapWithPlane.or(verdict.longestGapMs(), plan.seed());
    }
    ChaosEvent fatal = plan.fatal();
    if (fatal != null) {
      fatalRuns++;
      boolean kill = fatal.fault() == ChaosFault.KILLED_PEER;
      longestKilledMs = Math.max(longestKilledMs, kill ? verdict.detectedAfterMs() : 0);
      longestLostMs = Math.max(longestLostMs, kill ? 0 : verdict.detectedAfterMs());
    }
    if (!verdict.isGood()) {
      failures.add(new Failure(plan.seed(), verdict.kind().text(), verdict.explanation()));
    }
  }

  int runs() {
    return runs;
  }

  boolean passed() {
    return runs > 0 && failures.isEmpty();
  }

  private int count(ChaosVerdict.Kind kind) {
    return byKind.getOrDefault(kind, 0);
  }

  String summary() {
    return runs + " runs, " + failures.size() + " bad, " + messages + " messages";
  }

  static String failure(ChaosPlan plan, ChaosVerdict verdict, Path folder, String options) {
    long first = plan.setting().group() * ChaosSetting.GROUP;
    String again =
        "seed %s: %s: %s\n  it was: %s\n  logs: %s; again with: ./heddle soak%s --runs 1 --seed %s"
            .formatted(
                plan.seed(),
                verdict.kind().text(),
                verdict.explanation(),
                plan.describe(),
                folder,
                options,
                plan.seed());
    return plan.seed() == first
        ? again
        : again
            + "\n  or, with those before it in the same processes: ./heddle soak%s --runs %s --seed %s"
                .formatted(options, plan.seed() - first + 1, first);
  }

  Document document() {
    Map<String, Integer> outcomes = new TreeMap<>();
    byKind.forEach((kind, count) -> outcomes.put(kind.text(), count));
    Map<String, Integer> faults = new TreeMap<>();
    byFault.forEach((fault, count) -> faults.put(fault.text(), count[0]));
    return new Document(
        firstSeed,
        runs,
        outcomes,
        faults,
        new TreeMap<>(byPolicy),
        messages,
        bytes,
        wrongBytes,
        count(ChaosVerdict.Kind.HUNG),
        count(ChaosVerdict.Kind.LEAKED),
        longestGap,
        longestGapWithPlane,
        fatalRuns,
        longestKilledMs,
        longestLostMs,
        List.copyOf(failures),
        passed());
  }

  String table() {
    StringBuilder text = new StringBuilder("#\n");
    for (ChaosVerdict.Kind kind : ChaosVerdict.Kind.values()) {
      row(text, kind.text(), Integer.toString(count(kind)));
    }
    byPolicy.forEach((policy, count) -> row(text, "under " + policy, Integer.toString(count)));
    byFault.forEach((fault, count) -> row(text, "  " + fault.text(), Integer.toString(count[0])));
    row(text, "messages", Long.toString(messages));
    row(text, "MiB", String.format(Locale.ROOT, "%.0f", bytes / MEBI));
    row(text, "wrong bytes", Long.toString(wrongBytes));
    row(text, "had to fail, and did", Integer.toString(fatalRuns));
    row(text, "kill detected after, ms", milliseconds(longestKilledMs));
    row(text, "loss reported after, ms", milliseconds(longestLostMs));
    row(text, "longest gap, ms", longestGap.toString());
    row(text, "  with a plane left", longestGapWithPlane.toString());
    text.append(passed() ? "PASSED: " : "FAILED: ")
        .append(runs)
        .append(" runs, seeds ")
        .append(firstSeed)
        .append(" to ")
        .append(firstSeed + runs - 1)
        .append(", ")
        .append(failures.size())
        .append(" bad");
    for (Failure failure : failures) {
      text.append("\n  seed ").append(failure.seed()).append(": ").append(failure.kind());
    }
    return text.toString();
  }

  private static String milliseconds(double value) {
    return String.format(Locale.ROOT, "%.0f", value);
  }

  private static void row(StringBuilder text, String name, String value) {
    text.append(String.format(Locale.ROOT, "%-30s %12s%n", name, value));
  }
}
