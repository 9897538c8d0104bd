package io.heddle.bgpstub.rib;

/**
 * Options for evaluating routes' bandwidths.
 *
 * @param linkBandwidth whether RFC 10005's link bandwidth counts in absence of path bandwidth
 * @param zeroLinkBandwidthIsUnreachable meaning of its zero: unreachable, or no bandwidth
 */
public record RibOptions(boolean linkBandwidth, boolean zeroLinkBandwidthIsUnreachable) {
  public static final RibOptions DEFAULT = new RibOptions(true, false);
}
