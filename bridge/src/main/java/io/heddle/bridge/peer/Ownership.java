package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Set of the groups that this bridge owns. The bridge gives up a group as soon as its view names
 * another owner, and announces the view only afterwards. It takes a group once every live bridge
 * has announced the same view and has acknowledged this bridge's newest change. So no bridge still
 * owns the group under an earlier view.
 *
 * <p>Views may change and change back. So each change has a number, which the other bridges echo: a
 * beacon that echoes an older number doesn't count as agreement.
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
   * @param incarnation this bridge's incarnation
   * @param view initial view
   */
  public Ownership(int self, long incarnation, View view) {
    this.self = self;
    this.incarnation = incarnation;
    this.view = view;
  }

  /**
   * Switches to another view, and gives up the groups that the view assigns to other bridges. The
   * view may be announced only after the data path has stopped forwarding those groups.
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

  /** Gives up all groups: the other bridges may have declared this one gone, and taken over. */
  public void fence() {
    owned.clear();
    change++;
    settled = false;
  }

  /**
   * Returns whether all live bridges decide by this bridge's view, and have acknowledged its newest
   * change.
   *
   * @param alive newest beacon of each other live bridge
   */
  public boolean isAgreed(List<Beacon> alive) {
    return alive.stream().allMatch(each -> each.agrees(view.digest(), self, incarnation, change));
  }

  /**
   * Takes the groups that the view assigns to this bridge, once all live bridges agree on the view.
   *
   * @param alive newest beacon of each other live bridge
   * @param configured groups that this bridge is configured for; the same object while they are
   *     unchanged, so that thousands of groups needn't be compared
   * @return whether the owned groups have changed, or this bridge has just settled
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

  /** Returns whether this bridge owns a group. */
  public boolean owns(Gid group) {
    return owned.contains(group);
  }

  /** Returns the number of groups that this bridge owns. */
  public int size() {
    return owned.size();
  }

  /**
   * Returns this bridge's role for a group.
   *
   * @param alive newest beacon of each other live bridge
   */
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
