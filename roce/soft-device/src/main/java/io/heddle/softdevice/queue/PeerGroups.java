package io.heddle.softdevice.queue;

import io.heddle.roce.transport.requester.PeerGroup;
import io.heddle.verbs.ReadyToSendAttributes;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/** Groups of a device's queue pairs to the same peer. Guarded by the control path's monitor. */
final class PeerGroups {
  private final Long2ObjectHashMap<PeerGroup> groups = new Long2ObjectHashMap<>();

  /**
   * Returns the group of this peer, with the caller as a new user; or null for {@link
   * ReadyToSendAttributes#NO_PEER_GROUP}. The caller must call {@link #release} when it changes its
   * group or is closed.
   */
  @Nullable PeerGroup join(long peer) {
    if (peer == ReadyToSendAttributes.NO_PEER_GROUP) {
      return null;
    }
    PeerGroup found = groups.computeIfAbsent(peer, number -> new PeerGroup());
    found.addUser();
    return found;
  }

  void release(@Nullable PeerGroup group) {
    if (group != null && group.removeUser()) {
      groups.values().remove(group);
    }
  }
}
