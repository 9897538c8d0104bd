package io.heddle.bridge.verbs;

import io.heddle.bridge.infiniband.HostPath;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Table of the paths of a libibverbs port. It updates them when the port's GID table, the LID of a
 * group, or the path record of an InfiniBand host changes. A path that can't be used has no handle,
 * and its packets are dropped.
 */
final class VerbsSendPaths {
  private static final int NO_INDEX = -1;

  private final VerbsQueueSet queues;
  private final @Nullable SubnetHosts hosts;
  private final Function<VerbsSendPath, @Nullable AddressHandleAttributes> ofGroup;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Ends, VerbsSendPath> toHosts = new ConcurrentHashMap<>();
  private final Set<VerbsSendPath> all = new HashSet<>();
  private GidTable table;
  /*
   * Handles replaced since the last check. Packets that were sent with them may still be in flight,
   * so the next check only moves them to {@code retired}.
   */
  private List<AddressHandle> retiring = new ArrayList<>();
  /* Handles that the next check closes. */
  private List<AddressHandle> retired = new ArrayList<>();

  private record Ends(Gid source, Gid destination) {}

  /**
   * @param hosts hosts of the InfiniBand subnet; null on Ethernet
   * @param table GID table of the port
   * @param ofGroup returns the current attributes of a group's path; null for unchanged ones
   */
  VerbsSendPaths(
      VerbsQueueSet queues,
      @Nullable SubnetHosts hosts,
      GidTable table,
      Function<VerbsSendPath, @Nullable AddressHandleAttributes> ofGroup) {
    this.queues = queues;
    this.hosts = hosts;
    this.table = table;
    this.ofGroup = ofGroup;
    if (hosts != null) {
      hosts.onChange(this::followHosts);
    }
  }

  private VerbsSendPath sendPath(
      AddressHandleAttributes attributes, int mtuBytes, @Nullable GroupAddress group, Gid host) {
    AddressHandle handle = queues.handle(attributes);
    lock.lock();
    try {
      int index = table.indexOf(attributes.localGid()).orElse(NO_INDEX);
      VerbsSendPath sendPath = new VerbsSendPath(attributes, handle, index, mtuBytes, group, host);
      all.add(sendPath);
      if (group == null && hosts != null) {
        /* The host's path record may have changed since the attributes were read. */
        follow(sendPath);
      }
      return sendPath;
    } finally {
      lock.unlock();
    }
  }

  /** Creates a path to a group. */
  VerbsSendPath toGroup(AddressHandleAttributes attributes, GroupAddress group) {
    return sendPath(attributes, VerbsSendPath.ANY_MTU, group, group.address());
  }

  /**
   * Returns the path to a host. The device may resolve the host's link address. The path exists
   * until the port is closed.
   *
   * @throws HeddleException if no path record of an InfiniBand host is known
   */
  VerbsSendPath toHost(Gid source, Gid destination, int trafficClass, int hops) {
    return toHosts.computeIfAbsent(
        new Ends(source, destination),
        ends -> {
          if (hosts == null) {
            return sendPath(
                new AddressHandleAttributes(source, destination, trafficClass, 0, hops),
                VerbsSendPath.ANY_MTU,
                null,
                destination);
          }
          HostPath path = hosts.pathTo(destination);
          if (path == null) {
            throw new HeddleException("no path is known");
          }
          return sendPath(path.attributes(trafficClass), path.mtuBytes(), null, destination);
        });
  }

  /** Returns the path that {@link #toHost} has created; null if it hasn't. */
  @Nullable VerbsSendPath ready(Gid source, Gid destination) {
    return toHosts.get(new Ends(source, destination));
  }

  /** Forgets a path; returns false if it is unknown. */
  boolean forget(VerbsSendPath sendPath) {
    lock.lock();
    try {
      boolean was = all.remove(sendPath);
      if (was) {
        retire(sendPath);
      }
      return was;
    } finally {
      lock.unlock();
    }
  }

  private void retire(VerbsSendPath sendPath) {
    AddressHandle old = sendPath.handle();
    if (old != null) {
      retiring.add(old);
    }
  }

  /**
   * Adopts the port's current GID table: paths whose source address has another index get new
   * handles.
   */
  void follow(GidTable now) {
    lock.lock();
    try {
      table = now;
      retired.forEach(AddressHandle::close);
      retired = retiring;
      retiring = new ArrayList<>();
      all.forEach(this::follow);
    } finally {
      lock.unlock();
    }
  }

  private void followHosts() {
    lock.lock();
    try {
      all.stream().filter(VerbsSendPath::toHost).forEach(this::follow);
    } finally {
      lock.unlock();
    }
  }

  private void follow(VerbsSendPath sendPath) {
    AddressHandleAttributes before = sendPath.attributes();
    AddressHandleAttributes by = before;
    int mtuBytes = VerbsSendPath.ANY_MTU;
    if (sendPath.group() != null) {
      AddressHandleAttributes other = ofGroup.apply(sendPath);
      by = other == null ? before : other;
    } else if (hosts != null) {
      HostPath path = hosts.pathTo(sendPath.host());
      if (path == null) {
        retire(sendPath);
        sendPath.pause();
        return;
      }
      by = path.attributes(before.trafficClass());
      mtuBytes = path.mtuBytes();
    }
    int index = table.indexOf(by.localGid()).orElse(sendPath.gidIndex());
    boolean same =
        index == sendPath.gidIndex() && by.equals(before) && mtuBytes == sendPath.mtuBytes();
    if (sendPath.handle() == null || !same) {
      if (hosts != null && sendPath.toHost()) {
        /*
         * No packet may be sent to the host's previous port, even if the device refuses the new
         * path.
         */
        retire(sendPath);
        sendPath.pause();
      }
      AddressHandle next = queues.handle(by);
      retire(sendPath);
      sendPath.setHandle(by, next, index, mtuBytes);
    }
  }
}
