package io.heddle.bridge.peer;

import org.jspecify.annotations.Nullable;

/** Another bridge (the peer), as known from its beacons. */
public final class BridgePeer {
  private static final int SIDES = 2;
  private static final long NS_PER_MS = 1_000_000;

  private Beacon newest;
  private final boolean[] heard = new boolean[SIDES];
  private final long[] receivedNs = new long[SIDES];
  private final long[] sequences = new long[SIDES];
  private int fabricsAtLastCheck;

  BridgePeer(Beacon first) {
    newest = first;
  }

  public int id() {
    return newest.origin().id();
  }

  /** Returns the peer's newest beacon, from either fabric. */
  public Beacon newest() {
    return newest;
  }

  /* Receives a beacon, and returns the reason for its rejection; null if it is accepted. */
  @Nullable BeaconFault receive(Beacon beacon, int side, long nowNs) {
    Beacon.Origin origin = beacon.origin();
    long known = newest.origin().incarnation();
    if (origin.incarnation() < known
        || origin.incarnation() == known && heard[side] && origin.sequence() <= sequences[side]) {
      return BeaconFault.REPLAYED;
    }
    if (origin.incarnation() > known) {
      heard[0] = false;
      heard[1] = false;
      newest = beacon;
    } else if (origin.sequence() >= newest.origin().sequence()) {
      newest = beacon;
    }
    heard[side] = true;
    receivedNs[side] = nowNs;
    sequences[side] = origin.sequence();
    return null;
  }

  /**
   * Returns the silence in nanoseconds after which the peer counts as gone: 3.5 of its beacon
   * intervals.
   */
  public long holdNs() {
    return holdNs(newest.origin().intervalMs());
  }

  /** Returns the hold time in nanoseconds for a beacon interval. */
  public static long holdNs(int intervalMs) {
    return intervalMs * NS_PER_MS * 7 / 2;
  }

  /** Returns the fabrics on which the peer's beacons arrive: bit 0 for a, bit 1 for b. */
  public int receivedOn(long nowNs) {
    int fabrics = 0;
    for (int side = 0; side < SIDES; side++) {
      if (heard[side] && nowNs - receivedNs[side] <= holdNs()) {
        fabrics |= 1 << side;
      }
    }
    return fabrics;
  }

  /**
   * Returns whether the peer is alive: its beacons arrive on at least one fabric, and it isn't
   * leaving.
   */
  public boolean isAlive(long nowNs) {
    return receivedOn(nowNs) != 0 && !newest.standing().leaving();
  }

  /**
   * Returns the time when the peer's hold time ends unless another beacon arrives; {@link
   * Long#MAX_VALUE} if the peer isn't alive.
   */
  long silentAtNs(long nowNs) {
    long last =
        heard[0] && (!heard[1] || receivedNs[0] - receivedNs[1] > 0)
            ? receivedNs[0]
            : receivedNs[1];
    return isAlive(nowNs) ? last + holdNs() : Long.MAX_VALUE;
  }

  /** Returns the nanoseconds since the peer's last beacon. */
  public long sinceNs(long nowNs) {
    long since = Long.MAX_VALUE;
    for (int side = 0; side < SIDES; side++) {
      if (heard[side]) {
        since = Math.min(since, nowNs - receivedNs[side]);
      }
    }
    return since;
  }

  /*
   * Returns how the fabrics on which the peer's beacons arrive have changed since the last call;
   * null for no change.
   */
  @Nullable PeerChange takeChange(long nowNs) {
    int before = fabricsAtLastCheck;
    fabricsAtLastCheck = newest.standing().leaving() ? 0 : receivedOn(nowNs);
    return before == fabricsAtLastCheck
        ? null
        : new PeerChange(id(), before, fabricsAtLastCheck, newest.standing().leaving());
  }
}
