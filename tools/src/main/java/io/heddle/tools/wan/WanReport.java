package io.heddle.tools.wan;

import io.heddle.tools.wan.figure.WanFigure;
import java.util.List;

/**
 * Result of the demo.
 *
 * @param reflector whether GoBGP was between controller and gateways
 * @param passed whether all steps and figures passed
 * @param steps steps in order; steps after a failed one are missing, as they weren't run
 * @param figures measured figures, each with its bound
 */
public record WanReport(
    boolean reflector, boolean passed, List<Step> steps, List<WanFigure> figures) {
  /**
   * Result of a step.
   *
   * @param name condition that the step waits for
   * @param passed whether the condition became true in time
   * @param seconds duration of the step in seconds
   * @param sentence observation that shows the condition, or the reason of the failure
   */
  public record Step(String name, boolean passed, double seconds, String sentence) {}

  static WanReport of(boolean reflector, List<Step> steps, List<WanFigure> figures) {
    return new WanReport(
        reflector,
        steps.stream().allMatch(Step::passed) && figures.stream().allMatch(WanFigure::passed),
        List.copyOf(steps),
        List.copyOf(figures));
  }
}
