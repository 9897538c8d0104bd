package io.heddle.routes;

/** Reason for a plane's weight for a destination. */
public enum WeightReason {
  /** No route of this plane covers the destination. */
  NO_ROUTE("no route"),
  PATH_BANDWIDTH("path bandwidth"),
  LINK_BANDWIDTH("link bandwidth"),
  /** The local port's rate is lower than the route's bandwidth. */
  LOCAL_RATE("rate of the local port"),
  /** The route has no bandwidth; see {@link MissingFigure}. */
  NO_FIGURE("route without a bandwidth"),
  PATH_BANDWIDTH_ZERO("unreachable: path bandwidth 0"),
  UNREACHABLE("unreachable: announced so");

  private static final WeightReason[] BY_CODE = values();

  private final String text;

  WeightReason(String text) {
    this.text = text;
  }

  /** Returns the text for display. */
  public String text() {
    return text;
  }

  /** Returns whether a route with this reason carries traffic. */
  public boolean carriesTraffic() {
    return switch (this) {
      case PATH_BANDWIDTH, LINK_BANDWIDTH, LOCAL_RATE, NO_FIGURE -> true;
      case NO_ROUTE, PATH_BANDWIDTH_ZERO, UNREACHABLE -> false;
    };
  }

  /*
   * Returns the reason with this code. A file of a later release may have unknown codes, which
   * count as no route.
   */
  static WeightReason ofCode(int code) {
    return code < BY_CODE.length ? BY_CODE[code] : NO_ROUTE;
  }
}
