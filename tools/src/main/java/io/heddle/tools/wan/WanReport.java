package io.heddle.tools.wan;

import io.heddle.tools.wan.figure.WanFigure;
import java.util.List;

/**
 * Result of the demo.
 *
 * @param reflector whether GoBGP was between controller and gateways
 * @param passed whether all steps and figures held
 * @param steps in order; those after a failed one weren't tried
 * @param figures measured figures, each with its bound
 */
public record WanReport(
    boolean reflector, boolean passed, List<Step> steps, List<WanFigure> figures) {
  /**
   * Result of a step.
   *
   * @param name the condition
   * @param passed whether it held
   * @param seconds duration
   * @param sentence the observation
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
