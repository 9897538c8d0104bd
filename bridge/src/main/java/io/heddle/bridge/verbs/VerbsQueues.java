package io.heddle.bridge.verbs;

import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.table.AddressTable;
import io.heddle.platform.Memory;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DatagramQueuePair;
import io.heddle.verbs.DeviceAttributes;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.ProtectionDomain.Access;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.WorkCompletion.Status;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Datagram queue pair with its completion queues and buffers. After a failure the data thread
 * restarts it: packets in flight count as not sent, and packets that arrive meanwhile are lost.
 *
 * <p>The control path attaches groups; everything else belongs to the data thread once the queue
 * pair is open.
 */
final class VerbsQueues {
  /** Default queue key of RDMA CM's datagram service (RDMA_UDP_QKEY). */
  static final int QUEUE_KEY = 0x0123_4567;

  private static final int MOST_SENDS = 256;
  private static final long RETRY_NS = 100_000_000;
  private static final int PAGE_BYTES = 4096;

  private final Arena arena;
  private final ProtectionDomain domain;
  private final CompletionQueue received;
  private final DatagramQueuePair queuePair;
  private final MemoryRegion receiveRegion;
  private final VerbsReceiver receiver;
  private final VerbsSender sender;
  private final int mtuBytes;
  private final int partitionIndex;
  private final Set<Gid> groups = new HashSet<>();
  private long triedNs;
  /* These three are written by the data thread, and read by others. */
  private volatile boolean down;
  private volatile int failures;
  private volatile String lastFailure = "";

  private VerbsQueues(
      DeviceContext context,
      ProtectionDomain domain,
      int mostReceives,
      int partitionIndex,
      @Nullable SubnetHosts hosts,
      long counters,
      Arena arena) {
    this.arena = arena;
    this.partitionIndex = partitionIndex;
    boolean ethernet = context.port().ethernet();
    mtuBytes = context.port().activeMtu().bytes();
    DeviceAttributes limits = context.attributes();
    int most = Math.min(limits.maxWorkRequests(), limits.maxCompletions());
    int receives = Math.min(mostReceives, most);
    int sends = Integer.highestOneBit(Math.min(MOST_SENDS, most));
    this.domain = domain;
    received = context.createPollableCompletionQueue(receives);
    CompletionQueue sent = context.createCompletionQueue(sends);
    queuePair =
        domain.createDatagramQueuePair(new QueuePairAttributes(sent, received, sends, receives));
    receiveRegion = region((long) receives * VerbsReceiver.slotBytes(mtuBytes));
    MemoryRegion sendRegion = region((long) sends * mtuBytes);
    receiver =
        new VerbsReceiver(
            queuePair,
            received,
            receiveRegion,
            receives,
            mtuBytes,
            QUEUE_KEY,
            ethernet,
            hosts,
            counters);
    sender = new VerbsSender(queuePair, sent, sendRegion, sends, mtuBytes, counters);
    start();
  }

  /**
   * @param mostReceives maximum number of posted receives
   * @param partitionIndex index of the partition in the port's table of partition keys
   * @param hosts resolves the source LIDs of packets to ports; null on Ethernet
   * @param counters address of the fabric's counters in the status file
   * @throws VerbsException if the device refuses; the context is closed then
   */
  static VerbsQueues open(
      DeviceContext context,
      ProtectionDomain domain,
      int mostReceives,
      int partitionIndex,
      @Nullable SubnetHosts hosts,
      long counters) {
    Arena arena = Arena.ofShared();
    try {
      return new VerbsQueues(context, domain, mostReceives, partitionIndex, hosts, counters, arena);
    } catch (RuntimeException refused) {
      context.close();
      arena.close();
      throw refused;
    }
  }

  private MemoryRegion region(long bytes) {
    return domain.registerMemory(
        Memory.allocate(arena, bytes, PAGE_BYTES), bytes, EnumSet.of(Access.LOCAL_WRITE));
  }

  /* A queue pair needs its queue key and its partition before it accepts a receive. */
  private void start() {
    queuePair.start(QUEUE_KEY, partitionIndex);
    receiver.postAll();
  }

  /** Returns the number of the queue pair. */
  int number() {
    return queuePair.number();
  }

  /** Returns the MTU at the start, for which buffers were allocated. */
  int mtuBytes() {
    return mtuBytes;
  }

  long receiveArea() {
    return receiveRegion.address();
  }

  ByteBuffer receiveBytes() {
    return Memory.ALL.asSlice(receiveRegion.address(), receiveRegion.lengthBytes()).asByteBuffer();
  }

  /** Returns whether the queue pair has failed and isn't restarted yet. Thread-safe. */
  boolean isDown() {
    return down;
  }

  /** Returns the number of failures of the queue pair. Thread-safe. */
  int failures() {
    return failures;
  }

  /** Returns the reason of the last failure. Thread-safe. */
  String lastFailure() {
    return lastFailure;
  }

  /** Attaches a group, whose packets arrive from now on. */
  void attach(Gid group, int lid) {
    if (groups.add(group)) {
      try {
        queuePair.attachMulticast(group, lid);
      } catch (VerbsException refused) {
        groups.remove(group);
        throw refused;
      }
    }
  }

  void detach(Gid group) {
    if (groups.remove(group)) {
      queuePair.detachMulticast(group);
    }
  }

  /** Sets the map from MGIDs to groups. Called on the control path. */
  void useNames(AddressTable<Gid> names) {
    receiver.useNames(names);
  }

  int descriptor() {
    return received.descriptor();
  }

  boolean maySleep() {
    if (down) {
      return true;
    }
    if (receiver.failure() != null || sender.failure() != null) {
      return false;
    }
    received.arm();
    return receiver.isEmpty() && receiver.failure() == null;
  }

  TrainBatch batch() {
    return receiver.batch();
  }

  int poll() {
    sender.reap();
    Status failure = receiver.failure() == null ? sender.failure() : receiver.failure();
    if (failure != null && !restart(failure)) {
      return 0;
    }
    return receiver.receive();
  }

  private boolean restart(Status failure) {
    long now = System.nanoTime();
    if (down && now - triedNs < RETRY_NS) {
      return false;
    }
    triedNs = now;
    if (!down) {
      down = true;
      fail(failure.toString());
    }
    try {
      queuePair.toError();
      receiver.drain();
      sender.restart();
      queuePair.reset();
      receiver.drain();
      start();
      down = false;
      return true;
    } catch (VerbsException refused) {
      lastFailure = String.valueOf(refused.getMessage());
      return false;
    }
  }

  private void fail(@Nullable String reason) {
    lastFailure = String.valueOf(reason);
    failures = failures + 1;
  }

  void send(VerbsSendPath sendPath, long packet, int lengthBytes, long counters, long arrivedNs) {
    sender.send(sendPath, packet, lengthBytes, counters, arrivedNs);
  }

  void flush() {
    sender.flush();
  }

  void discard() {
    sender.discard();
  }

  /** Frees the buffers. The device's context must be closed. */
  void free() {
    arena.close();
  }
}
