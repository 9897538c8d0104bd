package io.heddle.bridge.unicast;

import io.heddle.verbs.Gid;
import java.util.HashMap;
import java.util.Map;

/**
 * Which queue pair of the bridge stands for whom. A host's queue pair of the fabric of real ones
 * that talks to two of one host on the wire needs two of the bridge's to tell them by. The data
 * thread's.
 */
final class NumberMap {
  static final int NONE = Conversations.NONE;

  private final int queuePairs;
  private final Conversations conversations;
  private final Map<Gid, HostNumbers> hosts = new HashMap<>();

  NumberMap(int queuePairs, Conversations conversations) {
    this.queuePairs = queuePairs;
    this.conversations = conversations;
  }

  private HostNumbers host(Gid wire) {
    return hosts.computeIfAbsent(wire, unknown -> new HostNumbers(queuePairs));
  }

  /**
   * Enters a conversation that the wire's host begins.
   *
   * @param ends the wire's host, and the other one
   * @param queueKey of the wire's queue pair
   * @return its place; {@link #NONE} where all queue pairs stand for others there
   */
  int begin(Hosts ends, int wire, int verbs, int queueKey, long nowNs) {
    HostNumbers host = host(ends.source());
    int free = NONE;
    int key = queueKey;
    for (int i = 0; i < queuePairs; i++) {
      boolean taken = find(ends, i, verbs) != NONE;
      if (!taken && host.service(i) == wire) {
        free = i;
        key = host.key(i);
        break;
      }
      if (!taken && free == NONE && host.service(i) == HostNumbers.NONE) {
        free = i;
      }
    }
    return free == NONE ? NONE : conversations.add(ends, wire, verbs, host, free, key, nowNs);
  }

  private int find(Hosts ends, int queuePair, int verbs) {
    Gid wire = ends.source();
    Gid other = ends.destination();
    return conversations.findFromVerbs(
        wire.high(), wire.low(), other.high(), other.low(), queuePair, verbs);
  }

  /**
   * Enters a conversation with a service of the wire's host.
   *
   * @return its place; {@link #NONE} where the queue pair stands for no service there
   */
  int join(Hosts ends, int queuePair, int verbs, long nowNs) {
    HostNumbers host = hosts.get(ends.source());
    if (host == null || host.service(queuePair) == HostNumbers.NONE) {
      return NONE;
    }
    int wire = host.service(queuePair);
    int key = host.key(queuePair);
    Gid near = ends.source();
    Gid far = ends.destination();
    int place =
        conversations.findFromWire(near.high(), near.low(), far.high(), far.low(), wire, verbs);
    return place == NONE
        ? conversations.add(ends, wire, verbs, host, queuePair, key, nowNs)
        : place;
  }

  /**
   * Has a queue pair stand for a service of the wire's host.
   *
   * @return its index; {@link #NONE} where all stand for others
   */
  int serve(Gid wire, int number, int key, long nowNs) {
    return host(wire).serve(number, key, nowNs, Conversations.IDLE_NS);
  }

  /** Forgets all. */
  void clear() {
    conversations.clear();
    hosts.clear();
  }
}
