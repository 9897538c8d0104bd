package io.heddle.tools.bench.contest;

import java.util.List;
import java.util.Map;

/**
 * Results of a measurement. Each measurement prints them as its JSON document.
 *
 * @param measurement command that measured, such as {@code perf plugin}
 * @param machine machine that was measured
 * @param load load averages of the last minute, before and after
 * @param rounds number of rounds; contestants take turns in each
 * @param settings conditions of the measurement by name, such as {@code mtu_bytes}
 * @param remarks sentences about the run, for example about a contestant that was left out
 * @param series values of each round
 * @param figures medians of all series, and figures that are derived from several
 */
public record Results(
    String measurement,
    Machine machine,
    List<Double> load,
    int rounds,
    Map<String, String> settings,
    List<String> remarks,
    List<Series> series,
    List<Figure> figures) {
  /**
   * Values of one quantity, of one contestant at one step.
   *
   * @param name name of the figure that is the median of the rounds
   * @param step step of the measurement, such as a size
   * @param contestant name of the contestant
   * @param quantity quantity, as it ends the figure's name; empty for the only one
   * @param unit unit of the values; empty for a ratio
   * @param rounds one value per round, null if a round has none; values of contestants at the same
   *     index are from the same round. A summary has one value.
   */
  public record Series(
      String name,
      String step,
      String contestant,
      String quantity,
      String unit,
      List<Double> rounds) {
    public Figure figure() {
      return Figure.of(name, unit, rounds);
    }
  }
}
