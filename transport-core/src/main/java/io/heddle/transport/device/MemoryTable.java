package io.heddle.transport.device;

import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import io.heddle.verbs.VerbsException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Table of one device's registered memory. Each registration has its own region and keys, even
 * where another covers the same bytes. So deregistering invalidates the keys of exactly one
 * registration, and memory that is remapped at an old address is registered again
 * (docs/decisions/connections.md).
 *
 * <p>Registering and deregistering take a lock, from any thread. The data path calls {@link #keys}.
 * NCCL hands a handle to another thread only after the registration has returned, so plain reads
 * see the earlier writes.
 */
public final class MemoryTable {
  /** NCCL's pointer type of host memory. */
  public static final int HOST_MEMORY = 1;

  static final int DEVICE_MEMORY = 2;

  /**
   * Bit of {@code NetProperties.pointerSupport}, never a pointer type: dma-bufs can be registered.
   */
  public static final int DMA_BUF = 4;

  private final ProtectionDomain pd;
  private final boolean needsFlush;
  private final Set<ProtectionDomain.Access> access =
      EnumSet.of(
          ProtectionDomain.Access.LOCAL_WRITE,
          ProtectionDomain.Access.REMOTE_WRITE,
          ProtectionDomain.Access.REMOTE_READ);
  private @Nullable MemoryRegion[] byHandle = new MemoryRegion[64];
  /* Stack of freed handles. Handles from the number handedOut on were never used. */
  private int[] free = new int[64];
  private int freeCount;
  private int handedOut = 1;

  /*
   * Keys by handle: the local key in the upper half, the remote key in the lower; 0 without a
   * registration. The array is replaced when it grows, and never shrinks.
   */
  private volatile long[] keysByHandle = new long[64];

  private volatile boolean[] onDevice = new boolean[64];

  /**
   * Rules for the use of registered memory.
   *
   * @param relaxedOrder whether received data may be written in any order. Data is in place before
   *     its completion all the same. NCCL's protocols that poll a buffer before the completion find
   *     a flag in each piece of data
   * @param needsFlush whether received data in device memory is flushed when NCCL asks for it
   */
  public record Rules(boolean relaxedOrder, boolean needsFlush) {}

  MemoryTable(ProtectionDomain pd, Rules rules) {
    this.pd = pd;
    needsFlush = rules.needsFlush();
    if (rules.relaxedOrder()) {
      access.add(ProtectionDomain.Access.RELAXED_ORDERING);
    }
  }

  public boolean needsFlush() {
    return needsFlush;
  }

  /**
   * Registers memory for a caller of NCCL's interface.
   *
   * @param type NCCL's pointer type
   * @return a handle, from 1, or a negated result code
   */
  public long register(long address, long lengthBytes, int type) {
    if (type != HOST_MEMORY) {
      return -TransportResult.INVALID_USAGE; // the properties' pointerSupport excludes other types
    }
    return isRange(address, lengthBytes)
        ? register(address, lengthBytes)
        : -TransportResult.INVALID_ARGUMENT;
  }

  /* Returns whether this can be a range of user memory, whose addresses are positive as a long. */
  private static boolean isRange(long address, long lengthBytes) {
    return address > 0 && lengthBytes > 0 && lengthBytes <= Long.MAX_VALUE - address;
  }

  /**
   * Registers host memory.
   *
   * @return a handle, from 1
   * @throws VerbsException where the device refuses, as for memory that isn't mapped
   */
  public synchronized long register(long address, long lengthBytes) {
    return enter(pd.registerMemory(address, lengthBytes, access), false);
  }

  private long enter(MemoryRegion region, boolean device) {
    int handle = freeHandle();
    byHandle[handle] = region;
    onDevice[handle] = device;
    keysByHandle[handle] = (long) region.lkey() << 32 | Integer.toUnsignedLong(region.rkey());
    return handle;
  }

  /**
   * Registers device memory by its dma-buf.
   *
   * @param type NCCL's pointer type
   * @param offset offset of the range in the dma-buf
   * @param descriptor file descriptor of the dma-buf; the caller closes it
   * @return a handle, from 1, or a negated result code
   */
  public synchronized long registerDmaBuf(
      long address, long lengthBytes, int type, long offset, int descriptor) {
    if (type != HOST_MEMORY && type != DEVICE_MEMORY) {
      return -TransportResult.INVALID_USAGE;
    }
    if (!isRange(address, lengthBytes) || offset < 0 || lengthBytes > Long.MAX_VALUE - offset) {
      return -TransportResult.INVALID_ARGUMENT;
    }
    return enter(
        pd.registerDmaBuf(descriptor, offset, lengthBytes, address, access), type == DEVICE_MEMORY);
  }

  /** Returns whether the registration with this handle is device memory. Any thread. */
  public boolean isOnDevice(long handle) {
    boolean[] flags = onDevice;
    return handle > 0 && handle < flags.length && flags[(int) handle];
  }

  private int freeHandle() {
    if (freeCount > 0) {
      return free[--freeCount];
    }
    int handle = handedOut++;
    if (handle == byHandle.length) {
      byHandle = Arrays.copyOf(byHandle, handle * 2);
      free = Arrays.copyOf(free, handle * 2);
      onDevice = Arrays.copyOf(onDevice, handle * 2);
      keysByHandle = Arrays.copyOf(keysByHandle, handle * 2);
    }
    return handle;
  }

  /**
   * Ends a registration. Once this returns, its keys are invalid and no peer can write by them.
   *
   * @return false when there is no such handle
   */
  public synchronized boolean deregister(long handle) {
    MemoryRegion region = handle > 0 && handle < byHandle.length ? byHandle[(int) handle] : null;
    if (region == null) {
      return false;
    }
    byHandle[(int) handle] = null;
    keysByHandle[(int) handle] = 0;
    onDevice[(int) handle] = false;
    free[freeCount++] = (int) handle;
    region.close();
    return true;
  }

  /**
   * Returns the handle's two keys in one number, the local key in the upper half and the remote key
   * in the lower half; 0 for an unknown handle.
   */
  public long keys(long handle) {
    long[] keys = keysByHandle;
    return handle > 0 && handle < keys.length ? keys[(int) handle] : 0;
  }
}
