package io.heddle.bridge.unicast;

import io.heddle.bridge.limit.LimitedFlow;
import io.heddle.bridge.table.RecentEntries;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Who talks over the bridge with mapped numbers: a queue pair of a wire fabric's host with one of
 * the other fabric's, which knows it by one of the bridge's own. Found from both sides. Bounded:
 * the least recently used goes first, and who is silent for {@link #IDLE_NS} goes by itself.
 * Nothing is allocated to find one. The data thread's.
 */
final class Conversations {
  /** For so long a silent one stays. */
  static final long IDLE_NS = 300_000_000_000L;

  static final int NONE = RecentEntries.NONE;

  private static final int WORDS = 5;
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;
  private static final int NUMBER_BITS = 24;

  /* Both have the same places, since they are filled and emptied together. */
  private final RecentEntries fromWire;
  private final RecentEntries fromVerbs;
  /* The wire's host, the other one, and both numbers in one word. */
  private final long[] keys;
  private final int[] queuePairs;
  private final int[] queueKeys;
  private final @Nullable HostNumbers[] hosts;
  private final @Nullable LimitedFlow[] toWire;
  private final @Nullable LimitedFlow[] toVerbs;
  private long evicted;
  private long aged;

  /**
   * @param most at a time
   */
  Conversations(int most) {
    fromWire = new RecentEntries(most);
    fromVerbs = new RecentEntries(most);
    keys = new long[WORDS * most];
    queuePairs = new int[most];
    queueKeys = new int[most];
    hosts = new HostNumbers[most];
    toWire = new LimitedFlow[most];
    toVerbs = new LimitedFlow[most];
  }

  private static long numbers(int wire, int verbs) {
    return (long) wire << NUMBER_BITS | verbs;
  }

  private static int hash(
      long wireHigh, long wireLow, long verbsHigh, long verbsLow, long numbers) {
    long mixed = ((wireHigh * MIX ^ wireLow) * MIX ^ verbsHigh) * MIX ^ verbsLow;
    return (int) ((mixed * MIX ^ numbers) * MIX >>> 32);
  }

  private boolean hasHosts(int place, long wireHigh, long wireLow, long verbsHigh, long verbsLow) {
    int key = WORDS * place;
    return keys[key + 1] == wireLow
        && keys[key + 3] == verbsLow
        && keys[key] == wireHigh
        && keys[key + 2] == verbsHigh;
  }

  /** By both numbers, as the wire fabric's hosts know them. */
  int findFromWire(
      long wireHigh, long wireLow, long verbsHigh, long verbsLow, int wire, int verbs) {
    long numbers = numbers(wire, verbs);
    int place = fromWire.first(hash(wireHigh, wireLow, verbsHigh, verbsLow, numbers));
    while (place != NONE
        && (keys[WORDS * place + 4] != numbers
            || !hasHosts(place, wireHigh, wireLow, verbsHigh, verbsLow))) {
      place = fromWire.next(place);
    }
    return place;
  }

  /** By the number of the other fabric's host, and the bridge's queue pair that it talks to. */
  int findFromVerbs(
      long wireHigh, long wireLow, long verbsHigh, long verbsLow, int queuePair, int verbs) {
    long numbers = numbers(queuePair, verbs);
    int place = fromVerbs.first(hash(wireHigh, wireLow, verbsHigh, verbsLow, numbers));
    while (place != NONE
        && (queuePairs[place] != queuePair
            || verbsNumber(place) != verbs
            || !hasHosts(place, wireHigh, wireLow, verbsHigh, verbsLow))) {
      place = fromVerbs.next(place);
    }
    return place;
  }

  /**
   * Enters one that isn't there.
   *
   * @param host the wire's, whose numbers the queue pair stands for
   * @param queuePair index of the bridge's own
   * @param queueKey of the wire's queue pair
   */
  int add(
      Hosts ends, int wire, int verbs, HostNumbers host, int queuePair, int queueKey, long nowNs) {
    if (fromWire.isFull()) {
      remove(fromWire.oldest(), nowNs);
      evicted++;
    }
    long wireHigh = ends.source().high();
    long wireLow = ends.source().low();
    long verbsHigh = ends.destination().high();
    long verbsLow = ends.destination().low();
    int place =
        fromWire.add(hash(wireHigh, wireLow, verbsHigh, verbsLow, numbers(wire, verbs)), nowNs);
    int other =
        fromVerbs.add(
            hash(wireHigh, wireLow, verbsHigh, verbsLow, numbers(queuePair, verbs)), nowNs);
    if (other != place) {
      throw new IllegalStateException("both tables of conversations have different places");
    }
    int key = WORDS * place;
    keys[key] = wireHigh;
    keys[key + 1] = wireLow;
    keys[key + 2] = verbsHigh;
    keys[key + 3] = verbsLow;
    keys[key + 4] = numbers(wire, verbs);
    queuePairs[place] = queuePair;
    queueKeys[place] = queueKey;
    hosts[place] = host;
    host.talks(queuePair, 1, nowNs);
    return place;
  }

  private void remove(int place, long nowNs) {
    fromWire.remove(place);
    fromVerbs.remove(place);
    Objects.requireNonNull(hosts[place]).talks(queuePairs[place], -1, nowNs);
    hosts[place] = null;
    toWire[place] = null;
    toVerbs[place] = null;
  }

  void touch(int place, long nowNs) {
    fromWire.touch(place, nowNs);
  }

  /** Ends those that have been silent for long enough. */
  void expire(long nowNs) {
    while (fromWire.isOldestIdle(nowNs, IDLE_NS)) {
      remove(fromWire.oldest(), nowNs);
      aged++;
    }
  }

  /** Ends all. Their hosts' numbers are forgotten too. */
  void clear() {
    fromWire.clear();
    fromVerbs.clear();
    Arrays.fill(hosts, null);
    Arrays.fill(toWire, null);
    Arrays.fill(toVerbs, null);
  }

  int wireNumber(int place) {
    return (int) (keys[WORDS * place + 4] >>> NUMBER_BITS);
  }

  int verbsNumber(int place) {
    return (int) keys[WORDS * place + 4] & (1 << NUMBER_BITS) - 1;
  }

  /** Index of the bridge's queue pair. */
  int queuePair(int place) {
    return queuePairs[place];
  }

  /** Of the wire's queue pair. */
  int queueKey(int place) {
    return queueKeys[place];
  }

  @Nullable LimitedFlow toWire(int place) {
    return toWire[place];
  }

  @Nullable LimitedFlow toVerbs(int place) {
    return toVerbs[place];
  }

  void leaveBy(int place, LimitedFlow flow, boolean wire) {
    (wire ? toWire : toVerbs)[place] = flow;
  }

  int size() {
    return fromWire.size();
  }

  /** Those that went since there was no room. */
  long evicted() {
    return evicted;
  }

  /** Those that went since they were silent. */
  long aged() {
    return aged;
  }
}
