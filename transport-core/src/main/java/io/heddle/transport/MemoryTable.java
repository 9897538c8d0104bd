package io.heddle.transport;

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
final class MemoryTable {
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

  private final ProtectionDomain pd;
  private final Set<ProtectionDomain.Access> access =
      EnumSet.of(
          ProtectionDomain.Access.LOCAL_WRITE,
          ProtectionDomain.Access.REMOTE_WRITE,
          ProtectionDomain.Access.REMOTE_READ);
  private final TreeMap<Long, Entry> byAddress = new TreeMap<>();
  private @Nullable Entry[] byHandle = new Entry[64];

  /* Local key above, remote key below; 0 where there is no registration. Replaced when it grows, never shrunk. */
  private volatile long[] keysByHandle = new long[64];

  /**
   * @param relaxedOrder whether received data may be written in any order: what a completion stands
   *     for is in place when the completion is, and NCCL's protocols that look earlier have a flag
   *     in each piece
   */
  MemoryTable(ProtectionDomain pd, boolean relaxedOrder) {
    this.pd = pd;
    if (relaxedOrder) {
      access.add(ProtectionDomain.Access.RELAXED_ORDERING);
    }
  }

  /**
   * @return a handle, from 1
   */
  synchronized long register(long address, long lengthBytes) {
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

  private int freeHandle() {
    for (int handle = 1; handle < byHandle.length; handle++) {
      if (byHandle[handle] == null) {
        return handle;
      }
    }
    int handle = byHandle.length;
    byHandle = java.util.Arrays.copyOf(byHandle, handle * 2);
    keysByHandle = java.util.Arrays.copyOf(keysByHandle, handle * 2);
    return handle;
  }

  /**
   * @return false when there is no such handle
   */
  synchronized boolean deregister(long handle) {
    Entry entry = handle > 0 && handle < byHandle.length ? byHandle[(int) handle] : null;
    if (entry == null) {
      return false;
    }
    if (--entry.users == 0) {
      byHandle[entry.handle] = null;
      keysByHandle[entry.handle] = 0;
      byAddress.remove(entry.region.address(), entry);
      entry.region.close();
    }
    return true;
  }

  /** Local key in the upper, remote key in the lower half; 0 for a handle that doesn't exist. */
  long keys(long handle) {
    long[] keys = keysByHandle;
    return handle > 0 && handle < keys.length ? keys[(int) handle] : 0;
  }

  /** Regions open now, for people. */
  synchronized int regions() {
    int open = 0;
    for (Entry entry : byHandle) {
      open += entry == null ? 0 : 1;
    }
    return open;
  }
}
