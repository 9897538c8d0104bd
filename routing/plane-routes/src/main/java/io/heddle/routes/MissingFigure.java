package io.heddle.routes;

/** What becomes of the weights when a plane's route for a destination has no bandwidth. */
public enum MissingFigure {
  /** No bandwidth counts: every plane that reaches the destination weighs the same. */
  EQUAL,
  /** The planes without one carry nothing, as long as another has one. */
  SKIP,
  /** They weigh the file's default. */
  DEFAULT
}
