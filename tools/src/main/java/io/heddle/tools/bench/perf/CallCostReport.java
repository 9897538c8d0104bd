package io.heddle.tools.bench.perf;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Report of {@code heddle perf calls}: the cost of the plugin's calls, compared with the same steps
 * in C.
 *
 * @param machine description of the machine
 * @param load load average of the last minute before the measurement
 * @param rounds number of rounds; contestants alternate
 * @param soakSeconds seconds for which each Java contestant sent messages with every call timed
 * @param contestants contestants in order; the first one is in C, and is the reference of the
 *     ratios
 */
record CallCostReport(
    String machine,
    double load,
    int rounds,
    long soakSeconds,
    List<Contestant> contestants,
    List<Verdict> verdicts) {
  /** Number of planes over which a message of eight chunks is sprayed. */
  static final int PLANES = 8;

  private static final int REQUESTS_OF_A_SWEEP = 32;
  private static final double MOST_TIMES_C = 1.5;
  private static final double MOST_NOT_READY = 2;
  private static final double MOST_ONE_CHUNK_NS = 250;
  private static final double MOST_EIGHT_CHUNKS_NS = 600;
  private static final double MOST_TAIL_US = 20;
  private static final double MOST_PAUSE_MS = 2;

  /**
   * Contestant and its results.
   *
   * @param name language of the plugin, and the compilers that it used
   * @param machine pauses and allocations of the JVM during the soaks; null for C
   */
  record Contestant(String name, List<Case> cases, Soak soak, @Nullable Machine machine) {
    Case find(String wanted) {
      return cases.stream().filter(each -> each.name().equals(wanted)).findFirst().orElseThrow();
    }
  }

  /**
   * Time of one case over all rounds.
   *
   * @param name name of the case
   * @param medianNs median over the rounds, ns
   * @param leastNs minimum over the rounds, ns
   * @param lowerQuartileNs lower quartile over the rounds, ns
   * @param timesC median over the rounds of this time ÷ the time in C
   * @param leastTimesC minimum over the rounds ÷ the minimum in C. In the fastest rounds nothing
   *     disturbed the measurement.
   */
  record Case(
      String name,
      double medianNs,
      double leastNs,
      double lowerQuartileNs,
      double timesC,
      double leastTimesC) {}

  /**
   * Results of the soaks, in which every call is timed: the number of messages, and the latency of
   * the calls.
   *
   * @param messages number of sent messages
   */
  record Soak(long messages, List<Tail> tails) {}

  /**
   * Latency distribution of one kind of call.
   *
   * @param call name of the call
   * @param calls number of timed calls
   * @param medianUs median, µs
   * @param p99Us 99th percentile, µs
   * @param p999Us 99.9th percentile, µs
   * @param p9999Us 99.99th percentile, µs
   * @param p99999Us 99.999th percentile, µs
   * @param mostUs maximum, µs
   */
  record Tail(
      String call,
      long calls,
      double medianUs,
      double p99Us,
      double p999Us,
      double p9999Us,
      double p99999Us,
      double mostUs) {
    static Tail parse(String[] words) {
      return new Tail(
          words[1],
          Long.parseLong(words[2]),
          us(words[3]),
          us(words[4]),
          us(words[5]),
          us(words[6]),
          us(words[7]),
          us(words[8]));
    }

    private static double us(String nanoseconds) {
      return Long.parseLong(nanoseconds) / 1e3;
    }
  }

  /**
   * Pauses and allocations of the JVM during the soaks.
   *
   * @param pauses number of safepoint pauses
   * @param longestPauseUs longest pause, µs
   * @param allocatedBytes number of bytes allocated by the thread that makes the calls, as the JVM
   *     rounds it (to KiB, or to MiB from 100 MiB on); null if unknown
   */
  record Machine(int pauses, double longestPauseUs, @Nullable Long allocatedBytes) {}

  /**
   * Target and its result.
   *
   * @param contestant name of the contestant
   * @param target text of the target
   * @param found measured value
   * @param met whether the target was met
   */
  record Verdict(String contestant, String target, String found, boolean met) {}

  static Contestant contestant(
      String name,
      Map<String, List<Double>> figures,
      Map<String, List<Double>> ofC,
      Soak soak,
      @Nullable Machine machine) {
    List<Case> cases = new ArrayList<>();
    figures.forEach((each, values) -> {
      List<Double> inC = Objects.requireNonNull(ofC.get(each), each);
      List<Double> ratios = new ArrayList<>();
      for (int i = 0; i < values.size(); i++) {
        ratios.add(values.get(i) / inC.get(i));
      }
      Quantiles own = Quantiles.of(values);
      cases.add(
          new Case(
              each,
              own.nearest(0.5),
              own.least(),
              own.nearest(0.25),
              Quantiles.of(ratios).nearest(0.5),
              own.least() / Quantiles.of(inC).least()));
    });
    return new Contestant(name, cases, soak, machine);
  }

  /** Compares one contestant with the targets. */
  static List<Verdict> verdicts(Contestant one) {
    List<Verdict> verdicts = new ArrayList<>();
    String name = one.name();
    Case message = one.find("message");
    verdicts.add(
        most(name, "isend + irecv + test, times C", "%.2f", message.leastTimesC(), MOST_TIMES_C));
    double sweep = one.find("test_not_ready_of_32").leastNs();
    double alone = one.find("test_not_ready").leastNs();
    double asleep = (REQUESTS_OF_A_SWEEP * sweep - alone) / (REQUESTS_OF_A_SWEEP - 1);
    verdicts.add(
        most(
            name,
            "test that isn't ready, once a sweep has looked, times an indirect call",
            "%.2f",
            asleep / one.find("indirect_call").leastNs(),
            MOST_NOT_READY));
    verdicts.add(
        most(
            name,
            "isend of one chunk, ns",
            "%.0f",
            one.find("isend_1_chunk").lowerQuartileNs(),
            MOST_ONE_CHUNK_NS));
    verdicts.add(
        most(
            name,
            "isend of eight chunks on eight planes, ns",
            "%.0f",
            one.find("isend_8_chunks").lowerQuartileNs(),
            MOST_EIGHT_CHUNKS_NS));
    double tail = one.soak().tails().stream().mapToDouble(Tail::p9999Us).max().orElse(Double.NaN);
    verdicts.add(most(name, "99.99 % of calls within, us", "%.2f", tail, MOST_TAIL_US));
    Machine machine = one.machine();
    if (machine != null) {
      verdicts.add(
          most(
              name,
              "longest pause of the Java machine, ms",
              "%.3f",
              machine.longestPauseUs() / 1e3,
              MOST_PAUSE_MS));
      Long allocated = machine.allocatedBytes();
      if (allocated != null) {
        verdicts.add(most(name, "bytes allocated in the soaks", "%.0f", (double) allocated, 0));
      }
    }
    return verdicts;
  }

  private static Verdict most(
      String name, String target, String format, double found, double most) {
    return new Verdict(
        name,
        String.format(
            Locale.ROOT, "%s, at most " + (most % 1 == 0 ? "%.0f" : "%.1f"), target, most),
        String.format(Locale.ROOT, format, found),
        found <= most);
  }

  /** Returns the report as text tables. */
  String table() {
    StringBuilder text = new StringBuilder();
    append(
        text,
        "# cost of calls on a device that completes at once, %d planes, %s, load %.1f%n# ns: median"
            + " (minimum) of %d rounds in turns; x C: median of the rounds' ratios,%n# and the"
            + " ratio of the fastest rounds, which nothing disturbed, as the targets are judged%n#"
            + " us: of calls during %d s%n%n%-22s",
        PLANES,
        machine,
        load,
        rounds,
        soakSeconds,
        "# ns");
    contestants.forEach(each -> append(text, " | %-33s", each.name()));
    for (Case each : contestants.getFirst().cases()) {
      append(text, "%n%-22s", each.name());
      for (Contestant contestant : contestants) {
        Case found = contestant.find(each.name());
        append(
            text,
            " | %8.1f (%8.1f) %6.2f %6.2f",
            found.medianNs(),
            found.leastNs(),
            found.timesC(),
            found.leastTimesC());
      }
    }
    for (Contestant contestant : contestants) {
      append(
          text,
          "%n%n# %s, us, of %d messages: p50, p99, p99.9, p99.99, p99.999, most",
          contestant.name(),
          contestant.soak().messages());
      for (Tail tail : contestant.soak().tails()) {
        append(
            text,
            "%n%-22s %8.2f %8.2f %8.2f %8.2f %8.2f %10.2f",
            tail.call(),
            tail.medianUs(),
            tail.p99Us(),
            tail.p999Us(),
            tail.p9999Us(),
            tail.p99999Us(),
            tail.mostUs());
      }
    }
    append(text, "%n%n# targets; ns are those of the fastest quarter of the rounds%n");
    for (Verdict verdict : verdicts) {
      append(
          text,
          "%-6s %-26s %10s  %s%n",
          verdict.met() ? "met" : "MISSED",
          verdict.contestant(),
          verdict.found(),
          verdict.target());
    }
    return text.toString();
  }

  private static void append(StringBuilder text, String format, Object... arguments) {
    text.append(String.format(Locale.ROOT, format, arguments));
  }
}
