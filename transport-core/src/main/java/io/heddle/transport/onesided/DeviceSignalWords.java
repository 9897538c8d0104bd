package io.heddle.transport.onesided;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.transport.data.LoopbackQueuePairs;
import io.heddle.transport.data.RequestLines;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.NetDevice;
import io.heddle.transport.onesided.Directory.Registered;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Additions of peers' signals at a rank that has GPU memory. Data in GPU memory is flushed before a
 * signal is added. The adapter reads and writes signal words in GPU memory
 * (docs/decisions/one-sided.md).
 *
 * <p>Works in rounds. A round takes up to {@link #MOST} waiting additions, flushes arrived data by
 * a read of each registration, and reads the words on the device. Then it adds to the words. It
 * changes words in host memory in place, and writes words on the device back. Rounds don't overlap,
 * so no addition to a word is lost.
 *
 * <p>Signals arrive on any thread; rounds run on the driving thread, with the group's lock.
 */
final class DeviceSignalWords implements AutoCloseable {
  /** Maximum number of additions in a round. */
  private static final int MOST = 64;

  /*
   * Maximum number of flushes in flight, by which gets make their data visible. The numbers of
   * their requests follow those of a round of additions.
   */
  private static final int FLUSHES = LoopbackQueuePairs.DEPTH - 2 * MOST;

  /** Listener for deferred additions. */
  @FunctionalInterface
  interface AdditionListener {
    /**
     * Handles a completed addition. Called by the thread that drives the group; never waits.
     *
     * @return false while another thread holds the baton, and nothing was done
     */
    boolean added(int slot);
  }

  private enum Stage {
    IDLE,
    READING,
    WRITING
  }

  /* Addition of one signal. */
  private record Addition(
      Registered memory, long address, long addend, AdditionListener listener, int slot) {}

  /*
   * Signal word in GPU memory that the present round adds to. Its index in words is also that of
   * its value in the region values.
   */
  private record Word(Registered memory, long address) {}

  /* Flush of data that the initiator's gets have read. */
  private record Flush(int line, Registered memory) {}

  private final NetDevice device;
  private final RequestLines lines;
  private final Log log;
  private final Arena arena = Arena.ofShared();

  /* These fields are guarded by the monitor. */
  private final Queue<Addition> queue = new ArrayDeque<>();
  private final Set<Registered> unflushed = new LinkedHashSet<>();
  private final List<LocalPlane> returned = new ArrayList<>();
  private Stage stage = Stage.IDLE;

  /* Null until device memory is registered. */
  private volatile @Nullable LoopbackQueuePairs pairs;
  private @Nullable MemoryRegion values;

  /* Only the driving thread accesses these fields. */
  private final LoopbackQueuePairs.Listener listener = this::done;
  private final ArrayDeque<Addition> round = new ArrayDeque<>();
  private final List<Word> words = new ArrayList<>();
  private final ArrayDeque<Registered> toFlush = new ArrayDeque<>();
  private final ArrayDeque<Flush> flushes = new ArrayDeque<>();
  private final ArrayDeque<Integer> freeFlushes = new ArrayDeque<>();
  private final int[] lineOfFlush = new int[FLUSHES];
  private boolean wordsAreRead;
  private int pendingOperations;

  /**
   * @param lines request lines in which flushes are completed
   */
  DeviceSignalWords(NetDevice device, RequestLines lines, Log log) {
    this.device = device;
    this.lines = lines;
    this.log = log;
  }

  /**
   * Creates the queue pairs, at the first registration of device memory.
   *
   * @throws io.heddle.verbs.VerbsException when the device refuses; nothing stays open then
   */
  void open() {
    if (pairs != null) {
      return;
    }
    LoopbackQueuePairs made =
        new LoopbackQueuePairs(
            device, LoopbackQueuePairs.DEPTH, "the adapter's access to words of signals");
    try {
      values =
          device
              .pd()
              .registerMemory(
                  Memory.allocate(arena, (MOST + 1) * (long) Long.BYTES, Long.BYTES),
                  (MOST + 1) * (long) Long.BYTES,
                  EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE));
    } catch (RuntimeException refused) {
      made.close();
      throw refused;
    }
    for (int i = 0; i < FLUSHES; i++) {
      freeFlushes.add(i);
    }
    pairs = made;
  }

  /** Records that data has arrived in device memory. */
  synchronized void arrived(Registered memory) {
    unflushed.add(memory);
  }

  /**
   * Queues an addition that must wait, because data has to be flushed before it, or because the
   * word is in GPU memory.
   *
   * @return false where the processor may add at once
   */
  boolean enqueueIfNeeded(
      Registered memory, long address, long addend, AdditionListener listener, int slot) {
    return pairs != null && enqueue(memory, address, addend, listener, slot);
  }

  private synchronized boolean enqueue(
      Registered memory, long address, long addend, AdditionListener listener, int slot) {
    boolean waits =
        memory.onDevice() || !unflushed.isEmpty() || !queue.isEmpty() || stage != Stage.IDLE;
    if (waits) {
      queue.add(new Addition(memory, address, addend, listener, slot));
    }
    return waits;
  }

  /** Forgets memory that is deregistered: its data needs no flush any more. */
  synchronized void forget(Registered memory) {
    unflushed.remove(memory);
  }

  synchronized void planeReturned(LocalPlane plane) {
    returned.add(plane);
  }

  /** Returns whether no addition waits or is in progress. */
  synchronized boolean isIdle() {
    return queue.isEmpty() && stage == Stage.IDLE;
  }

  /**
   * Queues a flush of one registration of device memory.
   *
   * @param line claimed line of the request, which completes with the flush
   */
  void flush(int line, Registered memory) {
    flushes.add(new Flush(line, memory));
  }

  /**
   * Advances the present round of additions, or begins the next one.
   *
   * @return null, or the failure
   */
  @Nullable String progress() {
    LoopbackQueuePairs open = pairs;
    MemoryRegion scratch = values;
    if (open == null || scratch == null) {
      return null;
    }
    takeReturned(open);
    String failed = open.progress(listener);
    while (failed == null && !flushes.isEmpty() && !freeFlushes.isEmpty()) {
      Flush next = flushes.remove();
      int place = freeFlushes.remove();
      lineOfFlush[place] = next.line();
      failed = readFirstByte(open, scratch, 2 * MOST + place, next.memory());
    }
    return failed == null && pendingOperations == 0 ? advance(open, scratch) : failed;
  }

  private void takeReturned(LoopbackQueuePairs open) {
    List<LocalPlane> planes;
    synchronized (this) {
      if (returned.isEmpty()) {
        return;
      }
      planes = List.copyOf(returned);
      returned.clear();
    }
    for (LocalPlane plane : planes) {
      try {
        open.renew(plane);
      } catch (HeddleException refused) {
        log.info(
            "plane %s carries traffic, but not to signal words in device memory: %s",
            plane.key(), String.valueOf(refused.getMessage()));
      }
    }
  }

  private void done(int number) {
    if (number >= 2 * MOST) {
      int place = number - 2 * MOST;
      freeFlushes.add(place);
      lines.complete(lineOfFlush[place], 1);
    } else {
      pendingOperations--;
    }
  }

  /*
   * Takes the next step of the present round of additions; none of its requests is in flight.
   * Returns null, or the failure.
   */
  private @Nullable String advance(LoopbackQueuePairs open, MemoryRegion scratch) {
    if (stage == Stage.IDLE && !beginRound()) {
      return null;
    }
    String failed = null;
    if (stage == Stage.READING && (!toFlush.isEmpty() || !wordsAreRead)) {
      failed = read(open, scratch);
    } else if (stage == Stage.READING) {
      failed = add(open, scratch);
    }
    if (failed == null && pendingOperations == 0) {
      end();
    }
    return failed;
  }

  /* Begins a round of additions. Returns false if no addition waits. */
  private synchronized boolean beginRound() {
    if (queue.isEmpty()) {
      return false;
    }
    stage = Stage.READING;
    wordsAreRead = false;
    toFlush.addAll(unflushed);
    unflushed.clear();
    while (!queue.isEmpty() && round.size() < MOST) {
      Addition next = queue.remove();
      round.add(next);
      Word word = new Word(next.memory(), next.address());
      if (next.memory().onDevice() && !words.contains(word)) {
        words.add(word);
      }
    }
    return true;
  }

  private @Nullable String read(LoopbackQueuePairs open, MemoryRegion scratch) {
    String failed = null;
    for (int i = 0; i < MOST && !toFlush.isEmpty() && failed == null; i++) {
      failed = readFirstByte(open, scratch, i, toFlush.remove());
      pendingOperations++;
    }
    if (!toFlush.isEmpty()) {
      return failed;
    }
    wordsAreRead = true;
    for (int i = 0; i < words.size() && failed == null; i++) {
      failed = post(open, scratch, MOST + i, SendWorkRequest.Operation.RDMA_READ, i);
    }
    return failed;
  }

  /*
   * Adds the signals of the round, and posts writes of the words in GPU memory. Additions to one
   * word are combined into one write.
   */
  private @Nullable String add(LoopbackQueuePairs open, MemoryRegion scratch) {
    enter(Stage.WRITING);
    for (Addition each : round) {
      long address = each.address();
      if (each.memory().onDevice()) {
        int place = words.indexOf(new Word(each.memory(), address));
        address = scratch.address() + (long) place * Long.BYTES;
      }
      Memory.getAndAddLong(address, each.addend());
    }
    String failed = null;
    for (int i = 0; i < words.size() && failed == null; i++) {
      failed = post(open, scratch, MOST + i, SendWorkRequest.Operation.RDMA_WRITE, i);
    }
    return failed;
  }

  /*
   * Reports the completed additions to their listeners. An addition whose listener is busy is
   * reported at the next call.
   */
  private void end() {
    while (!round.isEmpty()) {
      Addition next = round.element();
      if (!next.listener().added(next.slot())) {
        return;
      }
      round.remove();
    }
    words.clear();
    enter(Stage.IDLE);
  }

  private synchronized void enter(Stage next) {
    stage = next;
  }

  /* Posts the read or write of the word that has the index place in words. */
  private @Nullable String post(
      LoopbackQueuePairs open,
      MemoryRegion scratch,
      int number,
      SendWorkRequest.Operation operation,
      int place) {
    Word word = words.get(place);
    pendingOperations++;
    return post(open, scratch, number, operation, place, word.memory(), word.address(), Long.BYTES);
  }

  private @Nullable String readFirstByte(
      LoopbackQueuePairs open, MemoryRegion scratch, int number, Registered memory) {
    return post(
        open,
        scratch,
        number,
        SendWorkRequest.Operation.RDMA_READ,
        MOST,
        memory,
        memory.address(),
        1);
  }

  private static @Nullable String post(
      LoopbackQueuePairs open,
      MemoryRegion scratch,
      int number,
      SendWorkRequest.Operation operation,
      int place,
      Registered memory,
      long address,
      int lengthBytes) {
    SendWorkRequest request = open.request(number);
    request.operation = operation;
    request.localAddress = scratch.address() + (long) place * Long.BYTES;
    request.lengthBytes = lengthBytes;
    request.lkey = scratch.lkey();
    request.remoteAddress = address;
    request.rkey = memory.remoteKey();
    int code = open.post(number);
    return code == 0
        ? null
        : "the adapter refused to touch device memory: " + Errno.describe(-code);
  }

  @Override
  public void close() {
    LoopbackQueuePairs open = pairs;
    MemoryRegion scratch = values;
    if (open != null) {
      open.close();
    }
    if (scratch != null) {
      scratch.close();
    }
    arena.close();
  }
}
