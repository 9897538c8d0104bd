package io.heddle.sim.control;

/**
 * Scheme by which leaves announce routes to network cards (draft-xu-idr-fare-in-mpson, section 4).
 */
public enum RouteScheme {
  /** A route for each host in each plane. */
  HOST_ROUTES("host routes"),
  /**
   * A route for the hosts of each leaf, and a route for each host that a plane doesn't reach (4.1).
   */
  AGGREGATE("aggregate + unreachable"),
  /** Routes for only those hosts that a card requests by prefix ORF (4.2). */
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
