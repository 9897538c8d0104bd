package io.heddle.bridge;

import io.heddle.bridge.peer.Role;
import io.heddle.bridge.status.DropReason;
import org.jspecify.annotations.Nullable;

/**
 * Whether this bridge forwards a group's packets, by when they came: those that came while it owned
 * the group. So what lies in a socket's queue at a hand-over is forwarded by one of both bridges
 * and not by two.
 *
 * <p>A device tells the time of a packet's coming within bounds only. An owner that stops takes a
 * packet for as late as it may have come, and one that begins for as early. So a packet in doubt is
 * forwarded by neither, and counted. Immutable.
 */
final class Turn {
  /** A bridge that is alone forwards everything. */
  static final Turn ALWAYS = new Turn(Role.OWNER, 0, 0, 0);

  /** What a bridge begins with that isn't alone. */
  static final Turn NOT_YET = new Turn(Role.NO_OWNER, 0, 0, 0);

  /* After so long nothing waits in a socket's queue, and the system's clock needn't be trusted. */
  private static final long WINDOW_NS = 1_000_000_000;

  private final Role role;
  /* Since when it owns the group, or doesn't any more. */
  private final long movedNs;
  /* Since when it has the role. */
  private final long sinceNs;
  private final long windowNs;

  private Turn(Role role, long movedNs, long sinceNs, long windowNs) {
    this.role = role;
    this.movedNs = movedNs;
    this.sinceNs = sinceNs;
    this.windowNs = windowNs;
  }

  /**
   * The turn that begins now, after another one.
   *
   * @param role in it
   * @return the one before where nothing changes
   */
  static Turn after(Turn before, Role role, long nowNs) {
    if (before.role == role) {
      return before;
    }
    boolean moves = before.role == Role.OWNER || role == Role.OWNER;
    return moves
        ? new Turn(role, nowNs, nowNs, WINDOW_NS)
        : new Turn(role, before.movedNs, nowNs, before.windowNs);
  }

  Role role() {
    return role;
  }

  /**
   * What speaks against a packet; null for nothing. On the data path.
   *
   * @param notBeforeNs the earliest time at which it may have come
   * @param notAfterNs the latest one
   */
  @Nullable DropReason against(long notBeforeNs, long notAfterNs, long nowNs) {
    boolean settled = windowNs == 0 || nowNs - movedNs >= windowNs;
    if (role == Role.OWNER) {
      return settled || notBeforeNs - movedNs >= 0 ? null : DropReason.NO_OWNER;
    }
    if (!settled && notAfterNs - movedNs < 0) {
      return null;
    }
    /* Nobody owned what came before the other bridge was heard to. */
    boolean early = !settled && notBeforeNs - sinceNs < 0;
    return role == Role.STANDBY && !early ? DropReason.STANDBY : DropReason.NO_OWNER;
  }
}
