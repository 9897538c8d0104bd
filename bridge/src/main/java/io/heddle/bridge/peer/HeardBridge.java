package io.heddle.bridge.peer;

import org.jspecify.annotations.Nullable;

/** Another bridge, by its beacons. */
public final class HeardBridge {
  private static final int SIDES = 2;
  private static final int BOTH = 3;
  private static final long NS_PER_MS = 1_000_000;

  private Beacon newest;
  private final boolean[] heard = new boolean[SIDES];
  private final long[] heardNs = new long[SIDES];
  private final long[] sequences = new long[SIDES];
  private int heardAtLook;

  HeardBridge(Beacon first) {
    newest = first;
  }

  public int id() {
    return newest.origin().id();
  }

  /** The newest of its beacons, by whichever fabric it came. */
  public Beacon newest() {
    return newest;
  }

  /* Takes a beacon, or says why not. */
  @Nullable BeaconFault hear(Beacon beacon, int side, long nowNs) {
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
    heardNs[side] = nowNs;
    sequences[side] = origin.sequence();
    return null;
  }

  /** After how much silence it counts as gone: 3.5 of its intervals. */
  public long holdNs() {
    return holdNs(newest.origin().intervalMs());
  }

  /** The same for any interval. */
  public static long holdNs(int intervalMs) {
    return intervalMs * NS_PER_MS * 7 / 2;
  }

  /** By which fabrics it is heard: bit 0 for a, bit 1 for b. */
  public int heardBy(long nowNs) {
    int fabrics = 0;
    for (int side = 0; side < SIDES; side++) {
      if (heard[side] && nowNs - heardNs[side] <= holdNs()) {
        fabrics |= 1 << side;
      }
    }
    return fabrics;
  }

  /** Whether it is there: it is heard by one fabric at least, and hasn't said that it leaves. */
  public boolean isAlive(long nowNs) {
    return heardBy(nowNs) != 0 && !newest.standing().leaving();
  }

  /** When it falls silent, unless it is heard again; only while it is alive. */
  long silentAtNs(long nowNs) {
    long last = heard[0] && (!heard[1] || heardNs[0] - heardNs[1] > 0) ? heardNs[0] : heardNs[1];
    return isAlive(nowNs) ? last + holdNs() : Long.MAX_VALUE;
  }

  /** How long ago a beacon came last. */
  public long sinceNs(long nowNs) {
    long since = Long.MAX_VALUE;
    for (int side = 0; side < SIDES; side++) {
      if (heard[side]) {
        since = Math.min(since, nowNs - heardNs[side]);
      }
    }
    return since;
  }

  /* What has changed since the last call; null for nothing. */
  @Nullable PeerChange look(long nowNs) {
    int before = heardAtLook;
    heardAtLook = newest.standing().leaving() ? 0 : heardBy(nowNs);
    return before == heardAtLook
        ? null
        : new PeerChange(id(), before, heardAtLook, newest.standing().leaving());
  }

  /** Whether both fabrics carry its beacons. */
  public boolean isHeardByBoth(long nowNs) {
    return heardBy(nowNs) == BOTH;
  }
}
