package io.heddle.bridge;

import io.heddle.bridge.status.StatusFile;
import io.heddle.platform.Log;
import io.heddle.verbs.Gid;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Fault injection on an operator's order, to test how hosts react. The orders aren't saved, so a
 * restarted bridge has none. Thread-safe.
 */
public final class BridgeFaults {
  private final ReentrantLock lock;
  private final Collection<BridgedGroup> groups;
  private final StatusFile status;
  private final Log log;
  private final Map<Gid, Integer> dropEvery = new HashMap<>();

  /**
   * Result of an order.
   *
   * @param dropEvery one of this many packets is dropped in each direction from now on; 0 for none
   * @param groups number of affected groups
   * @param text description for people
   */
  public record Outcome(int dropEvery, int groups, String text) {}

  /**
   * @param lock guards the groups
   * @param groups live collection of the groups that are bridged now
   */
  BridgeFaults(ReentrantLock lock, Collection<BridgedGroup> groups, StatusFile status, Log log) {
    this.lock = lock;
    this.groups = groups;
    this.status = status;
    this.log = log;
  }

  /**
   * Drops some packets of a group on purpose, in each direction.
   *
   * @param every one of this many packets is dropped, at least 1; 0 drops no more
   * @param group name of the group; empty for all groups that are bridged now
   * @throws io.heddle.platform.HeddleException if no group has this name
   */
  public Outcome drop(int every, String group) {
    lock.lock();
    try {
      List<BridgedGroup> named = List.copyOf(groups);
      if (!group.isEmpty()) {
        Gid address = BridgedGroups.addressOf(groups, group);
        named = named.stream().filter(each -> each.settings().address().equals(address)).toList();
      }
      named.forEach(each -> dropEvery.put(each.settings().address(), every));
      named.forEach(this::keep);
      String whose = group.isEmpty() ? "every group" : "group " + group;
      String text =
          every == 0
              ? "fault injection for " + whose + " has ended"
              : "one of "
                  + every
                  + " packets of "
                  + whose
                  + " is dropped on purpose in each"
                  + " direction, until drop=off or the end of this bridge";
      log.info("%s", text);
      return new Outcome(every, named.size(), text);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Applies the current orders to a group, and returns it. Called under the lock, or before the
   * bridge runs.
   */
  BridgedGroup keep(BridgedGroup group) {
    int every = dropEvery.getOrDefault(group.settings().address(), 0);
    group.dropOneOf(every);
    status.dropOneOf(group.slot(), every);
    return group;
  }

  /** Forgets a removed group. Called under the lock. */
  void forget(BridgedGroup group) {
    dropEvery.remove(group.settings().address());
  }
}
