package io.heddle.routes;

/** Treatment of weights when a plane's route for a destination has no bandwidth. */
public enum MissingFigure {
  /** Ignores bandwidth: every plane that reaches the destination weighs the same. */
  EQUAL,
  /** Lets planes without a bandwidth carry nothing, as long as another has one. */
  SKIP,
  /** Gives planes without a bandwidth the file's default weight. */
  DEFAULT
}
