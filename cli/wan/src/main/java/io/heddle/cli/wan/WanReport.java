package io.heddle.cli.wan;

import io.heddle.cli.wan.figure.WanFigure;
import java.util.List;

/**
 * What the demo showed.
 *
 * @param reflector whether GoBGP was between controller and gateways
 * @param holds whether all steps and figures held
 * @param steps in their order; those after one that failed weren't tried
 * @param figures that were measured, each with its bound
 */
public record WanReport(
    boolean reflector, boolean holds, List<Step> steps, List<WanFigure> figures) {
  /**
   * @param name what had to hold
   * @param holds whether it did
   * @param seconds it took
   * @param sentence what was seen
   */
  public record Step(String name, boolean holds, double seconds, String sentence) {}

  static WanReport of(boolean reflector, List<Step> steps, List<WanFigure> figures) {
    return new WanReport(
        reflector,
        steps.stream().allMatch(Step::holds) && figures.stream().allMatch(WanFigure::holds),
        List.copyOf(steps),
        List.copyOf(figures));
  }
}
