package io.heddle.tools.bench.contest;

import io.heddle.cli.kit.ProgressLine;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Contest: contestants that measure the same steps in turns, round by round. It drives them, keeps
 * the values of each round, and compares them.
 */
public final class Contest {
  /** Comparison of two contestants. */
  public enum Ratio {
    /** A contestant's value ÷ the reference's in the same round. */
    OF_ROUNDS,
    /** The reference's value ÷ a contestant's in the same round. */
    OF_ROUNDS_INVERSE,
    /** The best quarter of a contestant's rounds ÷ the best quarter of the reference's. */
    OF_BEST_QUARTERS,
    /** The minimum of a contestant's rounds ÷ the minimum of the reference's. */
    OF_FASTEST
  }

  private static final long KIB = 1024;

  private final String command;
  private final String title;
  private final String naming;
  private final int rounds;
  private final double loadBefore = Machine.loadOfLastMinute();
  private final Map<String, String> settings = new LinkedHashMap<>();
  private final List<String> remarks = new ArrayList<>();
  private final Map<String, Results.Series> series = new LinkedHashMap<>();
  private final Map<String, Bound> bounds = new HashMap<>();
  private final List<Figure> figures = new ArrayList<>();
  private final ProgressLine progress = ProgressLine.onStandardError();
  private String state = "starts";

  /**
   * Creates a contest.
   *
   * @param command command that measures, such as {@code perf plugin}
   * @param title description of the measurement, for the table
   * @param naming format of figure names, whose arguments are step, contestant and quantity
   */
  public Contest(String command, String title, String naming, int rounds) {
    this.command = command;
    this.title = title;
    this.naming = naming;
    this.rounds = rounds;
  }

  public Contest set(String name, Object value) {
    settings.put(name, value.toString());
    return this;
  }

  public void remark(String sentence) {
    remarks.add(sentence);
  }

  /** Shows the state of long work on standard error. */
  public void show(String newState) {
    state = newState;
    showAgain();
  }

  /** Shows the state with the time since the start, a few times a second during a long wait. */
  public void showAgain() {
    progress.update(() -> "heddle " + command + ": " + state);
  }

  /** Removes the progress line. */
  public void clear() {
    progress.clear();
  }

  /** Waits until each contestant can measure. */
  public void awaitWarm(List<? extends Contestant<?>> all) throws InterruptedException {
    for (Contestant<?> each : all) {
      show("warming up " + each.name());
      each.awaitWarm();
    }
  }

  /** Waits until each contestant has ended. */
  public void awaitEnd(List<? extends Contestant<?>> all) throws InterruptedException {
    for (Contestant<?> each : all) {
      each.awaitEnd();
    }
    clear();
  }

  /**
   * Measures all rounds.
   *
   * @param uncounted number of rounds before the first one that counts
   */
  public <S> void measure(List<S> steps, int uncounted, List<? extends Contestant<S>> all)
      throws IOException, InterruptedException {
    for (int round = 1 - uncounted; round <= rounds; round++) {
      measureRound(round, steps, all);
    }
  }

  /**
   * Measures one round: each step by each contestant in turn.
   *
   * @param round number of the round; values of rounds before 1 don't count
   */
  public <S> void measureRound(int round, List<S> steps, List<? extends Contestant<S>> all)
      throws IOException, InterruptedException {
    for (S step : steps) {
      for (Contestant<S> each : all) {
        show(
            "round %s of %s, %s%s"
                .formatted(
                    Math.max(round, 0),
                    rounds,
                    step.toString().isEmpty() ? "" : step + ", ",
                    each.name()));
        each.measure(
            step,
            (at, quantity, unit, value) -> {
              if (round > 0) {
                add(at, each.name(), quantity, unit, value);
              }
            });
      }
    }
  }

  /** Returns a size in the notation of the commands' options, such as {@code 64K}. */
  public static String size(long bytes) {
    if (bytes >= KIB * KIB && bytes % (KIB * KIB) == 0) {
      return bytes / (KIB * KIB) + "M";
    }
    return bytes >= KIB && bytes % KIB == 0 ? bytes / KIB + "K" : bytes + "B";
  }

  /** Adds the value of a round. */
  public void add(String step, String contestant, String quantity, String unit, double value) {
    String name = String.format(Locale.ROOT, naming, step, contestant, quantity);
    series
        .computeIfAbsent(
            name,
            key -> new Results.Series(key, step, contestant, quantity, unit, new ArrayList<>()))
        .rounds()
        .add(value);
  }

  /** Sets a bound for the median of a series. */
  public void bind(String step, String contestant, String quantity, Bound bound) {
    bounds.put(String.format(Locale.ROOT, naming, step, contestant, quantity), bound);
  }

  /** Adds a figure that is no median of a series. */
  public void add(Figure figure) {
    figures.add(figure);
  }

  /** Returns the values of all rounds; empty if there are none. */
  public List<Double> values(String step, String contestant, String quantity) {
    String name = String.format(Locale.ROOT, naming, step, contestant, quantity);
    Results.Series found = series.get(name);
    return found == null ? List.of() : List.copyOf(found.rounds());
  }

  /** Returns the quantiles of the finite values of all rounds. */
  public Quantiles quantiles(String step, String contestant, String quantity) {
    return Quantiles.ofFinite(values(step, contestant, quantity));
  }

  /** Returns all series of a quantity. */
  public List<Results.Series> series(String quantity) {
    return series.values().stream().filter(each -> each.quantity().equals(quantity)).toList();
  }

  /**
   * Compares each contestant with a reference, at each step that both measured.
   *
   * @param quantity compared quantity
   * @param reference name of the contestant that is compared with
   * @param as quantity of the ratios
   */
  public void compare(Ratio ratio, String quantity, String reference, String as) {
    for (Results.Series own : series(quantity)) {
      List<Double> other = values(own.step(), reference, quantity);
      if (!own.contestant().equals(reference) && !other.isEmpty()) {
        compare(ratio, own, other, as);
      }
    }
  }

  /** Compares a series with the values of another one. */
  public void compare(Ratio ratio, Results.Series own, List<Double> other, String as) {
    Quantiles mine = Quantiles.ofFinite(own.rounds());
    Quantiles theirs = Quantiles.ofFinite(other);
    boolean isTime = List.of("ns", "us", "ms", "s").contains(own.unit());
    switch (ratio) {
      case OF_ROUNDS, OF_ROUNDS_INVERSE -> {
        for (int round = 0; round < Math.min(own.rounds().size(), other.size()); round++) {
          double quotient = own.rounds().get(round) / other.get(round);
          add(
              own.step(),
              own.contestant(),
              as,
              "",
              ratio == Ratio.OF_ROUNDS ? quotient : 1 / quotient);
        }
      }
      case OF_BEST_QUARTERS ->
          add(
              own.step(),
              own.contestant(),
              as,
              "",
              mine.bestQuarter(isTime) / theirs.bestQuarter(isTime));
      case OF_FASTEST -> add(own.step(), own.contestant(), as, "", mine.least() / theirs.least());
    }
  }

  /** Returns the results so far. */
  public Results results() {
    List<Figure> all = new ArrayList<>();
    series.values().forEach(each -> all.add(each.figure().within(bounds.get(each.name()))));
    all.addAll(figures);
    return new Results(
        command,
        Machine.here(),
        List.of(loadBefore, Machine.loadOfLastMinute()),
        rounds,
        settings,
        remarks,
        List.copyOf(series.values()),
        all);
  }

  /** Returns the results so far as a table. */
  public String table() {
    Results results = results();
    List<Figure> listed =
        results.figures().stream()
            .filter(each -> figures.contains(each) || each.bound() != null)
            .toList();
    return new ResultTable(title, results, listed).toString();
  }
}
