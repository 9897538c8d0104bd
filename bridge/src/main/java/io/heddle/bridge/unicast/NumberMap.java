package io.heddle.bridge.unicast;

import io.heddle.bridge.cm.CmaHeader;
import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Which queue pair of the bridge stands for whom. A host behind a device whose queue pair talks to
 * two of one far host needs two of the bridge's to tell them by. The data thread's.
 */
final class NumberMap {
  static final int NONE = Conversations.NONE;

  private final MappedEnd[] ends;
  private final Conversations conversations;
  /* By the fabric that the bridge's queue pairs are in: what they stand for at the address of a far host. */
  private final List<Map<Gid, HostNumbers>> hosts = List.of(new HashMap<>(), new HashMap<>());

  NumberMap(MappedEnd[] ends, Conversations conversations) {
    this.ends = ends.clone();
    this.conversations = conversations;
  }

  private HostNumbers host(int side, Gid far) {
    return hosts
        .get(side)
        .computeIfAbsent(far, unknown -> new HostNumbers(ends[side].queuePairs()));
  }

  /**
   * Enters the conversation that a packet begins.
   *
   * @param side the fabric that it came from, 0 for a
   * @param between its sender, and the host of the other fabric that it is for
   * @param index of the bridge's number that it came to
   * @param number of its sender
   * @return the place; {@link #NONE} where it came to a queue pair that stands for nobody, or all
   *     of the other fabric stand for others
   */
  int begin(int side, Hosts between, int index, int number, long nowNs) {
    HostNumbers by = null;
    int far = index;
    int farKey = CmaHeader.QUEUE_KEY;
    if (ends[side].isDevice()) {
      by = hosts.get(side).get(between.destination());
      if (by == null || by.service(index) == HostNumbers.NONE) {
        return NONE;
      }
      far = by.service(index);
      farKey = by.key(index);
      int known = ofNumbers(side, between, number, far);
      if (known != NONE) {
        return known;
      }
    }
    int other = 1 - side;
    HostNumbers standIns = null;
    int standIn = number;
    int nearKey = CmaHeader.QUEUE_KEY;
    if (ends[other].isDevice()) {
      standIns = host(other, between.source());
      standIn = free(other, new Hosts(between.destination(), between.source()), far, number);
      if (standIn == NONE) {
        return NONE;
      }
      if (standIns.service(standIn) == number) {
        nearKey = standIns.key(standIn);
      }
    }
    return conversations.add(
        side,
        between,
        new Conversations.End(number, index, nearKey, by),
        new Conversations.End(far, standIn, farKey, standIns),
        nowNs);
  }

  /* They may have begun by another queue pair of the bridge's. */
  private int ofNumbers(int side, Hosts between, int number, int far) {
    int other = 1 - side;
    if (!ends[other].isDevice()) {
      Hosts back = new Hosts(between.destination(), between.source());
      return conversations.find(other, back, number, far);
    }
    int place = NONE;
    for (int i = 0; i < ends[side].queuePairs() && place == NONE; i++) {
      place = conversations.find(side, between, i, number);
      if (place != NONE && conversations.number(other, place) != far) {
        place = NONE;
      }
    }
    return place;
  }

  /* Which of the bridge's may stand for a number of the far host, where this one talks to it. */
  private int free(int side, Hosts between, int number, int far) {
    HostNumbers host = host(side, between.destination());
    int free = NONE;
    for (int i = 0; i < ends[side].queuePairs(); i++) {
      boolean taken = conversations.find(side, between, i, number) != NONE;
      if (!taken && host.service(i) == far) {
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
   * @param far the other fabric's host that has it
   * @return its index; {@link #NONE} where all stand for others
   */
  int serve(int side, Gid far, int number, int key, long nowNs) {
    return host(side, far).serve(number, key, nowNs, Conversations.IDLE_NS);
  }

  /** Forgets all. */
  void clear() {
    conversations.clear();
    hosts.forEach(Map::clear);
  }
}
