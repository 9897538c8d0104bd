package io.heddle.verbs.libibverbs;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceAttributes;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** An opened device, seen through one of its ports. */
final class NativeContext implements DeviceContext {
  private static final Path INTERFACES = Path.of("/sys/class/net");
  private static final int PREFERRED_WRITE_BYTES = 1 << 16;

  private final NativeDevice device;
  private final long address;
  private final Log log;
  private final LeakLedger ledger;
  private final DeviceQuery limits;
  private final DeviceAttributes attributes;
  private final GidReader gids;
  private final AsyncEvents events;
  private final OwnershipLock lock = new OwnershipLock();
  private final Set<NativeProtectionDomain> domains = ConcurrentHashMap.newKeySet();
  private final Set<NativeCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();
  private boolean closed; /* written alone, read shared */

  NativeContext(NativeDevice device, long address, String systemPath, Log log, LeakLedger ledger) {
    this.device = device;
    this.address = address;
    this.log = log;
    this.ledger = ledger;
    limits = DeviceQuery.read(address, device.name());
    gids = new GidReader(address, device.port(), systemPath);
    events = new AsyncEvents(address);
    attributes =
        new DeviceAttributes(
            limits.guid(),
            SystemPath.pciPath(Path.of(systemPath), INTERFACES),
            limits.maxQueuePairs(),
            limits.maxWorkRequests(),
            limits.maxCompletions(),
            takesDmaBufs());
    ledger.opened("libibverbs device context");
  }

  private boolean takesDmaBufs() {
    long pd = Verb.ALLOC_PD.call(device.name(), address);
    try {
      return DeviceQuery.takesDmaBufs(pd);
    } finally {
      Verb.DEALLOC_PD.call("protection domain of " + device.name(), pd);
    }
  }

  long address() {
    return address;
  }

  DeviceQuery limits() {
    return limits;
  }

  LeakLedger ledger() {
    return ledger;
  }

  OwnershipLock lock() {
    return lock;
  }

  Log log() {
    return log;
  }

  String name() {
    return device.name();
  }

  int portNumber() {
    return device.port();
  }

  /** Under the shared lock. */
  void requireOpen(Verb verb) {
    if (closed) {
      throw verb.failure(name() + ", which is closed", Errno.ENODEV);
    }
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
    return portState().attributes();
  }

  PortQuery portState() {
    return lock.shared(() -> {
      requireOpen(Verb.QUERY_PORT);
      return PortQuery.read(address, name(), device.port());
    });
  }

  @Override
  public GidTable gidTable() {
    PortQuery state = portState();
    return lock.shared(() -> {
      requireOpen(Verb.QUERY_GID_TABLE);
      return gids.read(state);
    });
  }

  /**
   * The entry at this index.
   *
   * @throws VerbsException where it's empty or beyond the table
   */
  GidTable.Entry gidAt(int index, String user) {
    GidTable table = gidTable();
    return table.entries().stream()
        .filter(entry -> entry.index() == index)
        .findFirst()
        .orElseThrow(() ->
            new VerbsException(
                "modify_qp",
                "%s, GID index %s (filled are %s)"
                    .formatted(
                        user, index, table.entries().stream().map(GidTable.Entry::index).toList()),
                Errno.EINVAL));
  }

  /**
   * Where the address is now, whatever its index was before.
   *
   * @throws VerbsException when the port has it no more
   */
  int indexOf(GidTable.Entry wanted, String user) {
    for (GidTable.Entry entry : gidTable().entries()) {
      if (entry.type() == wanted.type() && entry.gid().equals(wanted.gid())) {
        return entry.index();
      }
    }
    throw new VerbsException(
        "modify_qp",
        "%s: address %s is no longer in the port's GID table".formatted(user, wanted.gid()),
        Errno.EADDRNOTAVAIL);
  }

  @Override
  public int preferredWriteBytes(PathMtu mtu) {
    return PREFERRED_WRITE_BYTES;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return lock.shared(() -> {
      requireOpen(Verb.ALLOC_PD);
      NativeProtectionDomain pd =
          new NativeProtectionDomain(this, Verb.ALLOC_PD.call(name(), address));
      domains.add(pd);
      ledger.opened("libibverbs protection domain");
      return pd;
    });
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity) {
    return lock.shared(() -> {
      requireOpen(Verb.CREATE_CQ);
      if (capacity < 1 || capacity > limits.maxCompletions()) {
        throw Verb.CREATE_CQ.failure(
            "%s, capacity %s (1 to %s)".formatted(name(), capacity, limits.maxCompletions()),
            Errno.EINVAL);
      }
      NativeCompletionQueue cq =
          new NativeCompletionQueue(
              this,
              Verb.CREATE_CQ.call(
                  "%s, capacity %s".formatted(name(), capacity), address, capacity, 0, 0, 0));
      completionQueues.add(cq);
      ledger.opened("libibverbs completion queue");
      return cq;
    });
  }

  /** Nothing: the device, or rxe in the kernel, makes progress by itself. */
  @Override
  public int progress() {
    return 0;
  }

  @Override
  public int pollAsyncEvents(AsyncEventListener listener) {
    List<AsyncEvents.Event> taken = lock.shared(() -> closed ? List.of() : events.take());
    for (AsyncEvents.Event event : taken) {
      listener.onAsyncEvent(event.kind(), event.queuePairNumber());
    }
    return taken.size();
  }

  /* Children that close themselves tell so. */

  void closed(NativeProtectionDomain pd) {
    domains.remove(pd);
    ledger.closed("libibverbs protection domain");
  }

  void closed(NativeCompletionQueue cq) {
    completionQueues.remove(cq);
    ledger.closed("libibverbs completion queue");
  }

  @Override
  public void close() {
    lock.alone(() -> {
      if (closed) {
        return;
      }
      List.copyOf(domains).forEach(NativeProtectionDomain::close);
      List.copyOf(completionQueues).forEach(NativeCompletionQueue::close);
      closed = true;
      ledger.closed("libibverbs device context");
      Verb.CLOSE_DEVICE.call("device " + name(), address);
    });
  }

  /** The local identifier of an InfiniBand port; 0 on Ethernet. */
  int lid() {
    PortQuery state = portState();
    return state.ethernet() ? 0 : state.lid();
  }

  @Override
  public String toString() {
    return name();
  }
}
