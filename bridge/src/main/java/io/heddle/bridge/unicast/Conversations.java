package io.heddle.bridge.unicast;

import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.table.LruSlots;
import io.heddle.verbs.Gid;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Table of the pairs of queue pairs that communicate over the bridge with mapped numbers, one in
 * each fabric. Each host knows the other by an address and a queue pair number of the bridge, which
 * is stored here by its index. An entry is found from both sides. Where packets name no host but
 * their sender's port, it is found by that port and the destination index, whichever host it
 * belongs to.
 *
 * <p>Bounded: the least recently used entry is evicted first, and entries expire after {@link
 * #IDLE_NS}. A lookup allocates nothing. Used by the data thread only.
 */
final class Conversations {
  /** Idle time after which an entry expires. */
  static final long IDLE_NS = 300_000_000_000L;

  static final int NONE = LruSlots.NONE;

  private static final int WORDS = 5;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int NUMBER_BITS = 24;
  private static final int NUMBER_MASK = (1 << NUMBER_BITS) - 1;

  /** One end of a conversation. */
  static final class End {
    private final int number;
    private final int index;
    private final int queueKey;
    private final @Nullable QueuePairAssignments by;
    private final @Nullable Gid port;

    /**
     * @param number of the host's queue pair
     * @param index of the bridge's queue pair by which this host knows the other one
     * @param queueKey of the host's queue pair
     * @param by assignments of the bridge's queue pairs here; null if this end's fabric is RoCEv2
     *     over the bridge's own UDP socket
     * @param port by which packets name the host; null if they name it by its address
     */
    End(
        int number,
        int index,
        int queueKey,
        @Nullable QueuePairAssignments by,
        @Nullable Gid port) {
      this.number = number;
      this.index = index;
      this.queueKey = queueKey;
      this.by = by;
      this.port = port;
    }
  }

  /* From a and b. Both have the same slots, since they are filled and emptied together. */
  private final LruSlots[] from;
  /* Host in a, host in b, and both numbers in one word. */
  private final long[] keys;
  /* By side: port by which packets name its host; empty if packets name hosts. */
  private final long[][] ports;
  private final int[][] indexes;
  private final int[][] queueKeys;
  private final @Nullable QueuePairAssignments[][] hosts;
  /* To a and b. */
  private final @Nullable LimitedFlow[][] flows;
  private long evicted;
  private long aged;

  /**
   * @param most entries at a time
   */
  Conversations(int most) {
    this(most, true, true);
  }

  /**
   * @param most entries at a time
   * @param named whether packets from a name both their hosts
   * @param namedInB the same for b
   */
  Conversations(int most, boolean named, boolean namedInB) {
    ports = new long[][] {new long[named ? 0 : 2 * most], new long[namedInB ? 0 : 2 * most]};
    from = new LruSlots[] {new LruSlots(most), new LruSlots(most)};
    keys = new long[WORDS * most];
    indexes = new int[2][most];
    queueKeys = new int[2][most];
    hosts = new QueuePairAssignments[2][most];
    flows = new LimitedFlow[2][most];
  }

  private static long word(int high, int low) {
    return (long) high << NUMBER_BITS | low;
  }

  private static int hash(
      long nearHigh, long nearLow, long farHigh, long farLow, int index, int number) {
    long mixed = ((nearHigh * MIX ^ nearLow) * MIX ^ farHigh) * MIX ^ farLow;
    return (int) ((mixed * MIX ^ word(index, number)) * MIX >>> 32);
  }

  private static int hash(Gid near, Gid far, End end) {
    return end.port == null
        ? hash(near.high(), near.low(), far.high(), far.low(), end.index, end.number)
        : hash(end.port.high(), end.port.low(), 0, 0, end.index, end.number);
  }

  private boolean hasHosts(
      int place, int side, long nearHigh, long nearLow, long farHigh, long farLow) {
    long[] named = ports[side];
    if (named.length > 0) {
      return named[2 * place + 1] == nearLow && named[2 * place] == nearHigh;
    }
    int near = WORDS * place + 2 * side;
    int far = WORDS * place + 2 - 2 * side;
    return keys[near + 1] == nearLow
        && keys[far + 1] == farLow
        && keys[near] == nearHigh
        && keys[far] == farHigh;
  }

  /**
   * Returns the entry that a host's packet belongs to.
   *
   * <p>Where packets name no hosts, near is the host's port, and far is 0.
   *
   * @param side the host's, 0 for a
   * @param index of the bridge's queue pair that it sends to, in place of the far host
   * @param number of its own queue pair
   */
  int find(
      int side, long nearHigh, long nearLow, long farHigh, long farLow, int index, int number) {
    LruSlots entries = from[side];
    int place = entries.first(hash(nearHigh, nearLow, farHigh, farLow, index, number));
    while (place != NONE
        && (indexes[side][place] != index
            || number(side, place) != number
            || !hasHosts(place, side, nearHigh, nearLow, farHigh, farLow))) {
      place = entries.next(place);
    }
    return place;
  }

  /**
   * Finds an entry as {@link #find(int, long, long, long, long, int, int)} does, where packets name
   * hosts.
   */
  int find(int side, HostPair hosts, int index, int number) {
    long nearHigh = hosts.source().high();
    long nearLow = hosts.source().low();
    long farHigh = hosts.destination().high();
    return find(side, nearHigh, nearLow, farHigh, hosts.destination().low(), index, number);
  }

  /**
   * Finds an entry as {@link #find(int, long, long, long, long, int, int)} does, where packets name
   * no hosts.
   */
  int findAt(int side, Gid port, int index, int number) {
    return find(side, port.high(), port.low(), 0, 0, index, number);
  }

  /**
   * Adds a new entry.
   *
   * @param side of the first host, 0 for a
   * @param ends both hosts
   * @param near the first host's end
   * @param far the other host's end
   */
  int add(int side, HostPair ends, End near, End far, long nowNs) {
    if (from[0].isFull()) {
      remove(from[0].oldest(), nowNs);
      evicted++;
    }
    long nearHigh = ends.source().high();
    long nearLow = ends.source().low();
    long farHigh = ends.destination().high();
    long farLow = ends.destination().low();
    int there = hash(ends.source(), ends.destination(), near);
    int back = hash(ends.destination(), ends.source(), far);
    int place = from[side].add(there, nowNs);
    if (from[1 - side].add(back, nowNs) != place) {
      throw new IllegalStateException("both tables of conversations have different places");
    }
    int key = WORDS * place;
    keys[key + 2 * side] = nearHigh;
    keys[key + 2 * side + 1] = nearLow;
    keys[key + 2 - 2 * side] = farHigh;
    keys[key + 3 - 2 * side] = farLow;
    keys[key + 4] = side == 0 ? word(near.number, far.number) : word(far.number, near.number);
    link(side, place, near, nowNs);
    link(1 - side, place, far, nowNs);
    return place;
  }

  private void link(int side, int place, End end, long nowNs) {
    indexes[side][place] = end.index;
    queueKeys[side][place] = end.queueKey;
    hosts[side][place] = end.by;
    if (end.port != null) {
      ports[side][2 * place] = end.port.high();
      ports[side][2 * place + 1] = end.port.low();
    }
    countConversation(end.by, end.index, 1, nowNs);
  }

  private static void countConversation(
      @Nullable QueuePairAssignments by, int index, int change, long nowNs) {
    if (by != null) {
      by.countConversation(index, change, nowNs);
    }
  }

  private void remove(int place, long nowNs) {
    for (int side = 0; side < 2; side++) {
      from[side].remove(place);
      countConversation(hosts[side][place], indexes[side][place], -1, nowNs);
      hosts[side][place] = null;
      flows[side][place] = null;
    }
  }

  void touch(int place, long nowNs) {
    from[0].touch(place, nowNs);
  }

  /** Removes the entries that have been idle for long enough. */
  void expire(long nowNs) {
    while (from[0].isOldestIdle(nowNs, IDLE_NS)) {
      remove(from[0].oldest(), nowNs);
      aged++;
    }
  }

  /** Removes all entries, and the assignments of their hosts' numbers. */
  void clear() {
    for (int side = 0; side < 2; side++) {
      from[side].clear();
      Arrays.fill(hosts[side], null);
      Arrays.fill(flows[side], null);
    }
  }

  /** Returns the upper half of the address of a fabric's host. */
  long hostHigh(int side, int place) {
    return keys[WORDS * place + 2 * side];
  }

  /** Returns the lower half of it. */
  long hostLow(int side, int place) {
    return keys[WORDS * place + 2 * side + 1];
  }

  Gid host(int side, int place) {
    return new Gid(hostHigh(side, place), hostLow(side, place));
  }

  /** Returns the upper half of the port of a fabric's host, where packets name no hosts. */
  long portHigh(int side, int place) {
    return ports[side][2 * place];
  }

  /** Returns the lower half of it. */
  long portLow(int side, int place) {
    return ports[side][2 * place + 1];
  }

  /**
   * Removes the entries whose host has moved to another port, in a fabric whose packets name no
   * hosts.
   */
  void removeMoved(int side, Function<Gid, @Nullable Gid> portOf, long nowNs) {
    int place = from[0].newest();
    while (place != NONE) {
      int older = from[0].older(place);
      Gid port = portOf.apply(host(side, place));
      if (port != null
          && (port.high() != portHigh(side, place) || port.low() != portLow(side, place))) {
        remove(place, nowNs);
      }
      place = older;
    }
  }

  /** Returns the number of the host's queue pair. */
  int number(int side, int place) {
    long both = keys[WORDS * place + 4];
    return (int) (side == 0 ? both >>> NUMBER_BITS : both) & NUMBER_MASK;
  }

  /** Returns the index of the bridge's queue pair that a fabric's host sends to. */
  int index(int side, int place) {
    return indexes[side][place];
  }

  /** Returns the queue key of the host's queue pair. */
  int queueKey(int side, int place) {
    return queueKeys[side][place];
  }

  /** Returns the flow to a fabric's host; null if none is set yet. */
  @Nullable LimitedFlow flowTo(int side, int place) {
    return flows[side][place];
  }

  void setFlow(int side, int place, LimitedFlow flow) {
    flows[side][place] = flow;
  }

  int size() {
    return from[0].size();
  }

  /** Returns the number of entries evicted from a full table. */
  long evicted() {
    return evicted;
  }

  /** Returns the number of entries that expired. */
  long aged() {
    return aged;
  }
}
