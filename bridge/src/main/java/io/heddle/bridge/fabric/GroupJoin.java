package io.heddle.bridge.fabric;

import io.heddle.bridge.group.GroupAddress;
import io.heddle.platform.HeddleException;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * How the network learns that a port of libibverbs takes a group: its queue pair alone is no member
 * that a switch knows. Ethernet knows receivers alone; on InfiniBand senders join too. The control
 * thread's.
 */
interface GroupJoin extends AutoCloseable {
  /** By what, for people. */
  String describe();

  /** The partition that groups are joined in. */
  default int partitionKey() {
    return DeviceContext.DEFAULT_PARTITION;
  }

  /**
   * Becomes a member that receives, and stays one. A group that is named otherwise than before is
   * left under its name of before.
   *
   * @throws HeddleException where it isn't allowed to
   */
  GroupRoute join(GroupAddress group);

  void leave(Gid group);

  /** Becomes a member that only sends; each call counts. */
  default GroupRoute joinToSend(GroupAddress group) {
    return GroupRoute.ofEthernet(group.address());
  }

  /** Takes one {@link #joinToSend} back. */
  default void leaveToSend(GroupAddress group) {}

  /** The route of a joined group since the last look; null where it isn't joined. */
  default @Nullable GroupRoute routeOf(Gid group) {
    return GroupRoute.ofEthernet(group);
  }

  /** The same of one that is joined to send. */
  default @Nullable GroupRoute routeToSend(GroupAddress group) {
    return GroupRoute.ofEthernet(group.address());
  }

  /** What has become of the memberships: what is wrong, in words; empty for nothing. */
  String look();

  @Override
  void close();
}
