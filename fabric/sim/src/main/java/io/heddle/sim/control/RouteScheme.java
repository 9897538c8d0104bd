package io.heddle.sim.control;

/**
 * Scheme by which leaves announce routes to network cards (draft-xu-idr-fare-in-mpson, section 4).
 */
public enum RouteScheme {
  /** In each plane, a route for each host. */
  HOST_ROUTES("host routes"),
  /**
   * In each plane, a route for all hosts of each leaf, and a route for each host that the plane
   * doesn't reach. The latter marks the host as unreachable (the draft's section 4.1).
   */
  AGGREGATE("aggregate + unreachable"),
  /**
   * In each plane, a route for each host that the card requests by prefix ORF (the draft's section
   * 4.2).
   */
  ORF("prefix ORF");

  private final String text;

  RouteScheme(String text) {
    this.text = text;
  }

  @Override
  public String toString() {
    return text;
  }
}
