package io.heddle.tools.bench;

import io.heddle.tools.bench.contest.Bound;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The project's performance targets, from the table {@code targets.txt}. */
final class Targets {
  private static final String REASON = "reason ";
  private static final List<Target> ALL = read();

  private Targets() {}

  static List<Target> all() {
    return ALL;
  }

  /** Compares outcomes, by the measurement's name, with all targets. */
  static List<Target.Verdict> verdicts(Map<String, Outcome> outcomes) {
    return ALL.stream().map(target -> target.verdict(outcomes)).toList();
  }

  private static List<Target> read() {
    Map<String, DataTable.Line> reasons = new HashMap<>();
    List<Target> targets = new ArrayList<>();
    String group = "";
    for (DataTable.Line line : DataTable.read("targets.txt")) {
      String first = line.cell(0);
      if (first.startsWith(REASON)) {
        reasons.put(first.substring(REASON.length()), line);
      } else if (first.startsWith("= ")) {
        group = first.substring(2);
      } else {
        String[] named = line.cells().size() < 4 ? new String[0] : line.cell(3).split(": ", 2);
        targets.add(
            new Target(
                group,
                first,
                line.cell(1),
                line.cell(2).equals("own") ? null : bound(line.cell(2)),
                named.length == 0
                    ? null
                    : limit(
                        Objects.requireNonNull(reasons.get(named[0]), named[0]),
                        first,
                        named.length == 1 ? "" : named[1])));
      }
    }
    return List.copyOf(targets);
  }

  private static Target.Limit limit(DataTable.Line reason, String measurement, String argument) {
    return new Target.Limit(
        reason.cell(4),
        reason.cell(1).isEmpty() ? measurement : reason.cell(1),
        reason.cell(2).replace("{}", argument),
        bound(reason.cell(3)));
  }

  /** Returns a bound that is written as {@code >= 0.85}. */
  static Bound bound(String text) {
    double limit = Double.parseDouble(text.substring(2));
    return text.startsWith(">=") ? Bound.atLeast(limit) : Bound.atMost(limit);
  }
}
