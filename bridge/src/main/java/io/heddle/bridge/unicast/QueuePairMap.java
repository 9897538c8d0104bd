package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Assignment of the bridge's queue pairs to remote queue pairs. When one queue pair on a device
 * communicates with two of one remote host, the bridge needs two to distinguish them. Used by the
 * data thread only.
 */
final class QueuePairMap {
  static final int NONE = Conversations.NONE;

  /** The port of the other host isn't known. */
  static final int NO_PORT = NONE - 1;

  private final MappedEnd[] ends;
  private final Conversations conversations;
  /*
   * By the fabric of the bridge's queue pairs: assignments at the address of a remote host, or to a
   * port of that fabric where packets name no hosts.
   */
  private final List<Map<Gid, QueuePairAssignments>> hosts =
      List.of(new HashMap<>(), new HashMap<>());

  QueuePairMap(MappedEnd[] ends, Conversations conversations) {
    this.ends = ends.clone();
    this.conversations = conversations;
  }

  /* Returns the key of the assignments; null if the port of the near host isn't known. */
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
   * Returns the client and server of a service; null if packets name their hosts. Where they don't,
   * the assignments of one port distinguish services of the same number by these hosts.
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
   * Adds the conversation of a packet that names no hosts.
   *
   * @param side the fabric that it came from, 0 for a
   * @param port of its sender
   * @param index of the bridge's queue pair that it was sent to
   * @param number of its sender
   * @return the slot, as {@link #begin} returns it
   */
  int beginAt(int side, Gid port, int index, int number, long nowNs) {
    QueuePairAssignments by = hosts.get(side).get(port);
    HostPair between = by == null ? null : by.endpointsOf(index);
    /* The client may have moved to another port since. */
    return between == null || !port.equals(ends[side].portOf(between.source()))
        ? NONE
        : begin(side, between, index, number, nowNs);
  }

  /**
   * Adds the conversation of a packet.
   *
   * @param side the fabric that it came from, 0 for a
   * @param between its sender, and its destination in the other fabric
   * @param index of the bridge's queue pair that it was sent to
   * @param number of its sender
   * @return the slot; {@link #NONE} if the queue pair it was sent to is unassigned, or all those of
   *     the other fabric are assigned; {@link #NO_PORT}
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

  /* They may have begun through another queue pair of the bridge. */
  private int findByNumbers(int side, HostPair between, Gid key, int number, int far) {
    int other = 1 - side;
    if (!ends[other].isDevice()) {
      HostPair back = new HostPair(between.destination(), between.source());
      return conversations.find(other, back, number, far);
    }
    int place = NONE;
    for (int i = 0; i < ends[side].queuePairs() && place == NONE; i++) {
      place = find(side, between, key, i, number);
      if (place != NONE
          && (conversations.number(other, place) != far
              || !conversations.host(other, place).equals(between.destination()))) {
        place = NONE;
      }
    }
    return place;
  }

  /*
   * Returns a queue pair of the bridge that can represent a number of the remote host to this one.
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
   * @param side the fabric whose hosts use it, 0 for a
   * @param between the client, and the server in the other fabric
   * @return its index; {@link #NONE} if all are assigned
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
