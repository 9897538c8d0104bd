package io.heddle.sim.links;

import org.jspecify.annotations.Nullable;

/**
 * First-in-first-out queues, one before each link of a fabric. For each link only the time at which
 * it becomes free is stored. With the known rate this time determines when the next chunk has
 * passed the link.
 */
public final class LinkQueues {
  /** Result of {@link #enqueue} for a chunk that the link drops. */
  public static final double LOST = -1;

  private final ClosFabric fabric;
  private final double portNsPerByte;
  private final double uplinkNsPerByte;
  private final double[] freeAtNs;
  private final long[] carriedBytes;
  private final @Nullable RateProfile[] profiles;
  private boolean areAllUnimpaired = true;

  public LinkQueues(ClosFabric fabric) {
    this.fabric = fabric;
    portNsPerByte = 1 / fabric.portBytesPerNs();
    uplinkNsPerByte = 1 / fabric.uplinkBytesPerNs();
    freeAtNs = new double[fabric.links()];
    carriedBytes = new long[fabric.links()];
    profiles = new RateProfile[fabric.links()];
  }

  /** Sets a link's rate profile, before anything is sent. */
  public void setProfile(int link, RateProfile profile) {
    profiles[link] = profile;
    areAllUnimpaired = false;
  }

  /** Returns whether a link carries traffic at a time. */
  public boolean isUp(int link, double atNs) {
    RateProfile profile = profiles[link];
    return profile == null || profile.shareAt(atNs) > 0;
  }

  /**
   * Returns the time in ns at which a link would begin to send a chunk that arrives at {@code
   * arrivesNs}.
   */
  public double beginNs(int link, double arrivesNs) {
    return Math.max(arrivesNs, freeAtNs[link]);
  }

  /**
   * Appends a chunk to a link's queue.
   *
   * @param arrivesNs arrival of the chunk's first packet, ns; calls for one link must be in order
   *     of time
   * @return time in ns at which the link has sent the whole chunk, if the chunk's packets arrive at
   *     least as fast as the link sends them; {@link #LOST} if a black hole drops it
   */
  public double enqueue(int link, double arrivesNs, int bytes) {
    double beginNs = beginNs(link, arrivesNs);
    double fullNs = bytes * (fabric.isPort(link) ? portNsPerByte : uplinkNsPerByte);
    double endNs = beginNs + fullNs;
    RateProfile profile = areAllUnimpaired ? null : profiles[link];
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

  /** Returns the number of bytes that a link has accepted so far. */
  public long carriedBytes(int link) {
    return carriedBytes[link];
  }

  /** Returns the rate of a link at a time, bytes per nanosecond. */
  public double bytesPerNs(int link, double atNs) {
    RateProfile profile = profiles[link];
    double full = fabric.isPort(link) ? fabric.portBytesPerNs() : fabric.uplinkBytesPerNs();
    return profile == null ? full : full * profile.shareAt(atNs);
  }

  /** Returns the number of bytes that a link could have carried until a time. */
  public double capacityBytes(int link, double untilNs) {
    RateProfile profile = profiles[link];
    double ns = profile == null ? untilNs : profile.integralNs(untilNs);
    return ns * (fabric.isPort(link) ? fabric.portBytesPerNs() : fabric.uplinkBytesPerNs());
  }
}
