package io.heddle.cli.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * What posting and polling cost from Java beside C.
 *
 * @param processors of the machine
 * @param rounds of each contestant, which took turns
 * @param contestants the first is the one in C that the others are measured by
 */
record VerbsCostReport(int processors, int rounds, List<Contestant> contestants) {
  /**
   * Who ran.
   *
   * @param name language and compiler
   */
  record Contestant(String name, List<Case> cases) {}

  /**
   * ns of one case.
   *
   * @param name what is called
   * @param medianNs of the rounds
   * @param leastNs of the rounds
   * @param upperQuartileNs which a quarter of the rounds exceed
   * @param timesC the median of the rounds' ratios
   * @param leastTimesC the ratio of the fastest rounds, which nothing disturbed
   */
  record Case(
      String name,
      double medianNs,
      double leastNs,
      double upperQuartileNs,
      double timesC,
      double leastTimesC) {}

  /**
   * @param first the one in C
   */
  static VerbsCostReport of(
      int processors, int rounds, VerbsCostContestant first, List<VerbsCostContestant> others) {
    List<Contestant> contestants = new ArrayList<>();
    contestants.add(contestant(first, first));
    others.forEach(each -> contestants.add(contestant(each, first)));
    return new VerbsCostReport(processors, rounds, contestants);
  }

  private static Contestant contestant(VerbsCostContestant of, VerbsCostContestant c) {
    List<Case> cases = new ArrayList<>();
    for (Map.Entry<String, List<Double>> each : of.nanoseconds().entrySet()) {
      List<Double> own = each.getValue();
      List<Double> reference = Objects.requireNonNull(c.nanoseconds().get(each.getKey()));
      List<Double> ratios = new ArrayList<>();
      for (int round = 0; round < own.size(); round++) {
        ratios.add(own.get(round) / reference.get(round));
      }
      Quantiles all = Quantiles.of(own);
      cases.add(
          new Case(
              each.getKey(),
              all.nearest(0.5),
              all.least(),
              all.nearest(0.75),
              Quantiles.of(ratios).nearest(0.5),
              all.least() / Quantiles.of(reference).least()));
    }
    return new Contestant(of.name(), cases);
  }

  String table() {
    StringBuilder text = new StringBuilder();
    append(
        text,
        """
        # ns per call on the stand-in for libibverbs, %d processors
        # median of %d rounds in turns (least to upper quartile)
        # x C: the median of the rounds' ratios; of the fastest rounds, which nothing disturbed
        # empty_poll: nothing is there; full_poll: per completion, 16 a call
        # single_post, list_post: per request of 8 B, 1 or 16 a call; post_and_poll: both for one
        """,
        processors,
        rounds);
    append(text, "%-14s", "");
    for (Contestant each : contestants) {
      append(text, " | %-40s", each.name());
    }
    for (int i = 0; i < contestants.getFirst().cases().size(); i++) {
      append(text, "%n%-14s", contestants.getFirst().cases().get(i).name());
      for (Contestant each : contestants) {
        Case own = each.cases().get(i);
        append(
            text,
            " | %7.1f (%6.1f to %7.1f) %6.2f %6.2f",
            own.medianNs(),
            own.leastNs(),
            own.upperQuartileNs(),
            own.timesC(),
            own.leastTimesC());
      }
    }
    return text.append(System.lineSeparator()).toString();
  }

  private static void append(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments));
  }
}
