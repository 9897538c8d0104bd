package io.heddle.bridge.verbs;

import io.heddle.bridge.fabric.TrainBatch;
import io.heddle.bridge.infiniband.SubnetHosts;
import io.heddle.bridge.status.FabricCounter;
import io.heddle.bridge.table.AddressTable;
import io.heddle.platform.Memory;
import io.heddle.roce.wire.DatagramFormat;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DatagramQueuePair;
import io.heddle.verbs.Gid;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.WorkCompletion;
import io.heddle.verbs.WorkCompletion.Status;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Receiver of a queue pair's datagrams, each in its own slot of registered memory. It builds
 * packets by writing BTH and DETH over the end of the delivered route header. All slots are posted
 * except those of the current batch. Used by the data thread only.
 *
 * <p>A completion has no time stamp. The packet arrived before its completion was polled. It
 * arrived after its slot was posted, and after the queue was last seen empty, apart from the
 * device's delay.
 *
 * <pre>
 *  0                     16 or 20    40
 * |global route header                |payload      |pad, room for a CRC|
 * |                      |BTH, DETH ..|
 * </pre>
 */
final class VerbsReceiver {
  static final int BATCH = 64;
  /* Pad and CRC after a payload. */
  private static final int TAIL_BYTES = 8;
  private static final int LINE_BYTES = 64;

  /** Assumed maximum delay between a packet's arrival and its completion. */
  static final long DEVICE_NS = 1_000_000;

  private final DatagramQueuePair queuePair;
  private final CompletionQueue completionQueue;
  private final MemoryRegion region;
  private final int slots;
  private final int slotBytes;
  private final int queueKey;
  private final boolean ethernet;
  private final WorkCompletion[] completions = WorkCompletion.batch(BATCH);
  private final TrainBatch batch = new TrainBatch(BATCH);
  private final int[] used = new int[BATCH];
  private int usedSlots;
  /* Time when each slot was posted. */
  private final long[] postedNs;
  /* Time when the completion queue was last seen empty. */
  private long emptyNs;
  /* Value of emptyNs before the current completions were polled. */
  private long emptyBeforeNs;
  /* Number of completions that the check before a sleep has found. */
  private int found;
  private int packetNumber;
  private final long counters;
  private @Nullable Status failure;
  private final @Nullable SubnetHosts hosts;
  /* Groups by MGID, for those whose MGID isn't their address. Written on the control path. */
  private volatile AddressTable<Gid> names = new AddressTable<>(Map.of());

  /**
   * @param hosts resolves the source LIDs of packets without a route header to ports; null on
   *     Ethernet
   * @param counters address of the fabric's counters in the status file
   */
  VerbsReceiver(
      DatagramQueuePair queuePair,
      CompletionQueue completionQueue,
      MemoryRegion region,
      int slots,
      int mtuBytes,
      int queueKey,
      boolean ethernet,
      @Nullable SubnetHosts hosts,
      long counters) {
    this.queuePair = queuePair;
    this.completionQueue = completionQueue;
    this.region = region;
    this.slots = slots;
    this.queueKey = queueKey;
    this.ethernet = ethernet;
    this.hosts = hosts;
    this.counters = counters;
    postedNs = new long[slots];
    slotBytes = slotBytes(mtuBytes);
  }

  /** Returns the length of a slot, for payloads up to the MTU. */
  static int slotBytes(int mtuBytes) {
    int bytes = GlobalRouteHeader.BYTES + mtuBytes + TAIL_BYTES;
    return (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
  }

  /** Sets the map from MGIDs to groups. Called on the control path. */
  void useNames(AddressTable<Gid> others) {
    names = others;
  }

  TrainBatch batch() {
    return batch;
  }

  /** Returns the failure of a receive; null for none. */
  @Nullable Status failure() {
    return failure;
  }

  /** Posts all slots of a queue pair that has no posted receives. */
  void postAll() {
    failure = null;
    found = 0;
    usedSlots = 0;
    long now = System.nanoTime();
    emptyNs = now;
    for (int slot = 0; slot < slots; slot++) {
      post(slot, now);
    }
  }

  /* The time must be taken before the post. */
  private void post(int slot, long nowNs) {
    postedNs[slot] = nowNs;
    long at = region.address() + (long) slot * slotBytes;
    GlobalRouteHeader.clear(at);
    int refused = queuePair.postReceive(slot, at, slotBytes - TAIL_BYTES, region.lkey());
    if (refused != 0 && failure == null) {
      failure = Status.GENERAL_ERROR;
    }
  }

  /** Returns whether nothing has arrived since the queue was armed. */
  boolean isEmpty() {
    if (found == 0) {
      found = poll(System.nanoTime());
    }
    return found == 0;
  }

  /*
   * The time must be taken before the poll. A batch that isn't full contains all completions that
   * were pending.
   */
  private int poll(long nowNs) {
    int count = completionQueue.poll(completions);
    if (count < 0 && failure == null) {
      failure = Status.FATAL_ERROR;
    }
    emptyBeforeNs = emptyNs;
    if (count >= 0 && count < BATCH) {
      emptyNs = nowNs;
    }
    return Math.max(count, 0);
  }

  /**
   * Reposts the slots of the last batch, and receives the next one. Returns its number of packets.
   */
  int receive() {
    long before = System.nanoTime();
    for (int i = 0; i < usedSlots; i++) {
      post(used[i], before);
    }
    usedSlots = 0;
    int count = found > 0 ? found : poll(before);
    found = 0;
    if (count == 0) {
      return 0;
    }
    long now = System.nanoTime();
    int rows = 0;
    for (int i = 0; i < count; i++) {
      WorkCompletion completion = completions[i];
      int slot = (int) completion.workRequestId;
      if (completion.status != Status.SUCCESS) {
        failure = failure == null ? completion.status : failure;
      } else if (completion.lengthBytes < GlobalRouteHeader.BYTES) {
        FabricCounter.EMPTY.add(counters, 1);
        post(slot, now);
      } else {
        take(slot, completion, rows, now);
        used[usedSlots++] = slot;
        rows++;
      }
    }
    return rows;
  }

  private void take(int slot, WorkCompletion completion, int row, long nowNs) {
    long at = region.address() + (long) slot * slotBytes;
    readRoute(at, completion, row);
    int payload = completion.lengthBytes - GlobalRouteHeader.BYTES;
    int pad = -payload & 3;
    int opcode =
        completion.hasImmediate
            ? DatagramFormat.SEND_ONLY_WITH_IMMEDIATE
            : DatagramFormat.SEND_ONLY;
    int headers = DatagramFormat.headerBytes(opcode);
    long packet = at + GlobalRouteHeader.BYTES - headers;
    DatagramFormat.write(
        packet,
        opcode,
        pad,
        batch.isMulticast(row) ? DatagramFormat.MULTICAST_QUEUE_PAIR : queuePair.number(),
        packetNumber,
        queueKey,
        completion.sourceQueuePairNumber);
    packetNumber = packetNumber + 1 & PacketFormat.PSN_MASK;
    if (completion.hasImmediate) {
      DatagramFormat.setImmediate(packet, completion.immediate);
    }
    /* The pad is zeros, followed by space for the CRC. */
    Memory.setInt(packet + headers + payload, 0);
    int length = headers + payload + pad + PacketFormat.ICRC_BYTES;
    batch.address[row] = packet;
    batch.lengthBytes[row] = length;
    batch.strideBytes[row] = length;
    batch.sourcePort[row] = 0;
    batch.arrivedNs[row] = nowNs;
    batch.notBeforeNs[row] = later(emptyBeforeNs, postedNs[slot]) - DEVICE_NS;
    FabricCounter.received(counters, 1, length);
  }

  private void readRoute(long at, WorkCompletion completion, int row) {
    if (ethernet) {
      GlobalRouteHeader.read(at, batch, row);
      return;
    }
    GlobalRouteHeader.readOfInfiniband(at, completion.hasRouteHeader, batch, row);
    if (!completion.hasRouteHeader) {
      Gid port = hosts == null ? null : hosts.portOfLid(completion.sourceLid);
      if (port != null) {
        batch.sourceHigh[row] = port.high();
        batch.sourceLow[row] = port.low();
      }
      return;
    }
    Gid group = names.find(batch.destinationHigh[row], batch.destinationLow[row]);
    if (group != null) {
      batch.destinationHigh[row] = group.high();
      batch.destinationLow[row] = group.low();
    }
  }

  private static long later(long one, long other) {
    return one - other > 0 ? one : other;
  }

  /** Drops all completions of the queue pair, while it is being reset. */
  void drain() {
    int count = completionQueue.poll(completions);
    while (count > 0) {
      count = completionQueue.poll(completions);
    }
  }
}
