package io.heddle.tools.bench.perf;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Scheduler statistics of a thread, or of all threads with one name.
 *
 * @param name name of the thread, at most 15 characters
 * @param ranUs time that the thread ran on a core, µs
 * @param waitedUs time that the thread was ready to run and waited for a core, µs
 * @param voluntarySwitches number of voluntary context switches
 * @param involuntarySwitches number of involuntary context switches and yields
 */
record ThreadAccount(
    String name,
    double ranUs,
    double waitedUs,
    double voluntarySwitches,
    double involuntarySwitches) {
  private ThreadAccount plus(ThreadAccount other) {
    return new ThreadAccount(
        name,
        ranUs + other.ranUs,
        waitedUs + other.waitedUs,
        voluntarySwitches + other.voluntarySwitches,
        involuntarySwitches + other.involuntarySwitches);
  }

  private ThreadAccount dividedBy(double count) {
    return new ThreadAccount(
        name,
        ranUs / count,
        waitedUs / count,
        voluntarySwitches / count,
        involuntarySwitches / count);
  }

  /**
   * Returns, for each thread name, the sum of the accounts divided by {@code count}, in descending
   * order of run time.
   */
  static List<ThreadAccount> means(List<ThreadAccount> all, double count) {
    Map<String, ThreadAccount> sums = new LinkedHashMap<>();
    all.forEach(each -> sums.merge(each.name(), each, ThreadAccount::plus));
    List<ThreadAccount> means = new ArrayList<>();
    sums.values().forEach(sum -> means.add(sum.dividedBy(count)));
    means.sort(Comparator.comparingDouble(ThreadAccount::ranUs).reversed());
    return means;
  }
}
