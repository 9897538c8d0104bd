package io.heddle.verbs.testing;

import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.Gid;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

/**
 * Network inside one process, between the devices of {@link LoopbackProvider}. Requests of one
 * queue pair keep their order, but queue pairs overtake each other at random, determined by the
 * seed. Tests can hold acknowledgements and cut addresses.
 *
 * <p>All work is done under this object's monitor, by any thread that calls progress on one of its
 * devices.
 */
public final class LoopbackFabric {
  private record Event(AsyncEventListener.Kind kind, int queuePairNumber) {}

  /*
   * Largest number of requests that a queue pair executes per round: few, so that queue pairs
   * overtake each other.
   */
  private static final int MOST_STEPS = 4;

  private final List<LoopbackQueuePair> pairs = new ArrayList<>();
  private final Set<Gid> cut = ConcurrentHashMap.newKeySet();
  private final Set<Gid> removedAddresses = ConcurrentHashMap.newKeySet();
  private final Set<Gid> refusingCloses = ConcurrentHashMap.newKeySet();
  private final Queue<Event> events = new ConcurrentLinkedQueue<>();
  private final PostedWrites posted = new PostedWrites();
  /* The lambda is allocated once, since tests count a round's allocations. */
  private final IntUnaryOperator below = this::below;
  private long random;
  private int nextNumber = 0x11;
  private int nextKey = 0x1000;
  private volatile boolean acknowledgementsHeld;
  private volatile boolean hasPeerGroups;
  private int refusals;
  private long inlinePayloads;
  private int refusalErrno;

  /**
   * @param seed determines how queue pairs overtake each other
   */
  public LoopbackFabric(long seed) {
    random = seed == 0 ? 1 : seed;
  }

  /** Holds or releases acknowledgements: while held, requests are executed but not acknowledged. */
  public void holdAcknowledgements(boolean held) {
    acknowledgementsHeld = held;
  }

  boolean areAcknowledgementsHeld() {
    return acknowledgementsHeld;
  }

  /**
   * Enables peer groups of queue pairs with the same {@link
   * io.heddle.verbs.ReadyToSendAttributes#peer}.
   */
  public void enablePeerGroups() {
    hasPeerGroups = true;
  }

  /**
   * Returns whether a queue pair may fail because its peer is silent: always without peer groups,
   * otherwise only if the peer answers another queue pair of the group.
   */
  boolean isWitnessed(LoopbackQueuePair silent) {
    return !hasPeerGroups || pairs.stream().anyMatch(each -> each.isReachedByPeerOf(silent));
  }

  /** Cuts all traffic to and from this address. */
  public void cut(Gid gid) {
    cut.add(gid);
  }

  /** Restores a cut address. */
  public void reconnect(Gid gid) {
    cut.remove(gid);
  }

  /** Removes the address from its device's table; its queue pairs continue. */
  public void removeAddress(Gid gid) {
    removedAddresses.add(gid);
  }

  /** Restores a removed address at its old index. */
  public void restoreAddress(Gid gid) {
    removedAddresses.remove(gid);
  }

  /** Makes closing a queue pair of this address fail, or succeed again. */
  public void refuseCloses(Gid gid, boolean refused) {
    if (refused) {
      refusingCloses.add(gid);
    } else {
      refusingCloses.remove(gid);
    }
  }

  boolean refusesClose(Gid gid) {
    return refusingCloses.contains(gid);
  }

  boolean hasAddress(Gid gid) {
    return !removedAddresses.contains(gid);
  }

  /** Makes the next {@code times} connects of queue pairs fail with this errno. */
  public synchronized void refuseConnects(int times, int errno) {
    refusals = times;
    refusalErrno = errno;
  }

  /** Returns the number of posted requests with inline payload. */
  public synchronized long inlinePayloads() {
    return inlinePayloads;
  }

  synchronized void countInline() {
    inlinePayloads++;
  }

  /** Returns the errno with which this connect must fail, or 0. */
  synchronized int connectRefusal() {
    return refusals-- > 0 ? refusalErrno : 0;
  }

  /** Raises an asynchronous event of a queue pair, although nothing caused it. */
  public void raise(AsyncEventListener.Kind kind, int queuePairNumber) {
    events.add(new Event(kind, queuePairNumber));
  }

  /**
   * Passes the events of the queue pairs that {@code mine} accepts to the listener. Returns their
   * number.
   */
  int pollEvents(IntPredicate mine, AsyncEventListener listener) {
    int count = 0;
    for (Event event : events) {
      if (mine.test(event.queuePairNumber()) && events.remove(event)) {
        listener.onAsyncEvent(event.kind(), event.queuePairNumber());
        count++;
      }
    }
    return count;
  }

  boolean isPathOpen(Gid from, Gid to) {
    return cut.isEmpty() || !cut.contains(from) && !cut.contains(to);
  }

  /** Returns whether all posted requests are executed and acknowledged. */
  public synchronized boolean isIdle() {
    return pairs.stream().noneMatch(LoopbackQueuePair::hasWork);
  }

  synchronized int add(LoopbackQueuePair pair) {
    pairs.add(pair);
    return nextNumber++;
  }

  synchronized void remove(LoopbackQueuePair pair) {
    pairs.remove(pair);
  }

  synchronized int newKey() {
    return nextKey++;
  }

  synchronized LoopbackQueuePair find(int number) {
    return pairs.stream().filter(pair -> pair.number() == number).findFirst().orElse(null);
  }

  LoopbackQueuePair find(Gid gid, int number) {
    for (int i = 0; i < pairs.size(); i++) {
      LoopbackQueuePair pair = pairs.get(i);
      if (pair.number() == number && gid.equals(pair.localGid())) {
        return pair;
      }
    }
    return null;
  }

  private int below(int bound) {
    random ^= random << 13;
    random ^= random >>> 7;
    random ^= random << 17;
    return (int) ((random >>> 33) % bound);
  }

  /** Returns the writes to memory behind a bus that haven't arrived there yet. */
  PostedWrites posted() {
    return posted;
  }

  synchronized int progress() {
    int work = 0;
    posted.progress(below);
    int count = pairs.size();
    int start = count == 0 ? 0 : below(count);
    for (int i = 0; i < count; i++) {
      LoopbackQueuePair pair = pairs.get((start + i) % count);
      for (int steps = below(MOST_STEPS + 1); steps > 0 && pair.step(); steps--) {
        work++;
      }
      work += pair.acknowledge();
    }
    return work;
  }
}
