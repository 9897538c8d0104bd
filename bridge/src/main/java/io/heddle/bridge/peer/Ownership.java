package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Groups that this bridge owns. It gives up a group as soon as its view names another owner, and
 * announces the view only afterwards. It takes a group once every live bridge has announced the
 * same view and has acknowledged this bridge's newest change. So no bridge still owns the group
 * under an earlier view.
 *
 * <p>Views may change and change back. Each bridge echoes the change number, so that an old beacon
 * doesn't count as agreement.
 */
public final class Ownership {
  private final int self;
  private final long incarnation;
  private final Set<Gid> owned = new HashSet<>();
  private View view;
  private int change;
  private boolean settled;
  /* Configured groups when this bridge last settled; compared by identity. */
  private Collection<Gid> groups = Set.of();

  /**
   * @param self this bridge's number
   * @param incarnation of this bridge
   * @param view initial view
   */
  public Ownership(int self, long incarnation, View view) {
    this.self = self;
    this.incarnation = incarnation;
    this.view = view;
  }

  /**
   * Switches to another view, and gives up the groups that it assigns to others. The view may be
   * announced only after the data path has stopped forwarding those groups.
   *
   * @return false if the view is unchanged
   */
  public boolean adopt(View next) {
    if (next.digest() == view.digest()) {
      return false;
    }
    view = next;
    change++;
    settled = false;
    owned.removeIf(each -> next.ownerOf(each) != self);
    return true;
  }

  /** Gives up everything: the others may have declared this bridge gone, and taken over. */
  public void fence() {
    owned.clear();
    change++;
    settled = false;
  }

  /**
   * Returns whether all these bridges decide under this view, and have acknowledged that this one
   * does.
   */
  public boolean isAgreed(List<Beacon> alive) {
    return alive.stream().allMatch(each -> each.agrees(view.digest(), self, incarnation, change));
  }

  /**
   * Takes the groups that the view assigns to it, once the view is agreed.
   *
   * @param alive the newest beacon of each live bridge
   * @param configured groups that this bridge is configured for; the same object while they are
   *     unchanged, since there may be thousands
   * @return whether its groups have changed, or it has just settled
   */
  @SuppressWarnings("ReferenceEquality")
  public boolean settle(List<Beacon> alive, Collection<Gid> configured) {
    if (settled && configured == groups) {
      return false;
    }
    boolean changed = owned.retainAll(new HashSet<>(configured));
    if (!isAgreed(alive)) {
      return changed;
    }
    changed |= !settled;
    settled = true;
    groups = configured;
    for (Gid each : configured) {
      if (view.ownerOf(each) == self) {
        changed |= owned.add(each);
      }
    }
    return changed;
  }

  /** Returns whether it owns a group. */
  public boolean owns(Gid group) {
    return owned.contains(group);
  }

  /** Returns the number of groups that it owns. */
  public int size() {
    return owned.size();
  }

  /** Returns its role for a group, according to the beacons of the live bridges. */
  public Role roleOf(Gid group, List<Beacon> alive) {
    if (owned.contains(group)) {
      return Role.OWNER;
    }
    int owner = view.ownerOf(group);
    for (Beacon each : alive) {
      if (each.origin().id() == owner
          && each.agreement().view() == view.digest()
          && each.agreement().settled()) {
        return Role.STANDBY;
      }
    }
    return Role.NO_OWNER;
  }

  public View view() {
    return view;
  }

  /** Returns the agreement to announce in a beacon. */
  public Beacon.Agreement agreement(List<Beacon.Heard> heard) {
    return new Beacon.Agreement(change, view.digest(), settled, heard);
  }
}
