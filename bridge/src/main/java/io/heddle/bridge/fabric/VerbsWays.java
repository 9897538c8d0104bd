package io.heddle.bridge.fabric;

import io.heddle.bridge.group.GroupAddress;
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
 * The ways of a port of libibverbs: they follow its table of addresses, groups' LIDs, and paths to
 * hosts of InfiniBand. A way that can't be used has no handle, and what goes by it is dropped.
 */
final class VerbsWays {
  private static final int NO_INDEX = -1;

  private final VerbsQueueSet queues;
  private final @Nullable SubnetHosts hosts;
  private final Function<VerbsWay, @Nullable AddressHandleAttributes> ofGroup;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Ends, VerbsWay> toHosts = new ConcurrentHashMap<>();
  private final Set<VerbsWay> all = new HashSet<>();
  private GidTable table;
  /* Not in use any more; packets that left by them may be on their way for a look after this one. */
  private List<AddressHandle> retiring = new ArrayList<>();
  private List<AddressHandle> retired = new ArrayList<>();

  private record Ends(Gid source, Gid destination) {}

  /**
   * @param hosts of InfiniBand; null on Ethernet
   * @param table of the port's addresses
   * @param ofGroup what packets to a group leave by now; null for what they did
   */
  VerbsWays(
      VerbsQueueSet queues,
      @Nullable SubnetHosts hosts,
      GidTable table,
      Function<VerbsWay, @Nullable AddressHandleAttributes> ofGroup) {
    this.queues = queues;
    this.hosts = hosts;
    this.table = table;
    this.ofGroup = ofGroup;
    if (hosts != null) {
      hosts.whenChanged(this::followHosts);
    }
  }

  private VerbsWay way(
      AddressHandleAttributes attributes, int mtuBytes, @Nullable GroupAddress group, Gid host) {
    AddressHandle handle = queues.handle(attributes);
    lock.lock();
    try {
      int index = table.indexOf(attributes.localGid()).orElse(NO_INDEX);
      VerbsWay way = new VerbsWay(attributes, handle, index, mtuBytes, group, host);
      all.add(way);
      if (group == null && hosts != null) {
        /* Its path may have changed in the meantime. */
        follow(way);
      }
      return way;
    } finally {
      lock.unlock();
    }
  }

  /** One to a group. */
  VerbsWay toGroup(AddressHandleAttributes attributes, GroupAddress group) {
    return way(attributes, VerbsWay.ANY_MTU, group, group.address());
  }

  /**
   * One to a host. The device may ask the network for the host's link address. Each stays until the
   * end.
   *
   * @throws HeddleException where no path to a host of InfiniBand is known
   */
  VerbsWay toHost(Gid source, Gid destination, int trafficClass, int hops) {
    return toHosts.computeIfAbsent(
        new Ends(source, destination),
        ends -> {
          if (hosts == null) {
            return way(
                new AddressHandleAttributes(source, destination, trafficClass, 0, hops),
                VerbsWay.ANY_MTU,
                null,
                destination);
          }
          HostPath path = hosts.pathTo(destination);
          if (path == null) {
            throw new HeddleException("no path is known");
          }
          return way(path.attributes(trafficClass), path.mtuBytes(), null, destination);
        });
  }

  /** The same where it is made already; null where it isn't. */
  @Nullable VerbsWay ready(Gid source, Gid destination) {
    return toHosts.get(new Ends(source, destination));
  }

  /** Forgets one; false where it is none. */
  boolean forget(VerbsWay way) {
    lock.lock();
    try {
      boolean was = all.remove(way);
      if (was) {
        retire(way);
      }
      return was;
    } finally {
      lock.unlock();
    }
  }

  private void retire(VerbsWay way) {
    AddressHandle old = way.handle();
    if (old != null) {
      retiring.add(old);
    }
  }

  /** One look: an address that has moved in the port's table takes its ways with it. */
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
      all.stream().filter(VerbsWay::toHost).forEach(this::follow);
    } finally {
      lock.unlock();
    }
  }

  private void follow(VerbsWay way) {
    AddressHandleAttributes before = way.attributes();
    AddressHandleAttributes by = before;
    int mtuBytes = VerbsWay.ANY_MTU;
    if (way.group() != null) {
      AddressHandleAttributes other = ofGroup.apply(way);
      by = other == null ? before : other;
    } else if (hosts != null) {
      HostPath path = hosts.pathTo(way.host());
      if (path == null) {
        retire(way);
        way.pause();
        return;
      }
      by = path.attributes(before.trafficClass());
      mtuBytes = path.mtuBytes();
    }
    int index = table.indexOf(by.localGid()).orElse(way.gidIndex());
    boolean same = index == way.gidIndex() && by.equals(before) && mtuBytes == way.mtuBytes();
    if (way.handle() == null || !same) {
      if (hosts != null && way.toHost()) {
        /* Nothing goes where the host was, even if the device refuses the other way. */
        retire(way);
        way.pause();
      }
      AddressHandle next = queues.handle(by);
      retire(way);
      way.use(by, next, index, mtuBytes);
    }
  }
}
