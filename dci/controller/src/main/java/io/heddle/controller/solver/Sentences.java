package io.heddle.controller.solver;

import io.heddle.controller.model.ElephantFlow;
import java.util.Locale;

/** Factory of the sentences that explain a decision, or the lack of one. */
final class Sentences {
  private Sentences() {}

  static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }

  static String rate(double bitsPerSecond) {
    return bitsPerSecond >= 1e9
        ? String.format(Locale.ROOT, "%.1f Gbit/s", bitsPerSecond / 1e9)
        : String.format(Locale.ROOT, "%.1f Mbit/s", bitsPerSecond / 1e6);
  }

  private static String seconds(long ns) {
    return String.format(Locale.ROOT, "%.1f s", ns / 1e9);
  }

  static String move(ElephantFlow flow, int from, int to, double before, double after) {
    String what =
        "%s (%s) goes from list %s to list %s".formatted(flow.id(), rate(flow.rate()), from, to);
    return after < before - Loads.SAME
        ? what
            + ", so the busiest list falls from %s to %s".formatted(percent(before), percent(after))
        : what + ", so that the next move lowers the busiest list";
  }

  static String moved(int moves, double before, double after) {
    return "%s %s lower the busiest list from %s to %s"
        .formatted(moves, moves == 1 ? "move" : "moves", percent(before), percent(after))
        .replace("1 move lower ", "1 move lowers ");
  }

  static String balanced(ListRange range, SolverSettings settings) {
    if (range.idlest() < 0) {
      return "no list is up";
    }
    return range.most() < settings.high() - Loads.SAME
        ? "the busiest list %s carries %s, less than %s"
            .formatted(range.busiest(), percent(range.most()), percent(settings.high()))
        : "list %s carries %s and list %s %s, less than %s apart"
            .formatted(
                range.busiest(),
                percent(range.most()),
                range.idlest(),
                percent(range.least()),
                percent(settings.gap()));
  }

  static String seenAgain(ListRange range, int seen, int wanted) {
    return "list %s carries %s and list %s %s, seen in %s of %s samples"
        .formatted(
            range.busiest(),
            percent(range.most()),
            range.idlest(),
            percent(range.least()),
            seen,
            wanted);
  }

  static String settling(int samples) {
    return samples == 0
        ? "the last change has shown; the next sample counts again"
        : "%s more samples until the last change shows".formatted(samples);
  }

  static String stale(SampleAges ages, long limitNs) {
    return "no decision: the last sample of %s is %s old, more than %s"
        .formatted(ages.oldest(), seconds(ages.oldestNs()), seconds(limitNs));
  }

  static String stuck(ListRange range, MovePlanner.Plan plan, SolverSettings settings) {
    if (plan.refused().isEmpty()) {
      return "list %s carries %s, and no elephant on it can be moved now"
          .formatted(range.busiest(), percent(range.most()));
    }
    double best =
        plan.refused().stream().mapToDouble(MoveCandidate::predicted).min().orElse(range.most());
    return "list %s carries %s, and the best move would leave %s: less than %s gained"
        .formatted(
            range.busiest(), percent(range.most()), percent(best), percent(settings.leastGain()));
  }

  static String taken(ElephantFlow flow) {
    return "; %s stays, since another gateway has the same rule".formatted(flow.id());
  }

  static String ended(RuleMemory.Rule rule) {
    return "the rule to list %s is withdrawn: %s is no longer an elephant"
        .formatted(rule.list, rule.flow);
  }

  static String listDead(RuleMemory.Rule rule) {
    return "the rule of %s is withdrawn: nothing gets through on list %s"
        .formatted(rule.flow, rule.list);
  }

  static String policyGone(RuleMemory.Rule rule) {
    return "the rule of %s is withdrawn: policy %s is gone".formatted(rule.flow, rule.policy);
  }

  static String needless(RuleMemory.Rule rule, ElephantFlow flow, double today, double without) {
    return "the rule of %s is withdrawn: back on list %s by hash, the busiest list has %s after %s"
        .formatted(rule.flow, flow.hashList(), percent(without), percent(today));
  }
}
