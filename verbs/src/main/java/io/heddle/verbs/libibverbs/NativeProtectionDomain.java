package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_mr;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import io.heddle.verbs.AddressHandle;
import io.heddle.verbs.AddressHandleAttributes;
import io.heddle.verbs.DatagramQueuePair;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** Protection domain of a libibverbs device, with its regions and queue pairs. */
final class NativeProtectionDomain implements ProtectionDomain {
  private final DeviceContext context;
  private final OpenPort port;
  private final Consumer<NativeProtectionDomain> whenClosed;
  private final long address;
  private final Set<NativeMemoryRegion> regions = ConcurrentHashMap.newKeySet();
  private final Set<NativeQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
  private final Set<NativeDatagramQueuePair> datagramQueuePairs = ConcurrentHashMap.newKeySet();
  private final Set<NativeAddressHandle> addressHandles = ConcurrentHashMap.newKeySet();
  private boolean closed; /* written under the exclusive lock, read under the shared one */

  NativeProtectionDomain(
      DeviceContext context,
      OpenPort port,
      Consumer<NativeProtectionDomain> whenClosed,
      long address) {
    this.context = context;
    this.port = port;
    this.whenClosed = whenClosed;
    this.address = address;
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  long address() {
    return address;
  }

  private void requireOpen(Verb verb) {
    if (closed) {
      throw verb.failure("a closed protection domain of " + port, Errno.EINVAL);
    }
  }

  @Override
  public MemoryRegion registerMemory(long start, long lengthBytes, Set<Access> access) {
    String object =
        "%s, %s at 0x%x".formatted(port, port.limits().describeRegion(lengthBytes), start);
    return port.lock()
        .shared(() -> {
          requireOpen(Verb.REG_MR);
          /* The kernel accepts an empty range, but its keys are useless. */
          if (lengthBytes < 1) {
            throw Verb.REG_MR.failure(object, Errno.EINVAL);
          }
          int flags = flags(access);
          /* Only ibv_reg_mr_iova2 masks optional rights on kernels that don't know them. */
          boolean optional = (flags & VerbsConstants.IBV_ACCESS_OPTIONAL_RANGE()) != 0;
          long mr =
              optional
                  ? Verb.REG_MR_IOVA2.call(object, address, start, lengthBytes, start, flags)
                  : Verb.REG_MR.call(object, address, start, lengthBytes, flags);
          return register(mr, start, lengthBytes);
        });
  }

  @Override
  public MemoryRegion registerDmaBuf(
      int descriptor, long offset, long lengthBytes, long start, Set<Access> access) {
    String object =
        "%s, %s at %s of dma-buf %s"
            .formatted(port, port.limits().describeRegion(lengthBytes), offset, descriptor);
    return port.lock()
        .shared(() -> {
          requireOpen(Verb.REG_DMABUF_MR);
          if (lengthBytes < 1) {
            throw Verb.REG_DMABUF_MR.failure(object, Errno.EINVAL);
          }
          return register(
              Verb.REG_DMABUF_MR.call(
                  object, address, offset, lengthBytes, start, descriptor, flags(access)),
              start,
              lengthBytes);
        });
  }

  private NativeMemoryRegion register(long mr, long start, long lengthBytes) {
    NativeMemoryRegion region =
        new NativeMemoryRegion(
            this,
            mr,
            start,
            lengthBytes,
            Memory.ALL.get(Memory.NATIVE_INT, mr + ibv_mr.lkey$offset()),
            Memory.ALL.get(Memory.NATIVE_INT, mr + ibv_mr.rkey$offset()));
    regions.add(region);
    port.ledger().opened("libibverbs memory region");
    return region;
  }

  private static int flags(Set<Access> access) {
    int flags = 0;
    for (Access each : access) {
      flags |=
          switch (each) {
            case LOCAL_WRITE -> VerbsConstants.IBV_ACCESS_LOCAL_WRITE();
            /* The kernel requires local write with remote write. */
            case REMOTE_WRITE ->
                VerbsConstants.IBV_ACCESS_REMOTE_WRITE() | VerbsConstants.IBV_ACCESS_LOCAL_WRITE();
            case REMOTE_READ -> VerbsConstants.IBV_ACCESS_REMOTE_READ();
            case RELAXED_ORDERING -> VerbsConstants.IBV_ACCESS_RELAXED_ORDERING();
          };
    }
    return flags;
  }

  @Override
  public QueuePair createQueuePair(QueuePairAttributes attributes) {
    return port.lock()
        .shared(() -> {
          requireOpen(Verb.CREATE_QP);
          NativeQueuePair qp = new NativeQueuePair(this, WorkQueues.of(port, attributes));
          queuePairs.add(qp);
          port.ledger().opened("libibverbs queue pair");
          return qp;
        });
  }

  @Override
  public DatagramQueuePair createDatagramQueuePair(QueuePairAttributes attributes) {
    return port.lock()
        .shared(() -> {
          requireOpen(Verb.CREATE_QP);
          NativeDatagramQueuePair qp =
              new NativeDatagramQueuePair(this, WorkQueues.of(port, attributes));
          datagramQueuePairs.add(qp);
          port.ledger().opened("libibverbs datagram queue pair");
          return qp;
        });
  }

  @Override
  public AddressHandle createAddressHandle(AddressHandleAttributes attributes) {
    String object =
        "%s, from %s to %s".formatted(port, attributes.localGid(), attributes.remoteGid());
    int index =
        port.gidTable()
            .indexOf(attributes.localGid())
            .orElseThrow(() -> Verb.CREATE_AH.failure(object, Errno.EADDRNOTAVAIL));
    return port.lock()
        .shared(() -> {
          requireOpen(Verb.CREATE_AH);
          NativeAddressHandle handle =
              new NativeAddressHandle(
                  this,
                  attributes.remoteGid(),
                  QueuePairTransitions.createAddressHandle(
                      object, address, index, port.number(), attributes));
          addressHandles.add(handle);
          port.ledger().opened("libibverbs address handle");
          return handle;
        });
  }

  OpenPort port() {
    return port;
  }

  void closed(NativeMemoryRegion region) {
    regions.remove(region);
    port.ledger().closed("libibverbs memory region");
  }

  void closed(NativeQueuePair qp) {
    queuePairs.remove(qp);
    port.ledger().closed("libibverbs queue pair");
  }

  void closed(NativeDatagramQueuePair qp) {
    datagramQueuePairs.remove(qp);
    port.ledger().closed("libibverbs datagram queue pair");
  }

  void closed(NativeAddressHandle handle) {
    addressHandles.remove(handle);
    port.ledger().closed("libibverbs address handle");
  }

  @Override
  public void close() {
    port.lock()
        .exclusive(() -> {
          if (closed) {
            return;
          }
          List.copyOf(queuePairs).forEach(NativeQueuePair::close);
          List.copyOf(datagramQueuePairs).forEach(NativeDatagramQueuePair::close);
          List.copyOf(addressHandles).forEach(NativeAddressHandle::close);
          List.copyOf(regions).forEach(NativeMemoryRegion::close);
          closed = true;
          whenClosed.accept(this);
          Verb.DEALLOC_PD.call("protection domain of " + port, address);
        });
  }
}
