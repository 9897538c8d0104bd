package io.heddle.cli.wan;

import io.heddle.cli.wan.figure.WanFigure;
import io.heddle.cli.wan.host.NodeProcesses;
import io.heddle.platform.HeddleException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** What a demo has shown so far: steps one after another, and figures. One thread. */
final class WanSteps {
  private static final int STEP_SECONDS = 60;
  private static final int LOOK_MS = 300;

  /** A step didn't come: those after it make no sense. */
  static final class StepFailed extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  private final WanDemo.Patience patience;
  private final Consumer<String> progress;
  private final List<WanReport.Step> steps = new ArrayList<>();
  private final List<WanFigure> figures = new ArrayList<>();
  private @Nullable NodeProcesses daemons;

  WanSteps(WanDemo.Patience patience, Consumer<String> progress) {
    this.patience = patience;
    this.progress = progress;
  }

  /** Steps fail where one of these has ended by itself. */
  void watch(NodeProcesses processes) {
    daemons = processes;
  }

  /** For so many seconds, whether they are over. */
  BooleanSupplier limit(int seconds) {
    return patience.limits().apply(seconds);
  }

  /** Says what comes next. */
  void tell(String what) {
    progress.accept(what);
  }

  /** One step: waits until the condition holds; the sentence is what was seen then. */
  void step(String name, Supplier<@Nullable String> seen) throws InterruptedException {
    step(name, Double.MAX_VALUE, seen);
  }

  /**
   * The same with a limit, which doesn't count where times aren't judged.
   *
   * @throws StepFailed where it doesn't come
   */
  void step(String name, double longestSeconds, Supplier<@Nullable String> seen)
      throws InterruptedException {
    progress.accept(name);
    long begin = System.nanoTime();
    BooleanSupplier over = limit(STEP_SECONDS);
    String sentence = null;
    String trouble = "it didn't come";
    while (sentence == null && !over.getAsBoolean()) {
      TimeUnit.MILLISECONDS.sleep(LOOK_MS);
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
    boolean inTime = !patience.judgesTimes() || seconds <= longestSeconds;
    steps.add(
        new WanReport.Step(
            name, sentence != null && inTime, seconds, sentence == null ? trouble : sentence));
    if (sentence == null) {
      throw new StepFailed();
    }
  }

  /** What gives figures. */
  @FunctionalInterface
  interface Measure {
    List<WanFigure> run() throws IOException, InterruptedException;
  }

  /**
   * Adds figures that depend on nothing but what they show; what can't be measured is a step that
   * failed.
   */
  void exact(String name, Measure measure) throws IOException, InterruptedException {
    measured(name, measure).forEach(this::exact);
  }

  /** The same of figures that a busy machine spoils. */
  void timed(String name, Measure measure) throws IOException, InterruptedException {
    timed(measured(name, measure));
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

  /** Adds figures that depend on nothing but what they show. */
  void exact(WanFigure... these) {
    figures.addAll(List.of(these));
  }

  /** Adds figures that a busy machine spoils. */
  void timed(List<WanFigure> these) {
    these.forEach(each -> figures.add(patience.judgesTimes() ? each : each.unjudged()));
  }

  WanReport report(boolean reflected) {
    return WanReport.of(reflected, steps, figures);
  }
}
