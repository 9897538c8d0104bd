package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.ExtendedCommunity.LinkBandwidth;
import io.heddle.bgp.wire.ExtendedCommunity.PathBandwidth;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.routes.RouteCell;
import io.heddle.routes.WeightReason;

/**
 * Policy that turns a route's attributes into its plane's weight: the smaller of the local port's
 * rate and the received bandwidth. Path bandwidth takes precedence over link bandwidth.
 */
final class CellPolicy {
  private static final int MBPS_PER_GBPS = 1000;
  private static final double BITS_PER_MEGABIT = 1e6;

  private CellPolicy() {}

  /**
   * Returns the {@link RouteCell cell} of a route: weight and reason.
   *
   * @param localMbps rate of the local port; 0 if unknown
   */
  static int cell(PathAttributes attributes, long localMbps, RibOptions options) {
    if (attributes.isUnreachable()) {
      return RouteCell.of(WeightReason.UNREACHABLE, 0);
    }
    PathBandwidth path = attributes.pathBandwidth();
    if (path != null) {
      return path.isUnreachable()
          ? RouteCell.of(WeightReason.PATH_BANDWIDTH_ZERO, 0)
          : limitedByLocalRate(
              WeightReason.PATH_BANDWIDTH,
              (long) path.gigabitsPerSecond() * MBPS_PER_GBPS,
              localMbps);
    }
    LinkBandwidth link = options.linkBandwidth() ? attributes.linkBandwidth() : null;
    if (link == null) {
      return RouteCell.of(WeightReason.NO_FIGURE, 0);
    }
    if (link.bytesPerSecond() == 0) {
      return options.zeroLinkBandwidthIsUnreachable()
          ? RouteCell.of(WeightReason.UNREACHABLE, 0)
          : RouteCell.of(WeightReason.NO_FIGURE, 0);
    }
    return limitedByLocalRate(
        WeightReason.LINK_BANDWIDTH,
        Math.round(link.bitsPerSecond() / BITS_PER_MEGABIT),
        localMbps);
  }

  private static int limitedByLocalRate(WeightReason reason, long mbps, long localMbps) {
    return localMbps > 0 && localMbps < mbps
        ? RouteCell.of(WeightReason.LOCAL_RATE, localMbps)
        : RouteCell.of(reason, mbps);
  }

  /**
   * Returns whether a missing AIGP shows that the route's plane has lost its own path. On a fabric
   * of deterministic paths every remote prefix has AIGP while the plane uses its own spine. The
   * leaf's own prefixes have a path of one AS, and never AIGP.
   */
  static boolean lacksAigp(PathAttributes attributes) {
    return attributes.aigp() == null && attributes.asPath().hops() > 1;
  }

  /**
   * Returns whether the first of two routes of one prefix on one plane is better. The first of
   * these criteria in which they differ decides: the better route carries traffic; it uses its
   * plane's own path; its AIGP is lower, where a missing AIGP is the highest; its path has fewer
   * ASes; its bandwidth is greater.
   */
  static boolean isBetter(PathAttributes a, int cellA, PathAttributes b, int cellB) {
    boolean carriesA = RouteCell.reason(cellA).carriesTraffic();
    if (carriesA != RouteCell.reason(cellB).carriesTraffic()) {
      return carriesA;
    }
    if (RouteCell.isOverOtherPlane(cellA) != RouteCell.isOverOtherPlane(cellB)) {
      return RouteCell.isOverOtherPlane(cellB);
    }
    long metricA = a.aigp() == null ? Long.MAX_VALUE : a.aigp().metric();
    long metricB = b.aigp() == null ? Long.MAX_VALUE : b.aigp().metric();
    if (metricA != metricB) {
      return Long.compareUnsigned(metricA, metricB) < 0;
    }
    int hopsA = a.asPath().hops();
    int hopsB = b.asPath().hops();
    return hopsA != hopsB ? hopsA < hopsB : RouteCell.weight(cellA) > RouteCell.weight(cellB);
  }
}
