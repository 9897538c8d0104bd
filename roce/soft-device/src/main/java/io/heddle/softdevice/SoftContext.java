package io.heddle.softdevice;

import io.heddle.addr.RocePorts;
import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.NanoClock;
import io.heddle.platform.ProcessLimits;
import io.heddle.platform.RandomBytes;
import io.heddle.platform.SystemCallException;
import io.heddle.roce.transport.requester.PeerGroup;
import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PacketFormat;
import io.heddle.roce.wire.PacketSizes;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceAttributes;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.DeviceTrial;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.ReadyToSendAttributes;
import io.heddle.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.agrona.collections.Long2ObjectHashMap;
import org.jspecify.annotations.Nullable;

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
  private final RocePorts ports;
  private final SourcePorts sourcePorts;
  private final Log log;
  private final LeakLedger ledger;
  private final Arena arena;
  private final Engine engine;
  private final ProgressThread progressThread;
  private final DeviceAttributes attributes;
  private final Set<SoftProtectionDomain> domains = new LinkedHashSet<>();
  private final Set<SoftMemoryRegion> regions = new LinkedHashSet<>();
  private final Set<SoftQueuePair> queuePairs = new LinkedHashSet<>();
  private final Set<SoftCompletionQueue> completionQueues = new LinkedHashSet<>();
  private final Map<Gid, ReceivePort> receivePorts = new HashMap<>();
  private final Long2ObjectHashMap<PeerGroup> peerGroups = new Long2ObjectHashMap<>();
  private final EgressPinning strays;
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
    this.ports = ports;
    this.sourcePorts = sourcePorts;
    this.log = log;
    this.ledger = ledger;
    this.arena = arena;
    strays = new EgressPinning(log);
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
            Engine.ADVERTISED_QUEUE_PAIRS,
            MAX_WORK_REQUESTS,
            Engine.ADVERTISED_QUEUE_PAIRS,
            MAX_COMPLETIONS,
            false);
    engine.trySystemCalls();
    progressThread = new ProgressThread(engine, arena, log, "heddle-soft0");
    engine.setProgressThread(progressThread);
    progressThread
        .start(); /* the last step that may fail: from here on the thread uses the arena */
  }

  Engine engine() {
    return engine;
  }

  /** Returns the egress pinning. The caller holds the monitor. */
  EgressPinning egressPinning() {
    return strays;
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

  /**
   * Returns whether other soft devices are treated as standard ones, which serves for comparisons.
   */
  boolean arePeersStandard() {
    return standardPeers;
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
    SoftCompletionQueue cq = new SoftCompletionQueue(this, capacity, rows);
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
      int slot = engine.freeSlot(nextSlot);
      if (slot < 0) {
        throw new VerbsException(
            "create_qp", "soft0, all " + Engine.QUEUE_PAIRS + " queue pairs in use", Errno.ENOMEM);
      }
      /* Queue pair numbers 0 and 1 are reserved for management, so the generation is never 0. */
      generation = generation % (GENERATIONS - 1) + 1;
      qp = new SoftQueuePair(this, pd, wanted, generation * Engine.QUEUE_PAIRS | slot);
      engine.enter(slot, qp);
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

  /**
   * Opens sockets for a queue pair on these addresses. An entry of the result is null if its index
   * is negative.
   *
   * @throws VerbsException for too many or no addresses, or if a socket can't be opened
   */
  synchronized List<PeerLinks.@Nullable LocalEnd> openLinks(int[] gidIndexes, SoftQueuePair qp) {
    if (gidIndexes.length > EndpointParameters.MOST_LINKS
        || Arrays.stream(gidIndexes).noneMatch(i -> i >= 0)) {
      throw new VerbsException(
          "modify_qp",
          qp
              + " to INIT on addresses "
              + Arrays.toString(gidIndexes)
              + " (1 to "
              + EndpointParameters.MOST_LINKS
              + ")",
          Errno.EINVAL);
    }
    closeUnusedReceivers();
    List<PeerLinks.@Nullable LocalEnd> opened = new ArrayList<>();
    try {
      for (int index : gidIndexes) {
        opened.add(index < 0 ? null : openLink(index, qp));
      }
    } catch (VerbsException failed) {
      opened.stream().filter(Objects::nonNull).forEach(each -> each.socket().close());
      throw failed;
    }
    return opened;
  }

  private PeerLinks.LocalEnd openLink(int gidIndex, SoftQueuePair qp) {
    SoftPort.Address address = port.address(gidIndex);
    ReceivePort receiver = receivePort(address);
    return new PeerLinks.LocalEnd(PeerLink.open(address, sourcePorts, qp), address, receiver);
  }

  /** Returns the receiving socket of this address, opened at first use. */
  private ReceivePort receivePort(SoftPort.Address address) {
    requireOpen("modify_qp");
    ReceivePort open = receivePorts.get(address.gid());
    if (open != null) {
      return open;
    }
    UdpSocket socket;
    try {
      socket = bindReceiver(address);
    } catch (SystemCallException failed) {
      throw new VerbsException("modify_qp", "soft0, receiving on " + address.gid(), failed.errno());
    }
    ReceivePort fresh = new ReceivePort(socket);
    receivePorts.put(address.gid(), fresh);
    engine.lock.lock();
    try {
      engine.addReceiveSocket(socket.fd());
    } finally {
      engine.unlock();
    }
    progressThread.watch(socket.fd());
    return fresh;
  }

  /* Closes unused sockets of removed addresses, since addresses change while a job runs. */
  private void closeUnusedReceivers() {
    if (receivePorts.values().stream().allMatch(ReceivePort::isUsed)) {
      return;
    }
    Set<Gid> there =
        port.addresses().stream().map(SoftPort.Address::gid).collect(Collectors.toSet());
    receivePorts
        .entrySet()
        .removeIf(entry -> {
          ReceivePort open = entry.getValue();
          boolean unused = !open.isUsed() && !there.contains(entry.getKey());
          if (unused) {
            engine.lock.lock();
            try {
              engine.removeReceiveSocket(open.socket().fd());
            } finally {
              engine.unlock();
            }
            open.socket().close();
          }
          return unused;
        });
  }

  private UdpSocket bindReceiver(SoftPort.Address address) {
    for (int each = ports.first(); each <= ports.last(); each++) {
      try {
        return bound(address, each);
      } catch (SystemCallException failed) {
        if (!UdpSocket.isAddressInUse(failed)) {
          throw failed;
        }
      }
    }
    UdpSocket outside = UdpSocket.bind(address.gid(), address.scope(), 0, true);
    log.warn(
        "soft0: UDP ports %s of %s are all in use; receiving on port %d, which a firewall may"
            + " block; %s sets a larger range",
        ports, address.gid(), outside.port(), RocePorts.VARIABLE);
    return outside;
  }

  private UdpSocket bound(SoftPort.Address address, int number) {
    UdpSocket socket = UdpSocket.bind(address.gid(), address.scope(), number, true);
    if (number != PacketFormat.ROCE_PORT) {
      log.info(
          "soft0: receiving on port %d of %s, which only other soft devices learn and use",
          number, address.gid());
    }
    return socket;
  }

  /**
   * Returns the group of queue pairs to this peer, with the caller as a new user; or null for
   * {@link ReadyToSendAttributes#NO_PEER_GROUP}. The caller holds the monitor, and must call {@link
   * #releaseGroup} when it changes its group or is closed.
   */
  @Nullable PeerGroup peerGroup(long peer) {
    if (peer == ReadyToSendAttributes.NO_PEER_GROUP) {
      return null;
    }
    PeerGroup found = peerGroups.computeIfAbsent(peer, number -> new PeerGroup());
    found.addUser();
    return found;
  }

  void releaseGroup(@Nullable PeerGroup group) {
    if (group != null && group.removeUser()) {
      peerGroups.values().remove(group);
    }
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
      if (qp.pd() == pd) {
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
    for (ReceivePort open : receivePorts.values()) {
      open.socket().close();
    }
    receivePorts.clear();
    arena.close();
    ledger.closed("soft device context");
  }
}
