package io.heddle.bgpstub.rib;

/**
 * How figures of routes are read.
 *
 * @param linkBandwidth whether RFC 10005's link bandwidth counts where there is no path bandwidth
 * @param zeroLinkBandwidthIsUnreachable what its zero says: unreachable, or no figure
 */
public record RibOptions(boolean linkBandwidth, boolean zeroLinkBandwidthIsUnreachable) {
  public static final RibOptions DEFAULT = new RibOptions(true, false);
}
