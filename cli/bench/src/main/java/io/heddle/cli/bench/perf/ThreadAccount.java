package io.heddle.cli.bench.perf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the kernel says of a thread, or of those of one name.
 *
 * @param name of the thread, 15 characters at most
 * @param ranUs with a core
 * @param waitedUs ready, without one
 * @param sleeps how often it gave its core away until something came
 * @param losses how often it was taken off its core, or yielded it
 */
record ThreadAccount(String name, double ranUs, double waitedUs, double sleeps, double losses) {
  private ThreadAccount plus(ThreadAccount other) {
    return new ThreadAccount(
        name,
        ranUs + other.ranUs,
        waitedUs + other.waitedUs,
        sleeps + other.sleeps,
        losses + other.losses);
  }

  private ThreadAccount over(double count) {
    return new ThreadAccount(name, ranUs / count, waitedUs / count, sleeps / count, losses / count);
  }

  /** The sum for each name divided by a number, the one that ran longest first. */
  static List<ThreadAccount> means(List<ThreadAccount> all, double count) {
    Map<String, ThreadAccount> sums = new LinkedHashMap<>();
    all.forEach(each -> sums.merge(each.name(), each, ThreadAccount::plus));
    List<ThreadAccount> means = new ArrayList<>();
    sums.values().forEach(sum -> means.add(sum.over(count)));
    means.sort(Comparator.comparingDouble(ThreadAccount::ranUs).reversed());
    return means;
  }
}
