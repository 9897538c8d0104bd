package io.heddle.verbs.libibverbs;

import io.heddle.jextract.ibv_context;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.platform.OwnDescriptors;
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
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Open libibverbs device, reduced to one of its ports. */
final class NativeContext implements DeviceContext {
  private static final Path INTERFACES = Path.of("/sys/class/net");
  /*
   * If the device lacks a descriptor, the library leaves its field 0. So values up to this one
   * aren't descriptors of the device.
   */
  private static final int STANDARD_ERROR = 2;
  private static final int PREFERRED_WRITE_BYTES = 1 << 16;

  private final RdmaDevice device;
  private final OpenPort port;
  private final DeviceAttributes attributes;
  private final AsyncEventReader events;
  private final Set<NativeProtectionDomain> domains = ConcurrentHashMap.newKeySet();
  private final Set<NativeCompletionQueue> completionQueues = ConcurrentHashMap.newKeySet();

  NativeContext(RdmaDevice device, OpenPort port, String systemPath) {
    this.device = device;
    this.port = port;
    events = new AsyncEventReader(port.address(), port.number());
    DeviceQuery limits = port.limits();
    attributes =
        new DeviceAttributes(
            limits.guid(),
            SystemPath.pciPath(Path.of(systemPath), INTERFACES),
            limits.maxQueuePairs(),
            limits.maxWorkRequests(),
            limits.maxCompletionQueues(),
            limits.maxCompletions(),
            supportsDmaBufs(port));
    port.ledger().opened("libibverbs device context");
    for (int descriptor : descriptors(port)) {
      OwnDescriptors.opened(descriptor);
    }
  }

  /*
   * Returns the descriptors that a forked child has to close: while the child holds them, the
   * device keeps acknowledging packets to the parent, even after the parent's death.
   */
  private static int[] descriptors(OpenPort port) {
    return IntStream.of(
            Memory.getInt(port.address() + ibv_context.cmd_fd$offset()),
            Memory.getInt(port.address() + ibv_context.async_fd$offset()))
        .filter(descriptor -> descriptor > STANDARD_ERROR)
        .toArray();
  }

  private static boolean supportsDmaBufs(OpenPort port) {
    long pd = Verb.ALLOC_PD.call(port.name(), port.address());
    try {
      return DeviceQuery.supportsDmaBufs(pd);
    } finally {
      Verb.DEALLOC_PD.call("protection domain of " + port, pd);
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
    return port.portState().attributes();
  }

  @Override
  public GidTable gidTable() {
    return port.gidTable();
  }

  @Override
  public OptionalInt partitionIndex(int key) {
    return port.partitionIndex(key);
  }

  @Override
  public int preferredWriteBytes(PathMtu mtu) {
    return PREFERRED_WRITE_BYTES;
  }

  @Override
  public ProtectionDomain allocateProtectionDomain() {
    return port.lock()
        .shared(() -> {
          port.requireOpen(Verb.ALLOC_PD);
          NativeProtectionDomain pd =
              new NativeProtectionDomain(
                  this, port, this::closed, Verb.ALLOC_PD.call(port.name(), port.address()));
          domains.add(pd);
          port.ledger().opened("libibverbs protection domain");
          return pd;
        });
  }

  @Override
  public CompletionQueue createCompletionQueue(int capacity) {
    return createCompletionQueue(capacity, false);
  }

  @Override
  public CompletionQueue createPollableCompletionQueue(int capacity) {
    return createCompletionQueue(capacity, true);
  }

  private CompletionQueue createCompletionQueue(int capacity, boolean wakes) {
    return port.lock()
        .shared(() -> {
          port.requireOpen(Verb.CREATE_CQ);
          if (capacity < 1 || capacity > port.limits().maxCompletions()) {
            throw Verb.CREATE_CQ.failure(
                "%s, capacity %s (1 to %s)"
                    .formatted(port, capacity, port.limits().maxCompletions()),
                Errno.EINVAL);
          }
          CompletionChannel channel = wakes ? new CompletionChannel(port) : null;
          NativeCompletionQueue cq =
              new NativeCompletionQueue(
                  this, port, this::closed, createQueue(capacity, channel), channel);
          completionQueues.add(cq);
          port.ledger().opened("libibverbs completion queue");
          return cq;
        });
  }

  private long createQueue(int capacity, @Nullable CompletionChannel channel) {
    try {
      return Verb.CREATE_CQ.call(
          "%s, capacity %s".formatted(port, capacity),
          port.address(),
          capacity,
          0,
          channel == null ? 0 : channel.address(),
          0);
    } catch (VerbsException refused) {
      if (channel != null) {
        channel.close();
      }
      throw refused;
    }
  }

  /** Does nothing: hardware, or rxe in the kernel, progresses without calls. */
  @Override
  public int progress() {
    return 0;
  }

  @Override
  public long progressedAtNs() {
    return 0;
  }

  @Override
  public int pollAsyncEvents(AsyncEventListener listener) {
    List<AsyncEventReader.Event> taken =
        port.lock().shared(() -> port.isClosed() ? List.of() : events.take());
    for (AsyncEventReader.Event event : taken) {
      listener.onAsyncEvent(event.kind(), event.queuePairNumber());
    }
    return taken.size();
  }

  /* Methods that children call when they close. */

  private void closed(NativeProtectionDomain pd) {
    domains.remove(pd);
    port.ledger().closed("libibverbs protection domain");
  }

  private void closed(NativeCompletionQueue cq) {
    completionQueues.remove(cq);
    port.ledger().closed("libibverbs completion queue");
  }

  @Override
  public void close() {
    port.lock()
        .exclusive(() -> {
          if (port.isClosed()) {
            return;
          }
          List.copyOf(domains).forEach(NativeProtectionDomain::close);
          List.copyOf(completionQueues).forEach(NativeCompletionQueue::close);
          port.markClosed();
          port.ledger().closed("libibverbs device context");
          for (int descriptor : descriptors(port)) {
            OwnDescriptors.closing(descriptor);
          }
          Verb.CLOSE_DEVICE.call("device " + port, port.address());
        });
  }

  @Override
  public String toString() {
    return port.name();
  }
}
