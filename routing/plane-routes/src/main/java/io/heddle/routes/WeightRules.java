package io.heddle.routes;

/**
 * How readers turn the routes' figures into weights; the daemon decides it for all of them.
 *
 * @param missingFigure for a route without a bandwidth
 * @param defaultWeight of such a route under {@link MissingFigure#DEFAULT}, in Mbit/s
 * @param borrowedPercent how much of its weight a plane keeps that borrows another plane's way, 0
 *     to 100
 */
public record WeightRules(MissingFigure missingFigure, int defaultWeight, int borrowedPercent) {
  /** Equal where a figure is missing, a twentieth for a borrowed way. */
  public static final WeightRules DEFAULT = new WeightRules(MissingFigure.EQUAL, 1000, 5);
}
