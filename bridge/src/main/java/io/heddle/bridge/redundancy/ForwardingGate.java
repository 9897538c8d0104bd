package io.heddle.bridge.redundancy;

import io.heddle.bridge.peer.Role;
import io.heddle.bridge.status.DropReason;
import org.jspecify.annotations.Nullable;

/**
 * Gate of a group's packets by arrival time: this bridge forwards the packets that arrived while it
 * owned the group. So a packet in a socket's queue at a handover is forwarded by only one of the
 * two bridges.
 *
 * <p>A device reports a packet's arrival time only within bounds. The old owner uses the upper
 * bound, and the new owner the lower one. So a packet in doubt is forwarded by neither bridge, and
 * is counted as dropped. Immutable.
 */
public final class ForwardingGate {
  /** Gate of a single bridge, which forwards everything. */
  public static final ForwardingGate ALWAYS = new ForwardingGate(Role.OWNER, 0, 0, 0);

  /** Initial gate of a bridge with redundancy, which forwards nothing yet. */
  public static final ForwardingGate NOT_YET = new ForwardingGate(Role.NO_OWNER, 0, 0, 0);

  /*
   * Time after a change of ownership during which packets are compared by arrival time. Afterwards
   * no packet from before the change is left in a socket's queue, and an inaccurate system clock
   * does no harm.
   */
  private static final long WINDOW_NS = 1_000_000_000;

  private final Role role;
  /* Time when this bridge gained or lost the ownership of the group. */
  private final long movedNs;
  /* Time when this bridge entered the role. */
  private final long sinceNs;
  private final long windowNs;

  private ForwardingGate(Role role, long movedNs, long sinceNs, long windowNs) {
    this.role = role;
    this.movedNs = movedNs;
    this.sinceNs = sinceNs;
    this.windowNs = windowNs;
  }

  /**
   * Returns the gate after a change of role.
   *
   * @param role new role
   * @return the previous gate if nothing changes
   */
  public static ForwardingGate after(ForwardingGate before, Role role, long nowNs) {
    if (before.role == role) {
      return before;
    }
    boolean moves = before.role == Role.OWNER || role == Role.OWNER;
    return moves
        ? new ForwardingGate(role, nowNs, nowNs, WINDOW_NS)
        : new ForwardingGate(role, before.movedNs, nowNs, before.windowNs);
  }

  public Role role() {
    return role;
  }

  /**
   * Returns the reason to drop a packet; null for none. On the data path.
   *
   * @param notBeforeNs lower bound of the packet's arrival time
   * @param notAfterNs upper bound of the packet's arrival time
   */
  public @Nullable DropReason dropReason(long notBeforeNs, long notAfterNs, long nowNs) {
    boolean settled = windowNs == 0 || nowNs - movedNs >= windowNs;
    if (role == Role.OWNER) {
      return settled || notBeforeNs - movedNs >= 0 ? null : DropReason.NO_OWNER;
    }
    if (!settled && notAfterNs - movedNs < 0) {
      return null;
    }
    /* When this packet arrived, no bridge was known to own the group. */
    boolean early = !settled && notBeforeNs - sinceNs < 0;
    return role == Role.STANDBY && !early ? DropReason.STANDBY : DropReason.NO_OWNER;
  }
}
