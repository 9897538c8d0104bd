package io.heddle.tools.wan;

import io.heddle.platform.HeddleException;
import io.heddle.tools.wan.figure.WanFigure;
import io.heddle.tools.wan.host.NodeProcesses;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Steps of a demo with their results, and the demo's figures. For one thread. */
final class WanSteps {
  private static final int STEP_SECONDS = 60;
  private static final int POLL_MS = 300;

  /** Exception that ends the demo after a failed step, since later steps depend on it. */
  static final class StepFailed extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private final WanDemo.TimeLimits patience;
  private final Consumer<String> progress;
  private final List<WanReport.Step> steps = new ArrayList<>();
  private final List<WanFigure> figures = new ArrayList<>();
  private @Nullable NodeProcesses daemons;

  WanSteps(WanDemo.TimeLimits patience, Consumer<String> progress) {
    this.patience = patience;
    this.progress = progress;
  }

  /** Makes the current and later steps fail if one of these processes ends by itself. */
  void watch(NodeProcesses processes) {
    daemons = processes;
  }

  /**
   * Starts a time limit of this many seconds. The returned supplier reports whether it has expired.
   */
  BooleanSupplier limit(int seconds) {
    return patience.limits().apply(seconds);
  }

  /** Announces the next step. */
  void announce(String what) {
    progress.accept(what);
  }

  /**
   * Runs one step, which waits until its condition is true.
   *
   * @param seen returns a sentence with the observation once the condition is true, null before
   */
  void step(String name, Supplier<@Nullable String> seen) throws InterruptedException {
    step(name, Double.MAX_VALUE, seen);
  }

  /**
   * Runs a step whose duration has a bound. A longer step is recorded as failed only if {@link
   * WanDemo.TimeLimits#failsOnTimeout} is set.
   *
   * @throws StepFailed if the condition doesn't become true before the demo's time limit for steps
   */
  void step(String name, double longestSeconds, Supplier<@Nullable String> seen)
      throws InterruptedException {
    progress.accept(name);
    long begin = System.nanoTime();
    BooleanSupplier over = limit(STEP_SECONDS);
    String sentence = null;
    String trouble = "timed out";
    while (sentence == null && !over.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(POLL_MS);
      try {
        if (daemons != null) {
          daemons.check();
        }
        sentence = seen.get();
      } catch (NodeProcesses.Ended ended) {
        trouble = String.valueOf(ended.getMessage());
        break;
      } catch (HeddleException notYet) {
        trouble = String.valueOf(notYet.getMessage());
      }
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    boolean inTime = !patience.failsOnTimeout() || seconds <= longestSeconds;
    steps.add(
        new WanReport.Step(
            name, sentence != null && inTime, seconds, sentence == null ? trouble : sentence));
    if (sentence == null) {
      throw new StepFailed();
    }
  }

  /** Measurement that returns figures. */
  @FunctionalInterface
  interface Measure {
    List<WanFigure> run() throws IOException, InterruptedException;
  }

  /**
   * Runs a measurement whose figures don't depend on the machine's load, and adds them. A failed
   * measurement is recorded as a failed step.
   */
  void addExact(String name, Measure measure) throws IOException, InterruptedException {
    measured(name, measure).forEach(this::addExact);
  }

  /** Runs a measurement whose figures a busy machine distorts, and adds them. */
  void addTimed(String name, Measure measure) throws IOException, InterruptedException {
    addTimed(measured(name, measure));
  }

  private List<WanFigure> measured(String name, Measure measure)
      throws IOException, InterruptedException {
    progress.accept(name);
    long begin = System.nanoTime();
    List<WanFigure> found = List.of();
    String trouble = null;
    try {
      found = measure.run();
    } catch (HeddleException failed) {
      trouble = String.valueOf(failed.getMessage());
    }
    steps.add(
        new WanReport.Step(
            name,
            trouble == null,
            (System.nanoTime() - begin) / 1e9,
            trouble == null ? found.size() + " figures, below" : trouble));
    return found;
  }

  /** Adds figures that don't depend on the machine's load. */
  void addExact(WanFigure... these) {
    figures.addAll(List.of(these));
  }

  /** Adds figures that a busy machine distorts. */
  void addTimed(List<WanFigure> these) {
    these.forEach(each -> figures.add(patience.failsOnTimeout() ? each : each.unjudged()));
  }

  WanReport report(boolean reflected) {
    return WanReport.of(reflected, steps, figures);
  }
}
