package io.heddle.tools;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What a soak's runs have come to. */
final class SoakReport {
  private static final double MEBI = 1 << 20;

  private final long firstSeed;
  private final Map<ChaosVerdict.Kind, Integer> byKind = new EnumMap<>(ChaosVerdict.Kind.class);
  private final Map<ChaosFault, int[]> byFault = new EnumMap<>(ChaosFault.class);
  private final List<Failure> failures = new ArrayList<>();
  private long messages;
  private long bytes;
  private long wrongBytes;
  private double longestGapMs;
  private int runs;

  /** A run that isn't as it must be. */
  record Failure(long seed, String kind, @Nullable String story) {}

  /** Everything, for --json. */
  record Document(
      long firstSeed,
      int runs,
      Map<String, Integer> outcomes,
      Map<String, Integer> faults,
      long messages,
      long bytes,
      long wrongBytes,
      int hangs,
      int leaks,
      double longestGapMs,
      List<Failure> failures,
      boolean passed) {}

  SoakReport(long firstSeed) {
    this.firstSeed = firstSeed;
  }

  void add(ChaosPlan plan, ChaosVerdict verdict) {
    runs++;
    byKind.merge(verdict.kind(), 1, Integer::sum);
    for (ChaosPlan.Event event : plan.events()) {
      byFault.computeIfAbsent(event.fault(), fault -> new int[1])[0]++;
    }
    messages += verdict.messages();
    bytes += verdict.bytes();
    wrongBytes += verdict.wrongBytes();
    longestGapMs = Math.max(longestGapMs, verdict.longestGapMs());
    if (!verdict.isGood()) {
      failures.add(new Failure(plan.seed(), verdict.kind().text(), verdict.story()));
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

  static String failure(ChaosPlan plan, ChaosVerdict verdict, Path folder) {
    return "seed %d: %s: %s\n  it was: %s\n  logs: %s; again with: ./heddle soak --runs 1 --seed %d"
        .formatted(
            plan.seed(),
            verdict.kind().text(),
            verdict.story(),
            plan.describe(),
            folder.resolve("seed-" + plan.seed()),
            plan.seed());
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
        messages,
        bytes,
        wrongBytes,
        count(ChaosVerdict.Kind.HUNG),
        count(ChaosVerdict.Kind.LEAKED),
        longestGapMs,
        List.copyOf(failures),
        passed());
  }

  String table() {
    StringBuilder text = new StringBuilder("#\n");
    for (ChaosVerdict.Kind kind : ChaosVerdict.Kind.values()) {
      row(text, kind.text(), Integer.toString(count(kind)));
    }
    byFault.forEach((fault, count) -> row(text, "  " + fault.text(), Integer.toString(count[0])));
    row(text, "messages", Long.toString(messages));
    row(text, "MiB", String.format(Locale.ROOT, "%.0f", bytes / MEBI));
    row(text, "wrong bytes", Long.toString(wrongBytes));
    row(text, "longest gap, ms", String.format(Locale.ROOT, "%.0f", longestGapMs));
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

  private static void row(StringBuilder text, String name, String value) {
    text.append(String.format(Locale.ROOT, "%-24s %12s%n", name, value));
  }
}
