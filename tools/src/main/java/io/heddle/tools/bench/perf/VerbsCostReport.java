package io.heddle.tools.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Report of {@code heddle perf verbs}: the cost of posting and polling from Java, compared with C.
 *
 * @param processors number of processors of the machine
 * @param rounds number of rounds; contestants alternate
 * @param contestants contestants in order; the first one is in C, and is the reference of the
 *     ratios
 */
record VerbsCostReport(int processors, int rounds, List<Contestant> contestants) {
  /**
   * Contestant and its results.
   *
   * @param name language of the contestant, and the compilers that it used
   */
  record Contestant(String name, List<Case> cases) {}

  /**
   * Time of one case.
   *
   * @param name name of the case
   * @param medianNs median over the rounds, ns
   * @param leastNs minimum over the rounds, ns
   * @param upperQuartileNs upper quartile over the rounds, ns
   * @param timesC median over the rounds of this time ÷ the time in C
   * @param leastTimesC minimum over the rounds ÷ the minimum in C. In the fastest rounds nothing
   *     disturbed the measurement.
   */
  record Case(
      String name,
      double medianNs,
      double leastNs,
      double upperQuartileNs,
      double timesC,
      double leastTimesC) {}

  /**
   * Builds the report.
   *
   * @param first contestant in C, the reference of the ratios
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
