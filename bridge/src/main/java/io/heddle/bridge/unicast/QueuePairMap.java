package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Assignment of the bridge's queue pairs to remote queue pairs. When one queue pair on a device
 * communicates with two queue pairs of one remote host, two queue pairs of the bridge must
 * represent them. Used by the data thread only.
 */
final class QueuePairMap {
  static final int NONE = Conversations.NONE;

  /** Result if the other host's port on InfiniBand isn't known. */
  static final int NO_PORT = NONE - 1;

  private final MappedEnd[] ends;
  private final Conversations conversations;
  /*
   * By fabric of the bridge's queue pairs: assignments by remote host, or on InfiniBand by the
   * client's port.
   */
  private final List<Map<Gid, QueuePairAssignments>> hosts =
      List.of(new HashMap<>(), new HashMap<>());

  QueuePairMap(MappedEnd[] ends, Conversations conversations) {
    this.ends = ends.clone();
    this.conversations = conversations;
  }

  /*
   * Returns the key in the map of assignments; null if the near host's port on InfiniBand isn't
   * known.
   */
  private @Nullable Gid keyOf(int side, HostPair between) {
    return ends[side].identifiesHosts()
        ? between.destination()
        : ends[side].portOf(between.source());
  }

  private QueuePairAssignments host(int side, Gid key) {
    return hosts
        .get(side)
        .computeIfAbsent(key, unknown -> new QueuePairAssignments(ends[side].queuePairs()));
  }

  /*
   * Returns the client and server of a service on InfiniBand, where the assignments of one port
   * must distinguish services with the same number; null in other fabrics.
   */
  private @Nullable HostPair serviceOf(int side, HostPair between) {
    return ends[side].identifiesHosts() ? null : between;
  }

  private int find(int side, HostPair between, Gid key, int index, int number) {
    return ends[side].identifiesHosts()
        ? conversations.find(side, between, index, number)
        : conversations.findAt(side, key, index, number);
  }

  /**
   * Adds the conversation of a packet from InfiniBand, which contains no hosts' addresses.
   *
   * @param side fabric that the packet came from, 0 for a
   * @param port GID of the sender's port
   * @param index index of the bridge's queue pair that the packet was sent to
   * @param number number of the sending queue pair
   * @return slot of the conversation, as {@link #begin} returns it
   */
  int beginAt(int side, Gid port, int index, int number, long nowNs) {
    QueuePairAssignments by = hosts.get(side).get(port);
    HostPair between = by == null ? null : by.endpointsOf(index);
    /* The client may have moved to another port after the assignment. */
    return between == null || !port.equals(ends[side].portOf(between.source()))
        ? NONE
        : begin(side, between, index, number, nowNs);
  }

  /**
   * Adds the conversation of a packet.
   *
   * @param side fabric that the packet came from, 0 for a
   * @param between the sending host, and the receiving host in the other fabric
   * @param index index of the bridge's queue pair that the packet was sent to
   * @param number number of the sending queue pair
   * @return slot of the conversation; {@link #NONE} if the packet's destination queue pair is
   *     unassigned, or no queue pair in the other fabric is free; or {@link #NO_PORT}
   */
  int begin(int side, HostPair between, int index, int number, long nowNs) {
    QueuePairAssignments by = null;
    int far = index;
    int farKey = CmaHeader.QUEUE_KEY;
    Gid key = null;
    if (ends[side].isDevice()) {
      key = keyOf(side, between);
      by = key == null ? null : hosts.get(side).get(key);
      if (key == null || by == null || by.service(index) == QueuePairAssignments.NONE) {
        return NONE;
      }
      far = by.service(index);
      farKey = by.key(index);
      int known = findByNumbers(side, between, key, number, far);
      if (known != NONE) {
        return known;
      }
    }
    int other = 1 - side;
    HostPair back = new HostPair(between.destination(), between.source());
    QueuePairAssignments farAssignments = null;
    Gid otherKey = null;
    int farIndex = number;
    int nearKey = CmaHeader.QUEUE_KEY;
    if (ends[other].isDevice()) {
      otherKey = keyOf(other, back);
      if (otherKey == null) {
        return NO_PORT;
      }
      farAssignments = host(other, otherKey);
      farIndex = free(other, back, otherKey, far, number);
      if (farIndex == NONE) {
        return NONE;
      }
      if (farAssignments.isAssignedTo(farIndex, serviceOf(other, back), number)) {
        nearKey = farAssignments.key(farIndex);
      }
    }
    return conversations.add(
        side,
        between,
        new Conversations.End(number, index, nearKey, by, portOf(side, key)),
        new Conversations.End(far, farIndex, farKey, farAssignments, portOf(other, otherKey)),
        nowNs);
  }

  private @Nullable Gid portOf(int side, @Nullable Gid key) {
    return ends[side].identifiesHosts() ? null : key;
  }

  /*
   * Finds the conversation of two queue pairs, even if it began through another queue pair of the
   * bridge.
   */
  private int findByNumbers(int side, HostPair between, Gid key, int number, int far) {
    int other = 1 - side;
    if (!ends[other].isDevice()) {
      HostPair back = new HostPair(between.destination(), between.source());
      return conversations.find(other, back, number, far);
    }
    int slot = NONE;
    for (int i = 0; i < ends[side].queuePairs() && slot == NONE; i++) {
      slot = find(side, between, key, i, number);
      if (slot != NONE
          && (conversations.number(other, slot) != far
              || !conversations.host(other, slot).equals(between.destination()))) {
        slot = NONE;
      }
    }
    return slot;
  }

  /*
   * Returns the index of a queue pair of the bridge that can represent a remote queue pair (far) to
   * a queue pair of this host (number); NONE if there is none.
   */
  private int free(int side, HostPair between, Gid key, int number, int far) {
    QueuePairAssignments host = host(side, key);
    HostPair service = serviceOf(side, between);
    int free = NONE;
    for (int i = 0; i < ends[side].queuePairs(); i++) {
      boolean taken = find(side, between, key, i, number) != NONE;
      if (!taken && host.isAssignedTo(i, service, far)) {
        return i;
      }
      if (!taken && free == NONE && host.service(i) == QueuePairAssignments.NONE) {
        free = i;
      }
    }
    return free;
  }

  /**
   * Assigns a queue pair of the bridge to a service.
   *
   * @param side fabric of the client, 0 for a
   * @param between the client, and the server in the other fabric
   * @param number number of the service's queue pair
   * @param key queue key of the service's queue pair
   * @return index of the assigned queue pair; {@link #NONE} if none is free, or the client's port
   *     isn't known
   */
  int assign(int side, HostPair between, int number, int key, long nowNs) {
    Gid at = keyOf(side, between);
    return at == null
        ? NONE
        : host(side, at)
            .assign(serviceOf(side, between), number, key, nowNs, Conversations.IDLE_NS);
  }

  /** Removes all assignments and conversations. */
  void clear() {
    conversations.clear();
    hosts.forEach(Map::clear);
  }
}
