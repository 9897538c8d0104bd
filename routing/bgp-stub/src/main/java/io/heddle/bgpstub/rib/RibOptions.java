package io.heddle.bgpstub.rib;

/**
 * Options for computing cells from the bandwidths of routes.
 *
 * @param linkBandwidth whether the link bandwidth of RFC 10005 is used if a route has no path
 *     bandwidth
 * @param zeroLinkBandwidthIsUnreachable whether a link bandwidth of zero means unreachable; if not,
 *     it means that the bandwidth is missing
 */
public record RibOptions(boolean linkBandwidth, boolean zeroLinkBandwidthIsUnreachable) {
  public static final RibOptions DEFAULT = new RibOptions(true, false);
}
