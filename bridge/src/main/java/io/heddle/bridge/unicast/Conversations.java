package io.heddle.bridge.unicast;

import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.table.LruSlots;
import io.heddle.verbs.Gid;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Table of the conversations over the bridge with mapped queue pair numbers. A conversation is a
 * pair of queue pairs that communicate, one in each fabric. Each host knows the other one by an
 * address and a queue pair of the bridge. The table stores the index of that queue pair. Packets of
 * both hosts find the same entry.
 *
 * <p>Packets on InfiniBand identify their sender's port, but contain no host's address. So an entry
 * for such a packet is found by the GID of the port and the index of the destination queue pair.
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
     * @param number number of the host's queue pair
     * @param index index of the bridge's queue pair by which this host knows the other one
     * @param queueKey queue key of the host's queue pair
     * @param by assignments of the bridge's queue pairs in this fabric; null if the fabric is
     *     RoCEv2 over the bridge's own UDP socket
     * @param port GID of the host's port on InfiniBand; null in other fabrics
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

  /*
   * Slots of the entries, found by packets from fabric a and by packets from fabric b. An entry has
   * the same slot in both, since they are filled and emptied together.
   */
  private final LruSlots[] from;
  /*
   * By slot: address of the host in a, address of the host in b, both queue pair numbers in one
   * word.
   */
  private final long[] keys;
  /*
   * By fabric and slot: GID of the host's port; empty for a fabric whose packets contain hosts'
   * addresses.
   */
  private final long[][] ports;
  private final int[][] indexes;
  private final int[][] queueKeys;
  private final @Nullable QueuePairAssignments[][] hosts;
  /* Flows by destination fabric and slot; null until the first packet is forwarded. */
  private final @Nullable LimitedFlow[][] flows;
  private long evicted;
  private long aged;

  /**
   * @param most maximum number of entries
   */
  Conversations(int most) {
    this(most, true, true);
  }

  /**
   * @param most maximum number of entries
   * @param named whether packets from fabric a contain the addresses of both hosts
   * @param namedInB whether packets from fabric b contain the addresses of both hosts
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
      int slot, int side, long nearHigh, long nearLow, long farHigh, long farLow) {
    long[] named = ports[side];
    if (named.length > 0) {
      return named[2 * slot + 1] == nearLow && named[2 * slot] == nearHigh;
    }
    int near = WORDS * slot + 2 * side;
    int far = WORDS * slot + 2 - 2 * side;
    return keys[near + 1] == nearLow
        && keys[far + 1] == farLow
        && keys[near] == nearHigh
        && keys[far] == farHigh;
  }

  /**
   * Returns the slot of the entry that a host's packet belongs to, or {@link #NONE}.
   *
   * <p>Near is the address of the sending host, and far the address of the other host. On
   * InfiniBand, near is the GID of the sender's port, and far is 0.
   *
   * @param side fabric of the sending host, 0 for a
   * @param index index of the bridge's queue pair that the packet was sent to
   * @param number number of the sending queue pair
   */
  int find(
      int side, long nearHigh, long nearLow, long farHigh, long farLow, int index, int number) {
    LruSlots entries = from[side];
    int slot = entries.first(hash(nearHigh, nearLow, farHigh, farLow, index, number));
    while (slot != NONE
        && (indexes[side][slot] != index
            || number(side, slot) != number
            || !hasHosts(slot, side, nearHigh, nearLow, farHigh, farLow))) {
      slot = entries.next(slot);
    }
    return slot;
  }

  /**
   * Finds an entry as {@link #find(int, long, long, long, long, int, int)} does, by the addresses
   * of both hosts.
   */
  int find(int side, HostPair hosts, int index, int number) {
    long nearHigh = hosts.source().high();
    long nearLow = hosts.source().low();
    long farHigh = hosts.destination().high();
    return find(side, nearHigh, nearLow, farHigh, hosts.destination().low(), index, number);
  }

  /**
   * Finds an entry as {@link #find(int, long, long, long, long, int, int)} does, by the sender's
   * port on InfiniBand.
   */
  int findAt(int side, Gid port, int index, int number) {
    return find(side, port.high(), port.low(), 0, 0, index, number);
  }

  /**
   * Adds a new entry, and returns its slot.
   *
   * @param side fabric of the first host, 0 for a
   * @param ends the first host, and the other host
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
    int slot = from[side].add(there, nowNs);
    if (from[1 - side].add(back, nowNs) != slot) {
      throw new IllegalStateException("both tables of conversations have different places");
    }
    int key = WORDS * slot;
    keys[key + 2 * side] = nearHigh;
    keys[key + 2 * side + 1] = nearLow;
    keys[key + 2 - 2 * side] = farHigh;
    keys[key + 3 - 2 * side] = farLow;
    keys[key + 4] = side == 0 ? word(near.number, far.number) : word(far.number, near.number);
    link(side, slot, near, nowNs);
    link(1 - side, slot, far, nowNs);
    return slot;
  }

  private void link(int side, int slot, End end, long nowNs) {
    indexes[side][slot] = end.index;
    queueKeys[side][slot] = end.queueKey;
    hosts[side][slot] = end.by;
    if (end.port != null) {
      ports[side][2 * slot] = end.port.high();
      ports[side][2 * slot + 1] = end.port.low();
    }
    countConversation(end.by, end.index, 1, nowNs);
  }

  private static void countConversation(
      @Nullable QueuePairAssignments by, int index, int change, long nowNs) {
    if (by != null) {
      by.countConversation(index, change, nowNs);
    }
  }

  private void remove(int slot, long nowNs) {
    for (int side = 0; side < 2; side++) {
      from[side].remove(slot);
      countConversation(hosts[side][slot], indexes[side][slot], -1, nowNs);
      hosts[side][slot] = null;
      flows[side][slot] = null;
    }
  }

  void touch(int slot, long nowNs) {
    from[0].touch(slot, nowNs);
  }

  /** Removes the entries that have been idle for {@link #IDLE_NS}. */
  void expire(long nowNs) {
    while (from[0].isOldestIdle(nowNs, IDLE_NS)) {
      remove(from[0].oldest(), nowNs);
      aged++;
    }
  }

  /**
   * Removes all entries, but doesn't reduce the numbers of conversations in QueuePairAssignments.
   */
  void clear() {
    for (int side = 0; side < 2; side++) {
      from[side].clear();
      Arrays.fill(hosts[side], null);
      Arrays.fill(flows[side], null);
    }
  }

  /** Returns the upper half of the address of an entry's host in a fabric. */
  long hostHigh(int side, int slot) {
    return keys[WORDS * slot + 2 * side];
  }

  /** Returns the lower half of the address of an entry's host in a fabric. */
  long hostLow(int side, int slot) {
    return keys[WORDS * slot + 2 * side + 1];
  }

  Gid host(int side, int slot) {
    return new Gid(hostHigh(side, slot), hostLow(side, slot));
  }

  /** Returns the upper half of the GID of the port of an entry's host, in an InfiniBand fabric. */
  long portHigh(int side, int slot) {
    return ports[side][2 * slot];
  }

  /** Returns the lower half of the GID of the port of an entry's host, in an InfiniBand fabric. */
  long portLow(int side, int slot) {
    return ports[side][2 * slot + 1];
  }

  /** Removes the entries whose host has moved to another port of an InfiniBand fabric. */
  void removeMoved(int side, Function<Gid, @Nullable Gid> portOf, long nowNs) {
    int slot = from[0].newest();
    while (slot != NONE) {
      int older = from[0].older(slot);
      Gid port = portOf.apply(host(side, slot));
      if (port != null
          && (port.high() != portHigh(side, slot) || port.low() != portLow(side, slot))) {
        remove(slot, nowNs);
      }
      slot = older;
    }
  }

  /** Returns the number of the queue pair of an entry's host in a fabric. */
  int number(int side, int slot) {
    long both = keys[WORDS * slot + 4];
    return (int) (side == 0 ? both >>> NUMBER_BITS : both) & NUMBER_MASK;
  }

  /** Returns the index of the bridge's queue pair that an entry's host in a fabric sends to. */
  int index(int side, int slot) {
    return indexes[side][slot];
  }

  /** Returns the queue key of the queue pair of an entry's host in a fabric. */
  int queueKey(int side, int slot) {
    return queueKeys[side][slot];
  }

  /** Returns the flow to an entry's host in a fabric; null if none is set yet. */
  @Nullable LimitedFlow flowTo(int side, int slot) {
    return flows[side][slot];
  }

  void setFlow(int side, int slot, LimitedFlow flow) {
    flows[side][slot] = flow;
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
