package io.heddle.bgpstub.rib;

import io.heddle.bgp.wire.ExtendedCommunity.LinkBandwidth;
import io.heddle.bgp.wire.ExtendedCommunity.PathBandwidth;
import io.heddle.bgp.wire.PathAttributes;
import io.heddle.routes.RouteCell;
import io.heddle.routes.WeightReason;

/**
 * What a route's attributes say about its plane's weight: the least of the local port's rate and
 * the figure received. Path bandwidth comes before link bandwidth.
 */
final class CellPolicy {
  private static final int MBPS_PER_GBPS = 1000;
  private static final double BITS_PER_MEGABIT = 1e6;

  private CellPolicy() {}

  /**
   * @param localMbps rate of the local port; 0 where it isn't known
   */
  static int cell(PathAttributes attributes, long localMbps, RibOptions options) {
    if (attributes.isUnreachable()) {
      return RouteCell.of(WeightReason.UNREACHABLE, 0);
    }
    PathBandwidth path = attributes.pathBandwidth();
    if (path != null) {
      return path.isUnreachable()
          ? RouteCell.of(WeightReason.PATH_BANDWIDTH_ZERO, 0)
          : limited(
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
    return limited(
        WeightReason.LINK_BANDWIDTH,
        Math.round(link.bitsPerSecond() / BITS_PER_MEGABIT),
        localMbps);
  }

  private static int limited(WeightReason reason, long mbps, long localMbps) {
    return localMbps > 0 && localMbps < mbps
        ? RouteCell.of(WeightReason.LOCAL_RATE, localMbps)
        : RouteCell.of(reason, mbps);
  }

  /**
   * Whether a prefix without AIGP may be one whose own way is lost: on a fabric of deterministic
   * paths every remote prefix has it as long as it takes its own spine. What the leaf tells of
   * itself has a path of one AS, and never AIGP.
   */
  static boolean lacksAigp(PathAttributes attributes) {
    return attributes.aigp() == null && attributes.asPath().hops() > 1;
  }

  /**
   * Whether the first of two routes of one prefix on one plane is better: one that carries, on its
   * plane's own way, with AIGP and the lower, by fewer ASes, with the greater figure.
   */
  static boolean isBetter(PathAttributes a, int cellA, PathAttributes b, int cellB) {
    boolean carriesA = RouteCell.reason(cellA).carries();
    if (carriesA != RouteCell.reason(cellB).carries()) {
      return carriesA;
    }
    if (RouteCell.isBorrowed(cellA) != RouteCell.isBorrowed(cellB)) {
      return RouteCell.isBorrowed(cellB);
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
