package io.heddle.softdevice.queue;

import io.heddle.platform.Errno;
import io.heddle.platform.MemoryCalls;
import io.heddle.roce.transport.RegionTable;
import io.heddle.verbs.DeviceContext;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.QueuePair;
import io.heddle.verbs.QueuePairAttributes;
import io.heddle.verbs.VerbsException;
import java.util.Set;

/** Protection domain of the soft device: an id that regions and queue pairs must share. */
final class SoftProtectionDomain implements ProtectionDomain {
  private final SoftContext context;
  private final int id;
  private boolean closed;

  SoftProtectionDomain(SoftContext context, int id) {
    this.context = context;
    this.id = id;
  }

  int id() {
    return id;
  }

  @Override
  public DeviceContext context() {
    return context;
  }

  @Override
  public MemoryRegion registerMemory(long address, long lengthBytes, Set<Access> access) {
    synchronized (context) {
      requireOpen("reg_mr");
      if (lengthBytes < 1 || address <= 0 || lengthBytes > Long.MAX_VALUE - address) {
        throw refusal(address, lengthBytes, "1 byte or more, not at 0", Errno.EINVAL);
      }
      /*
       * Registration checks the memory, which a NIC would pin. Otherwise the device would fault
       * later in the caller's process.
       */
      if (!MemoryCalls.isMapped(address, lengthBytes)) {
        throw refusal(address, lengthBytes, "not all of it is mapped", Errno.EFAULT);
      }
      int rights = 0;
      for (Access each : access) {
        rights |=
            switch (each) {
              case LOCAL_WRITE -> RegionTable.LOCAL_WRITE;
              case REMOTE_WRITE -> RegionTable.REMOTE_WRITE;
              case REMOTE_READ -> RegionTable.REMOTE_READ;
              case RELAXED_ORDERING -> 0;
            };
      }
      return context.register(this, address, lengthBytes, rights);
    }
  }

  private static VerbsException refusal(long address, long lengthBytes, String why, int errno) {
    return new VerbsException(
        "reg_mr", "soft0, %s bytes at 0x%x (%s)".formatted(lengthBytes, address, why), errno);
  }

  @Override
  public QueuePair createQueuePair(QueuePairAttributes attributes) {
    synchronized (context) {
      requireOpen("create_qp");
      return context.createQueuePair(this, attributes);
    }
  }

  private void requireOpen(String verb) {
    if (closed) {
      throw new VerbsException(verb, "soft0, closed protection domain " + id, Errno.EINVAL);
    }
  }

  @Override
  public void close() {
    synchronized (context) {
      if (!closed) {
        context.closeChildrenOf(this);
        closed = true;
        context.closed(this);
      }
    }
  }
}
