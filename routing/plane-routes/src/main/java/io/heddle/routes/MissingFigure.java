package io.heddle.routes;

/** Rule for the weights of all planes if a plane's route for a destination has no bandwidth. */
public enum MissingFigure {
  /** Ignores bandwidth: every plane that reaches the destination weighs the same. */
  EQUAL,
  /** Gives planes without a bandwidth the weight 0, as long as another plane has a bandwidth. */
  SKIP,
  /** Gives planes without a bandwidth the file's default weight. */
  DEFAULT
}
