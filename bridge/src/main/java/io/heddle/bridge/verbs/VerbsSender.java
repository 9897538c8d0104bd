package io.heddle.bridge.verbs;

import io.heddle.bridge.status.DropReason;
import io.heddle.bridge.status.FabricCounter;
import io.heddle.bridge.status.GroupCounters;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DatagramQueuePair;
import io.heddle.verbs.DatagramWorkRequest;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Status;
import org.jspecify.annotations.Nullable;

/**
 * Sender of packets' payloads by a queue pair. Each payload is copied to a slot of registered
 * memory, where it stays until the device has sent it. Slots are a ring, and a completion frees all
 * slots up to its own. Used by the data thread only.
 *
 * <pre>
 *   done ......... posted ......... next
 *    | in flight      | queued here   |   at most the number of slots
 * </pre>
 */
final class VerbsSender {
  /* One of this many requests is signalled, as is the last one of each post. */
  private static final int SIGNAL_EVERY = 16;
  private static final int BATCH = 32;
  private static final long PATIENCE_NS = 2_000_000;

  private final DatagramQueuePair queuePair;
  private final CompletionQueue completionQueue;
  private final MemoryRegion region;
  private final int slots;
  private final int mtuBytes;
  private final DatagramWorkRequest[] requests;
  private final WorkCompletion[] completions = WorkCompletion.batch(BATCH);
  private final long[] groupCounters;
  private final int[] packetBytes;
  private final long[] arrivedNs;
  private final long[] postedNs;
  private long next;
  private long posted;
  private long done;
  /* Whether the device has stopped sending. Packets then don't wait for a free slot. */
  private boolean stuck;
  private final long counters;
  private @Nullable Status failure;

  /**
   * @param slots number of slots, a power of two
   * @param counters address of the fabric's counters in the status file
   */
  VerbsSender(
      DatagramQueuePair queuePair,
      CompletionQueue completionQueue,
      MemoryRegion region,
      int slots,
      int mtuBytes,
      long counters) {
    this.queuePair = queuePair;
    this.completionQueue = completionQueue;
    this.region = region;
    this.slots = slots;
    this.mtuBytes = mtuBytes;
    this.counters = counters;
    groupCounters = new long[slots];
    packetBytes = new int[slots];
    arrivedNs = new long[slots];
    postedNs = new long[slots];
    requests = new DatagramWorkRequest[slots];
    for (int i = 0; i < slots; i++) {
      requests[i] = new DatagramWorkRequest();
      requests[i].localAddress = region.address() + (long) i * mtuBytes;
      requests[i].lkey = region.lkey();
    }
  }

  /** Returns the failure of a send; null for none. */
  @Nullable Status failure() {
    return failure;
  }

  private int slotOf(long index) {
    return (int) index & slots - 1;
  }

  void send(VerbsSendPath sendPath, long packet, int lengthBytes, long counted, long arrived) {
    int payload = DatagramFormat.payloadBytes(packet, lengthBytes);
    if (payload > Math.min(mtuBytes, sendPath.mtuBytes())) {
      GroupCounters.dropped(counted, DropReason.TOO_LARGE, 1);
      return;
    }
    AddressHandle handle = sendPath.handle();
    if (handle == null) {
      GroupCounters.dropped(counted, DropReason.NO_PATH, 1);
      return;
    }
    if (failure != null || next - done == slots && !awaitSlot()) {
      GroupCounters.dropped(counted, DropReason.NOT_SENT, 1);
      return;
    }
    int slot = slotOf(next);
    DatagramWorkRequest request = requests[slot];
    int opcode = PacketFormat.opcode(packet);
    long from = packet + DatagramFormat.headerBytes(opcode);
    Memory.copy(from, request.localAddress, payload);
    request.id = next;
    request.lengthBytes = payload;
    request.hasImmediate = opcode == DatagramFormat.SEND_ONLY_WITH_IMMEDIATE;
    request.immediate = request.hasImmediate ? DatagramFormat.immediate(packet) : 0;
    request.destination = handle;
    request.remoteQueuePairNumber = PacketFormat.queuePair(packet);
    request.remoteQueueKey = DatagramFormat.queueKey(packet);
    groupCounters[slot] = counted;
    packetBytes[slot] = lengthBytes;
    arrivedNs[slot] = arrived;
    next++;
  }

  /* Waits briefly for a free slot if all are in use. */
  private boolean awaitSlot() {
    flush();
    reap();
    long start = System.nanoTime();
    while (!stuck && failure == null && next - done == slots) {
      stuck = System.nanoTime() - start > PATIENCE_NS;
      reap();
    }
    return failure == null && next - done < slots;
  }

  /** Posts the queued packets, and counts the results of earlier ones. */
  void flush() {
    int count = (int) (next - posted);
    if (count == 0) {
      return;
    }
    long now = System.nanoTime();
    for (long index = posted; index < next; index++) {
      DatagramWorkRequest request = requests[slotOf(index)];
      request.signalled = index == next - 1 || index % SIGNAL_EVERY == 0;
      request.next = index == next - 1 ? null : requests[slotOf(index + 1)];
      postedNs[slotOf(index)] = now;
    }
    int taken = Math.max(0, queuePair.postSend(requests[slotOf(posted)]));
    FabricCounter.SENT_MESSAGES.add(counters, taken);
    posted += taken;
    for (long index = posted; index < next; index++) {
      GroupCounters.dropped(groupCounters[slotOf(index)], DropReason.NOT_SENT, 1);
    }
    next = posted;
    reap();
  }

  /** Counts the packets that the device has finished, and frees their slots. */
  void reap() {
    if (done == posted) {
      return;
    }
    int count = completionQueue.poll(completions);
    while (count > 0) {
      for (int i = 0; i < count; i++) {
        completed(completions[i]);
      }
      count = count == BATCH ? completionQueue.poll(completions) : 0;
    }
    if (count < 0 && failure == null) {
      failure = Status.FATAL_ERROR;
    }
  }

  /* Requests complete in order, and a failed one always has a completion. */
  private void completed(WorkCompletion completion) {
    long index = completion.workRequestId;
    stuck = false;
    while (done < index) {
      forwarded(slotOf(done++));
    }
    if (done > index) {
      return;
    }
    if (completion.status == Status.SUCCESS) {
      forwarded(slotOf(done));
    } else {
      GroupCounters.dropped(groupCounters[slotOf(done)], DropReason.NOT_SENT, 1);
      failure = failure == null ? completion.status : failure;
    }
    done++;
  }

  private void forwarded(int slot) {
    GroupCounters.forwarded(
        groupCounters[slot], packetBytes[slot], postedNs[slot] - arrivedNs[slot]);
  }

  /** Drops the queued packets, which weren't posted. */
  void discard() {
    next = posted;
  }

  /** Handles a reset of the queue pair: packets in flight count as not sent. */
  void restart() {
    reap();
    for (; done < next; done++) {
      GroupCounters.dropped(groupCounters[slotOf(done)], DropReason.NOT_SENT, 1);
    }
    posted = next;
    stuck = false;
    failure = null;
  }
}
