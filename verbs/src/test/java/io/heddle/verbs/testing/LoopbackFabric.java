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
 * A network inside one process, between the devices of {@link LoopbackProvider}. It keeps order
 * within a queue pair and mixes it between queue pairs, by its seed; it can hold back
 * acknowledgements and cut addresses off.
 *
 * <p>Everything is done under this object's monitor, by whichever thread calls progress on any of
 * its devices.
 */
public final class LoopbackFabric {
  private record Event(AsyncEventListener.Kind kind, int queuePairNumber) {}

  /* Steps of one queue pair in one round: few, so that queue pairs overtake each other. */
  private static final int MOST_STEPS = 4;

  private final List<LoopbackQueuePair> pairs = new ArrayList<>();
  private final Set<Gid> cut = ConcurrentHashMap.newKeySet();
  private final Set<Gid> taken = ConcurrentHashMap.newKeySet();
  private final Set<Gid> stuck = ConcurrentHashMap.newKeySet();
  private final Queue<Event> events = new ConcurrentLinkedQueue<>();
  private final PostedWrites posted = new PostedWrites();
  /* Made once: tests count what a round allocates. */
  private final IntUnaryOperator below = this::below;
  private long random;
  private int nextNumber = 0x11;
  private int nextKey = 0x1000;
  private volatile boolean acknowledgementsHeld;
  private volatile boolean judgesTogether;
  private int refusals;
  private long inlinePayloads;
  private int refusalErrno;

  /**
   * @param seed decides how queue pairs overtake each other
   */
  public LoopbackFabric(long seed) {
    random = seed == 0 ? 1 : seed;
  }

  /**
   * While held, work is done at the receiver but its sender doesn't hear of it, as if answers were
   * under way.
   */
  public void holdAcknowledgements(boolean held) {
    acknowledgementsHeld = held;
  }

  boolean acknowledgementsHeld() {
    return acknowledgementsHeld;
  }

  /**
   * From now on queue pairs with the same number of their peer are judged together, as {@link
   * io.heddle.verbs.ReadyToSendAttributes#peer} has it.
   */
  public void judgeTogether() {
    judgesTogether = true;
  }

  /** Whether the peer of a silent queue pair is there, as far as can be known. */
  boolean isWitnessed(LoopbackQueuePair silent) {
    return !judgesTogether || pairs.stream().anyMatch(each -> each.hearsPeerOf(silent));
  }

  /** From now on nothing passes to or from this address. */
  public void cut(Gid gid) {
    cut.add(gid);
  }

  /** What was cut passes again. */
  public void mend(Gid gid) {
    cut.remove(gid);
  }

  /** The address is gone from its device's table; queue pairs that have it go on. */
  public void take(Gid gid) {
    taken.add(gid);
  }

  /** What was taken is there again, at its old place. */
  public void giveBack(Gid gid) {
    taken.remove(gid);
  }

  /** Whether who closes a queue pair of this address hears that it can't be closed. */
  public void refuseCloses(Gid gid, boolean refused) {
    if (refused) {
      stuck.add(gid);
    } else {
      stuck.remove(gid);
    }
  }

  boolean refusesClose(Gid gid) {
    return stuck.contains(gid);
  }

  boolean has(Gid gid) {
    return !taken.contains(gid);
  }

  /** The next so many queue pairs that are to be connected are refused with this errno. */
  public synchronized void refuseConnects(int times, int errno) {
    refusals = times;
    refusalErrno = errno;
  }

  /** How many payloads travelled within their requests. */
  public synchronized long inlinePayloads() {
    return inlinePayloads;
  }

  synchronized void sentInline() {
    inlinePayloads++;
  }

  /** The errno to refuse with, or 0. */
  synchronized int connectRefusal() {
    return refusals-- > 0 ? refusalErrno : 0;
  }

  /**
   * Reports this of a queue pair to whoever polls the events of its device, without anything having
   * happened to it.
   */
  public void raise(AsyncEventListener.Kind kind, int queuePairNumber) {
    events.add(new Event(kind, queuePairNumber));
  }

  /** Hands over the events of these queue pairs. */
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

  boolean passes(Gid from, Gid to) {
    return cut.isEmpty() || !cut.contains(from) && !cut.contains(to);
  }

  /** Whether everything that was posted is done and its sender knows. */
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

  /** What lies behind a bus. */
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
