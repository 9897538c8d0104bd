package io.heddle.bridge.infiniband;

import io.heddle.bridge.multicast.GroupAddress;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Registration of group memberships with the network. Attaching a libibverbs queue pair to a group
 * doesn't announce the membership to switches. On Ethernet only receivers join; on InfiniBand
 * senders join too. Used by the control thread only.
 */
public interface GroupJoin extends AutoCloseable {
  /** Returns the method of joining, for people. */
  String describe();

  /** Returns the partition in which groups are joined. */
  default int partitionKey() {
    return DeviceContext.DEFAULT_PARTITION;
  }

  /**
   * Joins as a receiver, until {@link #leave}. If the group was joined with another MGID before,
   * that one is left.
   *
   * @throws HeddleException if the join is refused
   */
  GroupRoute join(GroupAddress group);

  void leave(Gid group);

  /** Joins as a sender only. Each call needs its own {@link #leaveToSend}. */
  default GroupRoute joinToSend(GroupAddress group) {
    return GroupRoute.ofEthernet(group.address());
  }

  /** Reverts one {@link #joinToSend}. */
  default void leaveToSend(GroupAddress group) {}

  /** Returns the current route of a joined group; null if it isn't joined. */
  default @Nullable GroupRoute routeOf(Gid group) {
    return GroupRoute.ofEthernet(group);
  }

  /** Returns the current route of a group joined to send; null if it isn't joined. */
  default @Nullable GroupRoute routeToSend(GroupAddress group) {
    return GroupRoute.ofEthernet(group.address());
  }

  /** Checks the memberships, and returns the fault in words; empty for none. */
  String check();

  @Override
  void close();
}
