package io.heddle.softdevice.queue;

import io.heddle.addr.RocePorts;
import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.NanoClock;
import io.heddle.platform.ProcessLimits;
import io.heddle.platform.RandomBytes;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.softdevice.io.AsyncEvent;
import io.heddle.softdevice.io.DeviceSockets;
import io.heddle.softdevice.io.PacketGate;
import io.heddle.softdevice.io.SoftPort;
import io.heddle.softdevice.io.SourcePorts;
import io.heddle.softdevice.io.ZeroCopyTrial;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceAttributes;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.DeviceTrial;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Open soft device. All methods except {@link #progress} are of the control path. They hold this
 * object's monitor, and within it the progress lock while they access data-path state.
 */
final class SoftContext implements DeviceContext {
  private static final int MAX_WORK_REQUESTS = 1 << 14;
  private static final int MAX_COMPLETIONS = 1 << 20;
  private static final int GENERATION_BITS = 11;
  private static final int GENERATIONS = 1 << GENERATION_BITS;

  private final RdmaDevice device;
  private final SoftPort port;
  private final boolean standardPeers;
  private final LeakLedger ledger;
  private final Arena arena;
  private final Engine engine;
  private final ProgressThread progressThread;
  private final DeviceAttributes attributes;
  private final Set<SoftProtectionDomain> domains = new LinkedHashSet<>();
  private final Set<SoftMemoryRegion> regions = new LinkedHashSet<>();
  private final Set<SoftQueuePair> queuePairs = new LinkedHashSet<>();
  private final Set<SoftCompletionQueue> completionQueues = new LinkedHashSet<>();
  private final DeviceSockets sockets;
  private final DeviceParts parts;
  private int nextSlot;
  private int generation;
  private int nextDomain = 1;
  private boolean closed;

  /**
   * @param arena owner of the device's memory and descriptors; closed with this device, or by the
   *     caller if the constructor throws
   */
  SoftContext(
      RdmaDevice device,
      SoftPort port,
      boolean standardPeers,
      RocePorts ports,
      SourcePorts sourcePorts,
      Log log,
      LeakLedger ledger,
      Arena arena,
      PacketGate gate) {
    this.device = device;
    this.port = port;
    this.standardPeers = standardPeers;
    this.ledger = ledger;
    this.arena = arena;
    /*
     * The start values are random, so that a packet for an earlier process matches no queue pair
     * and no key.
     */
    nextSlot = RandomBytes.nextBits(6);
    generation = RandomBytes.nextBits(GENERATION_BITS);
    engine = new Engine(arena, log, NanoClock.SYSTEM, 1 + RandomBytes.nextBits(13), gate);
    SoftPort.Identity identity = port.identity();
    attributes =
        new DeviceAttributes(
            identity.guid(),
            identity.pciPath(),
            QueuePairTable.ADVERTISED,
            MAX_WORK_REQUESTS,
            QueuePairTable.ADVERTISED,
            MAX_COMPLETIONS,
            false);
    engine.trySystemCalls();
    progressThread = new ProgressThread(engine, arena, log, "heddle-soft0");
    engine.setProgressThread(progressThread);
    sockets =
        new DeviceSockets(
            port, ports, sourcePorts, this::startReceiving, engine::stopReceiving, log);
    parts = new DeviceParts(this, engine, sockets, new PeerGroups(), standardPeers);
    progressThread
        .start(); /* the last step that may fail: from here on the thread uses the arena */
  }

  private void startReceiving(int fd) {
    engine.startReceiving(fd);
    progressThread.watch(fd);
  }

  Engine engine() {
    return engine;
  }

  @Override
  public RdmaDevice device() {
    return device;
  }

  @Override
  public DeviceAttributes attributes() {
    return attributes;
  }

  @Override
  public PortAttributes port() {
    return port.attributes();
  }

  @Override
  public GidTable gidTable() {
    return port.gidTable();
  }

  @Override
  public int preferredWriteBytes(PathMtu mtu) {
    return preferredWrite(mtu);
  }

  /**
   * Returns the preferred length of a WRITE, which is the same for all soft devices. A train of
   * larger packets has room for it too.
   */
  static int preferredWrite(PathMtu mtu) {
    /*
     * Computes the number of full packets that fit one segmented send beside the closing packet
     * with the immediate.
     */
    int packet =
        PacketFormat.BTH_BYTES + PacketFormat.RETH_BYTES + mtu.bytes() + PacketFormat.ICRC_BYTES;
    int closing = packet - mtu.bytes() + PacketFormat.IMMEDIATE_BYTES;
    int packets =
        Math.min(PacketSizes.TRAIN_PACKETS - 1, (PacketSizes.TRAIN_BYTES - closing) / packet);
    return packets * mtu.bytes();
  }

  @Override
  public int maxLinks() {
    return standardPeers ? 1 : EndpointParameters.MOST_LINKS;
  }

  @Override
  public int progress() {
    return engine.progress();
  }

  @Override
  public long activity() {
    return engine.counters.activity();
  }

  @Override
  public long progressedAtNs() {
    return engine.lastCallNs();
  }

  @Override
  public long progressedAtAddress() {
    return engine.lastCallAddress();
  }

  @Override
  public int pollAsyncEvents(AsyncEventListener listener) {
    int count = 0;
    synchronized (engine.events) {
      for (AsyncEvent event = engine.events.poll(); event != null; event = engine.events.poll()) {
        listener.onAsyncEvent(event.kind(), event.queuePairNumber());
        count++;
      }
    }
    return count;
  }

  @Override
  public List<DeviceTrial> runTrials() {
    return List.of(ZeroCopyTrial.run(System.getProperty("os.version")));
  }

  @Override
  public void readCounters(CounterReader reader) {
    engine.counters.read(reader);
  }

  private void requireOpen(String verb) {
    if (closed) {
      throw new VerbsException(verb, "soft0, which is closed", Errno.ENODEV);
    }
  }

  @Override
  public synchronized ProtectionDomain allocateProtectionDomain() {
    requireOpen("alloc_pd");
    SoftProtectionDomain pd = new SoftProtectionDomain(this, nextDomain++);
    domains.add(pd);
    ledger.opened("soft protection domain");
    return pd;
  }

  @Override
  public synchronized CompletionQueue createCompletionQueue(int capacity) {
    requireOpen("create_cq");
    if (capacity < 1 || capacity > MAX_COMPLETIONS) {
      throw new VerbsException(
          "create_cq",
          "soft0, capacity " + capacity + " (1 to " + MAX_COMPLETIONS + ")",
          Errno.EINVAL);
    }
    long rows = MemoryCalls.mapMemory(SoftCompletionQueue.bytes(capacity));
    if (rows < 0) {
      throw new VerbsException(
          "create_cq",
          "soft0, memory for " + capacity + " completions (" + ProcessLimits.ofMemory() + ")",
          (int) -rows);
    }
    MemoryCalls.adviseSmallPages(rows, SoftCompletionQueue.bytes(capacity));
    SoftCompletionQueue cq = new SoftCompletionQueue(this, capacity, rows, this::closing);
    completionQueues.add(cq);
    ledger.opened("soft completion queue");
    return cq;
  }

  synchronized MemoryRegion register(
      SoftProtectionDomain pd, long address, long lengthBytes, int rights) {
    int key;
    engine.lock.lock();
    try {
      key = engine.regions.add(address, lengthBytes, pd.id(), rights);
    } finally {
      engine.unlock();
    }
    if (key == 0) {
      throw new VerbsException("reg_mr", "soft0, whose table of regions is full", Errno.ENOMEM);
    }
    SoftMemoryRegion region = new SoftMemoryRegion(this, pd, address, lengthBytes, key);
    regions.add(region);
    ledger.opened("soft memory region");
    return region;
  }

  synchronized QueuePair createQueuePair(SoftProtectionDomain pd, QueuePairAttributes wanted) {
    if (wanted.sendDepth() < 1
        || wanted.receiveDepth() < 1
        || wanted.sendDepth() > MAX_WORK_REQUESTS
        || wanted.receiveDepth() > MAX_WORK_REQUESTS) {
      throw new VerbsException(
          "create_qp",
          "soft0, depths "
              + wanted.sendDepth()
              + " and "
              + wanted.receiveDepth()
              + " (1 to "
              + MAX_WORK_REQUESTS
              + ")",
          Errno.EINVAL);
    }
    if (!completionQueues.contains(wanted.sendQueue())
        || !completionQueues.contains(wanted.receiveQueue())) {
      throw new VerbsException(
          "create_qp",
          "soft0, with a completion queue that is closed or another device's",
          Errno.EINVAL);
    }
    SoftQueuePair qp;
    engine.lock.lock();
    try {
      int slot = engine.queuePairs.freeSlot(nextSlot);
      if (slot < 0) {
        throw new VerbsException(
            "create_qp",
            "soft0, all " + QueuePairTable.SLOTS + " queue pairs in use",
            Errno.ENOMEM);
      }
      /* Queue pair numbers 0 and 1 are reserved for management, so the generation is never 0. */
      generation = generation % (GENERATIONS - 1) + 1;
      qp =
          new SoftQueuePair(
              parts, pd.id(), wanted, generation * QueuePairTable.SLOTS | slot, this::closed);
      engine.queuePairs.enter(slot, qp);
      nextSlot = (slot + 1) % 64 == 0 ? 0 : slot + 1;
      ((SoftCompletionQueue) wanted.sendQueue()).attach();
      ((SoftCompletionQueue) wanted.receiveQueue()).attach();
    } finally {
      engine.unlock();
    }
    queuePairs.add(qp);
    ledger.opened("soft queue pair");
    return qp;
  }

  /* Objects of this device call these methods when they close, and hold the monitor. */

  void closed(SoftQueuePair qp) {
    queuePairs.remove(qp);
    ledger.closed("soft queue pair");
  }

  void closed(SoftMemoryRegion region) {
    regions.remove(region);
    ledger.closed("soft memory region");
  }

  void closed(SoftProtectionDomain pd) {
    domains.remove(pd);
    ledger.closed("soft protection domain");
  }

  /** Removes a completion queue. Fails with EBUSY while queue pairs use the queue, as in verbs. */
  synchronized void closing(SoftCompletionQueue cq) {
    if (cq.users() > 0) {
      throw new VerbsException(
          "destroy_cq",
          "soft0, a completion queue that " + cq.users() + " work queues use",
          Errno.EBUSY);
    }
    completionQueues.remove(cq);
    ledger.closed("soft completion queue");
  }

  void closeChildrenOf(SoftProtectionDomain pd) {
    for (SoftQueuePair qp : List.copyOf(queuePairs)) {
      if (qp.pdId() == pd.id()) {
        qp.close();
      }
    }
    for (SoftMemoryRegion region : List.copyOf(regions)) {
      if (region.pd() == pd) {
        region.close();
      }
    }
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    for (SoftProtectionDomain pd : new ArrayList<>(domains)) {
      pd.close();
    }
    for (SoftCompletionQueue cq : new ArrayList<>(completionQueues)) {
      cq.close();
    }
    closed = true;
    /* The lock is never released, so later calls of progress find the device busy. */
    engine.lock.lock();
    engine.setProgressThread(null);
    progressThread.stop();
    sockets.close();
    arena.close();
    ledger.closed("soft device context");
  }
}
