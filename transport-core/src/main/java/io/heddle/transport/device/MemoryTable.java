package io.heddle.transport.device;

import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Registered memory of one device. A registration inside one that exists shares it, so that NCCL's
 * sub-range registrations after a global one cost a look-up; the last user deregisters.
 *
 * <p>Registering and deregistering take a lock, from any thread. {@link #keys} is the data path's:
 * NCCL hands a handle to another thread only after the registration has returned, so plain reads
 * see what was written before.
 */
public final class MemoryTable {
  private static final class Entry {
    final MemoryRegion region;
    final int handle;
    int users;

    Entry(MemoryRegion region, int handle) {
      this.region = region;
      this.handle = handle;
    }

    boolean covers(long address, long lengthBytes) {
      return address >= region.address()
          && address + lengthBytes <= region.address() + region.lengthBytes();
    }
  }

  /** NCCL's numbers of what a pointer points to. */
  public static final int HOST_MEMORY = 1;

  static final int DEVICE_MEMORY = 2;

  /** In properties only: that device memory may be registered by its dma-buf. */
  public static final int DMA_BUF = 4;

  private final ProtectionDomain pd;
  private final boolean flushes;
  private final Set<ProtectionDomain.Access> access =
      EnumSet.of(
          ProtectionDomain.Access.LOCAL_WRITE,
          ProtectionDomain.Access.REMOTE_WRITE,
          ProtectionDomain.Access.REMOTE_READ);
  private final TreeMap<Long, Entry> byAddress = new TreeMap<>();
  private @Nullable Entry[] byHandle = new Entry[64];

  /* Local key above, remote key below; 0 where there is no registration. Replaced when it grows, never shrunk. */
  private volatile long[] keysByHandle = new long[64];

  private volatile boolean[] onDevice = new boolean[64];

  /**
   * How memory is used.
   *
   * @param relaxedOrder whether received data may be written in any order: what a completion stands
   *     for is in place when the completion is, and NCCL's protocols that look earlier have a flag
   *     in each piece
   * @param flushes whether received data in device memory is flushed when NCCL asks for it
   */
  public record Rules(boolean relaxedOrder, boolean flushes) {}

  MemoryTable(ProtectionDomain pd, Rules rules) {
    this.pd = pd;
    flushes = rules.flushes();
    if (rules.relaxedOrder()) {
      access.add(ProtectionDomain.Access.RELAXED_ORDERING);
    }
  }

  public boolean flushes() {
    return flushes;
  }

  /**
   * Registers memory for a caller of NCCL's interface.
   *
   * @param type what the address points to
   * @return a handle, from 1, or a negated result code
   */
  public long register(long address, long lengthBytes, int type) {
    if (type != HOST_MEMORY) {
      return -TransportResult.INVALID_USAGE; // as the properties' pointerSupport says
    }
    return lengthBytes <= 0 ? -TransportResult.INVALID_ARGUMENT : register(address, lengthBytes);
  }

  /**
   * @return a handle, from 1
   */
  public synchronized long register(long address, long lengthBytes) {
    Map.Entry<Long, Entry> near = byAddress.floorEntry(address);
    if (near != null && near.getValue().covers(address, lengthBytes)) {
      near.getValue().users++;
      return near.getValue().handle;
    }
    Entry entry = new Entry(pd.registerMemory(address, lengthBytes, access), freeHandle());
    entry.users = 1;
    byHandle[entry.handle] = entry;
    keysByHandle[entry.handle] =
        (long) entry.region.lkey() << 32 | Integer.toUnsignedLong(entry.region.rkey());
    /* A longer registration at the same address takes the place in the index; the shorter one stays valid. */
    byAddress.put(entry.region.address(), entry);
    return entry.handle;
  }

  /**
   * Registers memory of a device by its dma-buf. Not shared with other registrations: addresses
   * alone don't tell whether it is the same buffer.
   *
   * @param type what the address points to
   * @param offset of the range in the dma-buf
   * @param descriptor of the dma-buf; the caller closes it
   * @return a handle, from 1, or a negated result code
   */
  public synchronized long registerDmaBuf(
      long address, long lengthBytes, int type, long offset, int descriptor) {
    if (type != HOST_MEMORY && type != DEVICE_MEMORY) {
      return -TransportResult.INVALID_USAGE;
    }
    if (lengthBytes <= 0 || offset < 0) {
      return -TransportResult.INVALID_ARGUMENT;
    }
    Entry entry =
        new Entry(
            pd.registerDmaBuf(descriptor, offset, lengthBytes, address, access), freeHandle());
    entry.users = 1;
    byHandle[entry.handle] = entry;
    onDevice[entry.handle] = type == DEVICE_MEMORY;
    keysByHandle[entry.handle] =
        (long) entry.region.lkey() << 32 | Integer.toUnsignedLong(entry.region.rkey());
    return entry.handle;
  }

  /** Whether the memory is a device's, which has to be flushed. Any thread. */
  public boolean isOnDevice(long handle) {
    boolean[] flags = onDevice;
    return handle > 0 && handle < flags.length && flags[(int) handle];
  }

  private int freeHandle() {
    for (int handle = 1; handle < byHandle.length; handle++) {
      if (byHandle[handle] == null) {
        return handle;
      }
    }
    int handle = byHandle.length;
    byHandle = java.util.Arrays.copyOf(byHandle, handle * 2);
    onDevice = java.util.Arrays.copyOf(onDevice, handle * 2);
    keysByHandle = java.util.Arrays.copyOf(keysByHandle, handle * 2);
    return handle;
  }

  /**
   * @return false when there is no such handle
   */
  public synchronized boolean deregister(long handle) {
    Entry entry = handle > 0 && handle < byHandle.length ? byHandle[(int) handle] : null;
    if (entry == null) {
      return false;
    }
    if (--entry.users == 0) {
      byHandle[entry.handle] = null;
      keysByHandle[entry.handle] = 0;
      onDevice[entry.handle] = false;
      byAddress.remove(entry.region.address(), entry);
      entry.region.close();
    }
    return true;
  }

  /** Local key in the upper, remote key in the lower half; 0 for a handle that doesn't exist. */
  public long keys(long handle) {
    long[] keys = keysByHandle;
    return handle > 0 && handle < keys.length ? keys[(int) handle] : 0;
  }
}
