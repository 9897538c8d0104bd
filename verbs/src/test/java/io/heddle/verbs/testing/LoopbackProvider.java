package io.heddle.verbs.testing;

import io.heddle.platform.Errno;
import io.heddle.platform.LeakLedger;
import io.heddle.platform.Log;
import io.heddle.platform.Memory;
import io.heddle.verbs.AsyncEventListener;
import io.heddle.verbs.CompletionQueue;
import io.heddle.verbs.DeviceAttributes;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.Gid;
import io.heddle.verbs.GidTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.PathMtu;
import io.heddle.verbs.PortAttributes;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.RdmaDevice;
import io.heddle.verbs.VerbsException;
import io.heddle.verbs.VerbsProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Provider of one in-memory device on a {@link LoopbackFabric}, for tests of verbs users without a
 * network.
 */
public final class LoopbackProvider implements VerbsProvider {
  /** Limits that are enough for any test. */
  private static final Limits PLENTY = new Limits(4096, 1 << 22);

  private static final int PREFERRED_WRITE_BYTES = 61_440;

  private final LoopbackFabric fabric;
  private final List<Gid> gids;
  private final Limits limits;

  /**
   * Limits of the device.
   *
   * @param workRequests largest depth of a work queue
   * @param completions largest depth of a completion queue
   */
  public record Limits(int workRequests, int completions) {}

  /**
   * @param gids addresses of the device's port, in order of their index
   */
  public LoopbackProvider(LoopbackFabric fabric, List<Gid> gids) {
    this(fabric, gids, PLENTY);
  }

  /** Creates a provider whose device has these limits. */
  public LoopbackProvider(LoopbackFabric fabric, List<Gid> gids, Limits limits) {
    this.limits = limits;
    this.fabric = fabric;
    this.gids = List.copyOf(gids);
  }

  @Override
  public String name() {
    return "loopback";
  }

  @Override
  public List<RdmaDevice> devices(Map<String, String> environment, Log log, LeakLedger ledger) {
    return List.of(new Device(this, ledger));
  }

  private record Device(LoopbackProvider provider, LeakLedger ledger) implements RdmaDevice {
    @Override
    public String name() {
      return "loopback0";
    }

    @Override
    public DeviceContext open() {
      return new Context(this);
    }
  }

  /** Object that is registered in the ledger, and that closes its children before itself. */
  abstract static class Owned implements AutoCloseable {
    private final LeakLedger ledger;
    private final Owned parent;
    private final List<Owned> children = new ArrayList<>();
    private boolean closed;

    Owned(LeakLedger ledger, Owned parent) {
      this.ledger = ledger;
      this.parent = parent;
      ledger.opened(getClass().getSimpleName());
      if (parent != null) {
        synchronized (parent.children) {
          parent.children.add(this);
        }
      }
    }

    /** Undoes the subclass's constructor. */
    abstract void release();

    LeakLedger ledger() {
      return ledger;
    }

    @Override
    public void close() {
      synchronized (this) {
        if (closed) {
          return;
        }
        closed = true;
      }
      List<Owned> left;
      synchronized (children) {
        left = List.copyOf(children);
      }
      /* Completion queues are closed last, since queue pairs of any domain may use them. */
      left.stream().filter(child -> !(child instanceof CompletionQueue)).forEach(Owned::close);
      left.forEach(Owned::close);
      release();
      ledger.closed(getClass().getSimpleName());
      if (parent != null) {
        synchronized (parent.children) {
          parent.children.remove(this);
        }
      }
    }
  }

  static final class Context extends Owned implements DeviceContext {
    private final Device device;

    Context(Device device) {
      super(device.ledger(), null);
      this.device = device;
    }

    LoopbackFabric fabric() {
      return device.provider().fabric;
    }

    private Limits limits() {
      return device.provider().limits;
    }

    Gid gid(int index) {
      List<Gid> gids = device.provider().gids;
      if (index < 0 || index >= gids.size()) {
        throw new VerbsException("modify_qp", "GID index " + index, Errno.EINVAL);
      }
      return gids.get(index);
    }

    @Override
    public RdmaDevice device() {
      return device;
    }

    @Override
    public DeviceAttributes attributes() {
      return new DeviceAttributes(
          0x10,
          "/sys/devices/virtual/loopback",
          4096,
          limits().workRequests,
          4096,
          limits().completions,
          false);
    }

    @Override
    public PortAttributes port() {
      return new PortAttributes(true, 1, PathMtu.MTU_4096, 100_000_000_000L);
    }

    @Override
    public GidTable gidTable() {
      List<GidTable.Entry> entries = new ArrayList<>();
      List<Gid> gids = device.provider().gids;
      for (int i = 0; i < gids.size(); i++) {
        if (fabric().hasAddress(gids.get(i))) {
          entries.add(new GidTable.Entry(i, gids.get(i), GidTable.Type.ROCE_V2, 0));
        }
      }
      return new GidTable(entries);
    }

    @Override
    public int preferredWriteBytes(PathMtu mtu) {
      return PREFERRED_WRITE_BYTES;
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() {
      return new Domain(this);
    }

    @Override
    public CompletionQueue createCompletionQueue(int capacity) {
      if (capacity < 1 || capacity > limits().completions) {
        throw new VerbsException(
            "create_cq",
            "loopback0, capacity %s (1 to %s)".formatted(capacity, limits().completions),
            Errno.EINVAL);
      }
      return new LoopbackCompletionQueue(this, capacity);
    }

    @Override
    public int progress() {
      return fabric().progress();
    }

    /*
     * Returns a new value at every call, so that the device is always polled: a test may make a
     * peer silent or restore it, which the device doesn't notice.
     */
    @Override
    public long activity() {
      return System.nanoTime();
    }

    @Override
    public long progressedAtNs() {
      return 0;
    }

    @Override
    public int pollAsyncEvents(AsyncEventListener listener) {
      return fabric().pollEvents(this::hasQueuePair, listener);
    }

    private boolean hasQueuePair(int queuePairNumber) {
      LoopbackQueuePair pair = fabric().find(queuePairNumber);
      return pair != null && device.provider().gids.contains(pair.localGid());
    }

    @Override
    void release() {}
  }

  static final class Domain extends Owned implements ProtectionDomain {
    private final Context context;
    private final List<Region> regions = new ArrayList<>();

    Domain(Context context) {
      super(context.ledger(), context);
      this.context = context;
    }

    @Override
    public Context context() {
      return context;
    }

    @Override
    public MemoryRegion registerMemory(long address, long lengthBytes, Set<Access> access) {
      if (lengthBytes <= 0) {
        throw new VerbsException("reg_mr", lengthBytes + " bytes", Errno.EINVAL);
      }
      return add(address, lengthBytes, access, false);
    }

    /* Accepts any memory, which then counts as memory behind a bus. */
    @Override
    public MemoryRegion registerDmaBuf(
        int descriptor, long offset, long lengthBytes, long address, Set<Access> access) {
      return add(address, lengthBytes, access, true);
    }

    private Region add(long address, long lengthBytes, Set<Access> access, boolean behindBus) {
      Region region = new Region(this, address, lengthBytes, Set.copyOf(access), behindBus);
      synchronized (context.fabric()) {
        regions.add(region);
      }
      return region;
    }

    /**
     * Copies this domain's memory to the reader's. Both keys must permit that. The caller holds the
     * fabric's monitor.
     */
    void read(int key, long from, Domain reader, int readersKey, long to, int lengthBytes) {
      Region region = find(key);
      if (region != null && region.behindBus) {
        context.fabric().posted().push(region);
      }
      reader.write(readersKey, from, to, lengthBytes);
    }

    /**
     * Copies bytes to this domain's memory; if the memory is behind a bus, they arrive later. The
     * key must permit the write. The caller holds the fabric's monitor.
     */
    void write(int key, long from, long to, int lengthBytes) {
      Region region = find(key);
      if (region != null && region.behindBus && lengthBytes > 0) {
        context.fabric().posted().add(region, from, to, lengthBytes);
      } else {
        Memory.copy(from, to, lengthBytes);
      }
    }

    private @Nullable Region find(int key) {
      for (int i = 0; i < regions.size(); i++) {
        if (regions.get(i).key == key) {
          return regions.get(i);
        }
      }
      return null;
    }

    /**
     * Returns whether the key permits this access to these bytes; null stands for a local read. The
     * caller holds the fabric's monitor.
     */
    boolean allows(int key, long address, long lengthBytes, Access access) {
      if (lengthBytes == 0) {
        return true;
      }
      Region region = find(key);
      return region != null
          && (access == null || region.access.contains(access))
          && address >= region.address
          && lengthBytes <= region.address + region.lengthBytes - address;
    }

    @Override
    public QueuePair createQueuePair(QueuePairAttributes attributes) {
      if (attributes.sendDepth() > context.attributes().maxWorkRequests()
          || attributes.receiveDepth() > context.attributes().maxWorkRequests()
          || attributes.sendDepth() < 1
          || attributes.receiveDepth() < 1) {
        throw new VerbsException("create_qp", attributes.toString(), Errno.EINVAL);
      }
      return new LoopbackQueuePair(this, attributes);
    }

    @Override
    void release() {}
  }

  static final class Region extends Owned implements MemoryRegion {
    private final Domain pd;
    private final long address;
    private final long lengthBytes;
    private final Set<ProtectionDomain.Access> access;
    private final boolean behindBus;
    private final int key;

    Region(
        Domain pd,
        long address,
        long lengthBytes,
        Set<ProtectionDomain.Access> access,
        boolean behindBus) {
      super(pd.ledger(), pd);
      this.pd = pd;
      this.address = address;
      this.lengthBytes = lengthBytes;
      this.access = access;
      this.behindBus = behindBus;
      this.key = pd.context.fabric().newKey();
    }

    @Override
    public long address() {
      return address;
    }

    @Override
    public long lengthBytes() {
      return lengthBytes;
    }

    @Override
    public int lkey() {
      return key;
    }

    @Override
    public int rkey() {
      return key;
    }

    @Override
    void release() {
      synchronized (pd.context.fabric()) {
        pd.regions.remove(this);
      }
    }
  }
}
