package io.heddle.sim.links;

import org.jspecify.annotations.Nullable;

/**
 * A first-in-first-out queue before each link of a fabric. All that is kept is when the link is
 * free again: with a known rate that says when the next chunk is through.
 */
public final class LinkQueues {
  /** Answer of {@link #offer}: the link swallows it. */
  public static final double LOST = -1;

  private final ClosFabric fabric;
  private final double portNsPerByte;
  private final double uplinkNsPerByte;
  private final double[] freeAtNs;
  private final long[] carriedBytes;
  private final @Nullable RateProfile[] profiles;
  private boolean areAllWell = true;

  public LinkQueues(ClosFabric fabric) {
    this.fabric = fabric;
    portNsPerByte = 1 / fabric.portBytesPerNs();
    uplinkNsPerByte = 1 / fabric.uplinkBytesPerNs();
    freeAtNs = new double[fabric.links()];
    carriedBytes = new long[fabric.links()];
    profiles = new RateProfile[fabric.links()];
  }

  /** From now on the link has what the profile says. Before anything is sent. */
  public void setProfile(int link, RateProfile profile) {
    profiles[link] = profile;
    areAllWell = false;
  }

  /** Whether the link carries anything at that time. */
  public boolean isUp(int link, double atNs) {
    RateProfile profile = profiles[link];
    return profile == null || profile.shareAt(atNs) > 0;
  }

  /** When the next chunk that comes then would begin, ns. */
  public double beginNs(int link, double arrivesNs) {
    return Math.max(arrivesNs, freeAtNs[link]);
  }

  /**
   * Puts a chunk behind what the link has.
   *
   * @param arrivesNs when its first packet is there; the same link's must not be asked out of order
   * @return when the link has sent it, were it there whole; {@link #LOST} for a black hole
   */
  public double offer(int link, double arrivesNs, int bytes) {
    double beginNs = beginNs(link, arrivesNs);
    double fullNs = bytes * (fabric.isPort(link) ? portNsPerByte : uplinkNsPerByte);
    double endNs = beginNs + fullNs;
    RateProfile profile = areAllWell ? null : profiles[link];
    if (profile != null) {
      if (profile.shareAt(beginNs) <= 0) {
        return LOST;
      }
      endNs = profile.endNs(beginNs, fullNs);
      if (endNs == Double.POSITIVE_INFINITY) {
        return LOST;
      }
    }
    freeAtNs[link] = endNs;
    carriedBytes[link] += bytes;
    return endNs;
  }

  /** What a link has been given so far. */
  public long carriedBytes(int link) {
    return carriedBytes[link];
  }

  /** What a link carries at a moment, bytes a nanosecond. */
  public double bytesPerNs(int link, double atNs) {
    RateProfile profile = profiles[link];
    double full = fabric.isPort(link) ? fabric.portBytesPerNs() : fabric.uplinkBytesPerNs();
    return profile == null ? full : full * profile.shareAt(atNs);
  }

  /** How much a link could have carried until then, bytes. */
  public double capacityBytes(int link, double untilNs) {
    RateProfile profile = profiles[link];
    double ns = profile == null ? untilNs : profile.integralNs(untilNs);
    return ns * (fabric.isPort(link) ? fabric.portBytesPerNs() : fabric.uplinkBytesPerNs());
  }
}
