package io.heddle.sim.control;

/** Routes that leaves announce to network cards (draft-xu-idr-fare-in-mpson, section 4). */
public enum RouteScheme {
  /** A route for each host, in each plane. */
  HOST_ROUTES("host routes"),
  /** A route for each leaf's hosts, and one for each host that a plane doesn't reach (4.1). */
  AGGREGATE("aggregate + unreachable"),
  /** Routes of only those hosts that a card requests by prefix ORF (4.2). */
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
