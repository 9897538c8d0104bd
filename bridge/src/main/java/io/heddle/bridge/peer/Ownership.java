package io.heddle.bridge.peer;

import io.heddle.verbs.Gid;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which groups this bridge owns. It gives a group up as soon as its view names another owner, and
 * only then tells of that view. It takes a group once every bridge that is there has told the same
 * view, and has told that it heard of this one's newest change. So no bridge still owns it by a
 * view from before.
 *
 * <p>That each bridge echoes the change's number is what keeps an old beacon from counting: views
 * may change and change back.
 */
public final class Ownership {
  private final int self;
  private final long incarnation;
  private final Set<Gid> owned = new HashSet<>();
  private View view;
  private int change;
  private boolean settled;
  /* Those that it settled for last. */
  private Collection<Gid> groups = Set.of();

  /**
   * @param self the own number
   * @param incarnation the own one
   * @param view to begin with
   */
  public Ownership(int self, long incarnation, View view) {
    this.self = self;
    this.incarnation = incarnation;
    this.view = view;
  }

  /**
   * Decides under another view from now on, and gives up what that gives to others. They may be
   * told only when nothing of it is forwarded any more.
   *
   * @return false where the view is the one from before, and nothing changes
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

  /** Gives up everything: others may have taken it for gone, and taken over. */
  public void fence() {
    owned.clear();
    change++;
    settled = false;
  }

  /** Whether all these bridges decide under this view, and know that this one does. */
  public boolean isAgreed(List<Beacon> alive) {
    return alive.stream().allMatch(each -> each.agrees(view.digest(), self, incarnation, change));
  }

  /**
   * Takes what the view gives it, where that is agreed.
   *
   * @param alive the newest beacon of each bridge that is there
   * @param configured groups that this bridge is configured for; the same object where they are the
   *     same, since there may be thousands
   * @return whether it owns other groups than before, or has just settled
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

  /** Whether it owns a group. */
  public boolean owns(Gid group) {
    return owned.contains(group);
  }

  /** How many groups it owns. */
  public int size() {
    return owned.size();
  }

  /** What it does with a group, as far as the beacons of those that are there tell. */
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

  /** What a beacon says of it. */
  public Beacon.Agreement agreement(List<Beacon.Heard> heard) {
    return new Beacon.Agreement(change, view.digest(), settled, heard);
  }
}
