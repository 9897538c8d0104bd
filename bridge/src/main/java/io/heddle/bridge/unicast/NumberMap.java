package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which queue pair of the bridge stands for whom. A host behind a device whose queue pair talks to
 * two of one far host needs two of the bridge's to tell them by. The data thread's.
 */
final class NumberMap {
  static final int NONE = Conversations.NONE;

  /** It isn't known at which port the other host is. */
  static final int NO_PORT = NONE - 1;

  private final MappedEnd[] ends;
  private final Conversations conversations;
  /*
   * By the fabric that the bridge's queue pairs are in: what they stand for at the address of a far
   * host, or to a port of that fabric where packets name no hosts.
   */
  private final List<Map<Gid, HostNumbers>> hosts = List.of(new HashMap<>(), new HashMap<>());

  NumberMap(MappedEnd[] ends, Conversations conversations) {
    this.ends = ends.clone();
    this.conversations = conversations;
  }

  /* Null where it isn't known at which port the near host is. */
  private @Nullable Gid keyOf(int side, Hosts between) {
    return ends[side].namesHosts() ? between.destination() : ends[side].portOf(between.source());
  }

  private HostNumbers host(int side, Gid key) {
    return hosts
        .get(side)
        .computeIfAbsent(key, unknown -> new HostNumbers(ends[side].queuePairs()));
  }

  /* What tells a service from others of its number; null where its host is named. */
  private @Nullable Hosts serviceOf(int side, Hosts between) {
    return ends[side].namesHosts() ? null : between;
  }

  private int find(int side, Hosts between, Gid key, int index, int number) {
    return ends[side].namesHosts()
        ? conversations.find(side, between, index, number)
        : conversations.findAt(side, key, index, number);
  }

  /**
   * Enters the conversation that a packet begins which names no hosts.
   *
   * @param side the fabric that it came from, 0 for a
   * @param port of its sender
   * @param index of the bridge's number that it came to
   * @param number of its sender
   * @return the place, as {@link #begin} has it
   */
  int beginAt(int side, Gid port, int index, int number, long nowNs) {
    HostNumbers by = hosts.get(side).get(port);
    Hosts between = by == null ? null : by.asked(index);
    /* Whoever asked may be at another port by now. */
    return between == null || !port.equals(ends[side].portOf(between.source()))
        ? NONE
        : begin(side, between, index, number, nowNs);
  }

  /**
   * Enters the conversation that a packet begins.
   *
   * @param side the fabric that it came from, 0 for a
   * @param between its sender, and the host of the other fabric that it is for
   * @param index of the bridge's number that it came to
   * @param number of its sender
   * @return the place; {@link #NONE} where it came to a queue pair that stands for nobody, or all
   *     of the other fabric stand for others; {@link #NO_PORT}
   */
  int begin(int side, Hosts between, int index, int number, long nowNs) {
    HostNumbers by = null;
    int far = index;
    int farKey = CmaHeader.QUEUE_KEY;
    Gid key = null;
    if (ends[side].isDevice()) {
      key = keyOf(side, between);
      by = key == null ? null : hosts.get(side).get(key);
      if (key == null || by == null || by.service(index) == HostNumbers.NONE) {
        return NONE;
      }
      far = by.service(index);
      farKey = by.key(index);
      int known = ofNumbers(side, between, key, number, far);
      if (known != NONE) {
        return known;
      }
    }
    int other = 1 - side;
    Hosts back = new Hosts(between.destination(), between.source());
    HostNumbers standIns = null;
    Gid otherKey = null;
    int standIn = number;
    int nearKey = CmaHeader.QUEUE_KEY;
    if (ends[other].isDevice()) {
      otherKey = keyOf(other, back);
      if (otherKey == null) {
        return NO_PORT;
      }
      standIns = host(other, otherKey);
      standIn = free(other, back, otherKey, far, number);
      if (standIn == NONE) {
        return NONE;
      }
      if (standIns.serves(standIn, serviceOf(other, back), number)) {
        nearKey = standIns.key(standIn);
      }
    }
    return conversations.add(
        side,
        between,
        new Conversations.End(number, index, nearKey, by, portOf(side, key)),
        new Conversations.End(far, standIn, farKey, standIns, portOf(other, otherKey)),
        nowNs);
  }

  private @Nullable Gid portOf(int side, @Nullable Gid key) {
    return ends[side].namesHosts() ? null : key;
  }

  /* They may have begun by another queue pair of the bridge's. */
  private int ofNumbers(int side, Hosts between, Gid key, int number, int far) {
    int other = 1 - side;
    if (!ends[other].isDevice()) {
      Hosts back = new Hosts(between.destination(), between.source());
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

  /* Which of the bridge's may stand for a number of the far host, where this one talks to it. */
  private int free(int side, Hosts between, Gid key, int number, int far) {
    HostNumbers host = host(side, key);
    Hosts service = serviceOf(side, between);
    int free = NONE;
    for (int i = 0; i < ends[side].queuePairs(); i++) {
      boolean taken = find(side, between, key, i, number) != NONE;
      if (!taken && host.serves(i, service, far)) {
        return i;
      }
      if (!taken && free == NONE && host.service(i) == HostNumbers.NONE) {
        free = i;
      }
    }
    return free;
  }

  /**
   * Has a queue pair of the bridge stand for a service.
   *
   * @param side the fabric whose hosts use it, 0 for a
   * @param between the host that asks, and the other fabric's host that has it
   * @return its index; {@link #NONE} where all stand for others
   */
  int serve(int side, Hosts between, int number, int key, long nowNs) {
    Gid at = keyOf(side, between);
    return at == null
        ? NONE
        : host(side, at).serve(serviceOf(side, between), number, key, nowNs, Conversations.IDLE_NS);
  }

  /** Forgets all. */
  void clear() {
    conversations.clear();
    hosts.forEach(Map::clear);
  }
}
