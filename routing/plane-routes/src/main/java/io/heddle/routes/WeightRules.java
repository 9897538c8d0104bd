package io.heddle.routes;

/**
 * Rules by which readers compute weights from the bandwidths of routes. The route daemon sets them
 * for all readers.
 *
 * @param missingFigure treatment of a route without a bandwidth
 * @param defaultWeight weight of a route without a bandwidth under {@link MissingFigure#DEFAULT},
 *     in Mbit/s
 * @param borrowedPercent share of its weight that a plane keeps while it borrows another plane's
 *     path, 0 to 100
 */
public record WeightRules(MissingFigure missingFigure, int defaultWeight, int borrowedPercent) {
  /**
   * Default rules: equal weights if a bandwidth is missing; a plane on a borrowed path keeps 5 % of
   * its weight.
   */
  public static final WeightRules DEFAULT = new WeightRules(MissingFigure.EQUAL, 1000, 5);
}
