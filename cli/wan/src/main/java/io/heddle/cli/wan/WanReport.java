package io.heddle.cli.wan;

import java.util.List;

/**
 * What the demo showed.
 *
 * @param reflector whether GoBGP was between controller and gateways
 * @param holds whether all steps held
 * @param steps in their order; those after one that failed weren't tried
 */
public record WanReport(boolean reflector, boolean holds, List<Step> steps) {
  /**
   * @param name what had to hold
   * @param holds whether it did
   * @param seconds it took
   * @param sentence what was seen
   */
  public record Step(String name, boolean holds, double seconds, String sentence) {}

  static WanReport of(boolean reflector, List<Step> steps) {
    return new WanReport(reflector, steps.stream().allMatch(Step::holds), List.copyOf(steps));
  }
}
