package io.heddle.bridge;

import io.heddle.bridge.fabric.FabricPort;
import io.heddle.bridge.fabric.SendPath;
import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.multicast.GroupSettings;
import io.heddle.bridge.pgm.PgmObserver;
import io.heddle.bridge.pgm.PgmSessions;
import io.heddle.bridge.status.StatusFile;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.NearestName;
import io.heddle.verbs.Gid;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Set of the groups that the bridge forwards: it joins and leaves them in the fabrics, and assigns
 * their slots of the status file. Used on the control path under the bridge's lock, or before the
 * bridge runs.
 */
final class BridgedGroups {
  private final Arena arena;
  private final List<FabricPort> fabrics;
  private final StatusFile status;
  private final Log log;
  private final Map<Gid, BridgedGroup> groups = new LinkedHashMap<>();
  private final Rates rates = new Rates();
  private final BridgeFaults faults;
  /* Created for the first group that carries PGM. */
  private @Nullable PgmSessions pgm;

  /**
   * @param lock guards this set
   */
  BridgedGroups(
      Arena arena, List<FabricPort> fabrics, StatusFile status, ReentrantLock lock, Log log) {
    this.arena = arena;
    this.fabrics = fabrics;
    this.status = status;
    this.log = log;
    faults = new BridgeFaults(lock, groups.values(), status, log);
  }

  BridgeFaults faults() {
    return faults;
  }

  /** Returns the groups by address, in the order of the configuration; a live view. */
  Map<Gid, BridgedGroup> all() {
    return groups;
  }

  /** Returns the observed PGM sessions; null if no group ever carried PGM. */
  @Nullable PgmSessions pgm() {
    return pgm;
  }

  /** Opens the groups of the first configuration. */
  void open(List<GroupSettings> settings) {
    for (GroupSettings each : settings) {
      groups.put(each.address(), open(each));
    }
  }

  private BridgedGroup open(GroupSettings settings) {
    int slot = status.open(settings.name(), settings.describe());
    try {
      join(settings);
      status.setPgm(slot, settings.pgm());
      return bridged(settings, slot);
    } catch (RuntimeException refused) {
      leave(settings);
      status.release(slot);
      throw refused;
    }
  }

  private BridgedGroup bridged(GroupSettings settings, int slot) {
    long[] counters = status.counters(slot);
    @Nullable LimitedFlow[] flows = new LimitedFlow[2];
    for (int side = 0; side < 2; side++) {
      if (settings.direction().goesFrom(1 - side)) {
        SendPath sendPath = fabrics.get(side).sendPathTo(settings.where(), settings.trafficClass());
        flows[side] =
            new LimitedFlow(
                side, sendPath, settings.limit(), counters[1 - side], System.nanoTime());
      }
    }
    return faults.keep(
        new BridgedGroup(settings, slot, flows, counters, observer(settings, slot, counters)));
  }

  private @Nullable PgmObserver observer(GroupSettings settings, int slot, long[] counters) {
    if (!settings.pgm()) {
      return null;
    }
    if (pgm == null) {
      pgm = new PgmSessions(arena, status.pgmSessions());
    }
    return new PgmObserver(pgm, slot, counters);
  }

  /* Joins a group in the fabrics that its packets come from. */
  private void join(GroupSettings settings) {
    for (int side = 0; side < 2; side++) {
      if (settings.direction().goesFrom(side)) {
        fabrics.get(side).join(settings.where());
      }
    }
  }

  private void leave(GroupSettings settings) {
    for (FabricPort each : fabrics) {
      each.leave(settings.address());
    }
  }

  /**
   * Opens the groups of another configuration, for {@link #replace}. Unchanged groups stay the same
   * objects, and suspended ones are renewed.
   *
   * @throws HeddleException if a group can't be joined; the present groups then stay as they are
   */
  Map<Gid, BridgedGroup> prepare(List<GroupSettings> next) {
    Map<Gid, BridgedGroup> then = new LinkedHashMap<>();
    List<BridgedGroup> opened = new ArrayList<>();
    List<BridgedGroup> renewed = new ArrayList<>();
    try {
      for (GroupSettings each : next) {
        BridgedGroup old = groups.get(each.address());
        BridgedGroup group = old;
        if (old == null) {
          group = open(each);
          opened.add(group);
        } else if (!old.settings().equals(each) || old.isSuspended()) {
          join(each);
          group = bridged(each, old.slot());
          renewed.add(group);
        }
        then.put(each.address(), Objects.requireNonNull(group));
      }
    } catch (RuntimeException refused) {
      opened.forEach(this::close);
      renewed.forEach(each -> each.retirePaths(fabrics));
      groups.values().forEach(each -> restore(each, refused));
      throw refused;
    }
    return then;
  }

  /*
   * Joins a group again with its old settings: a failed reload may have joined it under another
   * MGID.
   */
  private void restore(BridgedGroup group, RuntimeException refused) {
    try {
      join(group.settings());
    } catch (RuntimeException again) {
      refused.addSuppressed(again);
    }
    leaveUnusedSides(group);
  }

  /** Returns the present groups that {@code then} replaces or doesn't have. */
  List<BridgedGroup> retiredBy(Map<Gid, BridgedGroup> then) {
    return groups.values().stream()
        .filter(each -> then.get(each.settings().address()) != each)
        .toList();
  }

  /** Replaces the groups. The data thread must no longer use the retired ones. */
  void replace(Map<Gid, BridgedGroup> then) {
    retiredBy(then).forEach(old -> finish(old, then.get(old.settings().address())));
    groups.clear();
    groups.putAll(then);
  }

  /* Frees a retired group, or passes its slot to its replacement. */
  private void finish(BridgedGroup old, @Nullable BridgedGroup heir) {
    old.retirePaths(fabrics);
    if (heir == null) {
      close(old);
      return;
    }
    leaveUnusedSides(heir);
    status.describe(heir.slot(), heir.settings().describe());
    status.setPgm(heir.slot(), heir.pgm() != null);
    status.suspend(heir.slot(), false);
  }

  private void leaveUnusedSides(BridgedGroup group) {
    for (int side = 0; side < 2; side++) {
      if (!group.direction().goesFrom(side)) {
        fabrics.get(side).leave(group.settings().address());
      }
    }
  }

  private void close(BridgedGroup group) {
    leave(group.settings());
    faults.forget(group);
    rates.forget(group.slot());
    status.release(group.slot());
  }

  /** Updates the rates of all groups, and of another slot unless it is negative. */
  void updateRates(int otherSlot) {
    groups.values().forEach(each -> rates.update(each.slot(), each.counters()));
    if (otherSlot >= 0) {
      rates.update(otherSlot, status.counters(otherSlot));
    }
  }

  /** Reports the groups that the storm guard has suspended since the last call. */
  void reportSuspensions() {
    for (BridgedGroup each : groups.values()) {
      if (each.isSuspended() && each.takeFirstReport()) {
        String error =
            "storm-guard: group "
                + each.settings().name()
                + " is suspended: "
                + BridgedGroup.MOST_COPIES
                + " packets came back within a second, so another bridge joins the same fabrics;"
                + " end it, or name its addresses as [peer] here, and reload this bridge";
        status.suspend(each.slot(), true);
        status.report(error);
        log.warn("%s", error);
      }
    }
  }

  /**
   * Returns the address of the group with an operator's name.
   *
   * @param name the group's address, with or without the port, such as {@code 239.1.1.1:4711}
   * @throws HeddleException if no group has this name; the message suggests the most similar one
   */
  static Gid addressOf(Collection<BridgedGroup> groups, String name) {
    for (BridgedGroup each : groups) {
      Gid address = each.settings().address();
      if (name.equals(each.settings().name()) || name.equals(address.toString())) {
        return address;
      }
    }
    List<String> names = groups.stream().map(each -> each.settings().name()).toList();
    throw new HeddleException(
        "no group is named "
            + name
            + NearestName.suggestion(name, names)
            + "; heddle bridge show lists them");
  }
}
