package io.heddle.transport.onesided;

import io.heddle.platform.Errno;
import io.heddle.platform.HeddleException;
import io.heddle.platform.Memory;
import io.heddle.platform.MemoryCalls;
import io.heddle.platform.ProcessLimits;
import io.heddle.transport.device.LocalPlane;
import io.heddle.transport.device.MemoryTable;
import io.heddle.verbs.MemoryRegion;
import io.heddle.verbs.ProtectionDomain;
import java.util.Arrays;
import java.util.EnumSet;
import org.jspecify.annotations.Nullable;

/**
 * Directory of a group's registrations, numbered in the order of their creation, which is the same
 * on all ranks. Peers read its table by RDMA.
 *
 * <p>Registering takes a lock, from any thread. The data path's snapshot is replaced, never
 * changed.
 */
final class Directory implements AutoCloseable {
  /** Maximum number of registrations over a group's lifetime. */
  static final int MOST = 1 << 14;

  private static final long BYTES = (long) MOST * DirectoryEntry.BYTES;

  /** Result of an addition to a signal's word. */
  enum Addition {
    /** The word is changed. */
    DONE,
    /**
     * The addition waits for reads and writes by the adapter; the listener is notified of its end.
     */
    LATER,
    /** No registration contains such a word. */
    NOWHERE
  }

  /**
   * Registration.
   *
   * @param handle handle in the device's {@link MemoryTable}
   * @param onDevice whether it is GPU memory, which only the adapter may access
   */
  record Registered(
      long handle, long address, long lengthBytes, int localKey, int remoteKey, boolean onDevice) {
    boolean covers(long offset, long bytes) {
      return offset >= 0 && bytes >= 0 && offset <= lengthBytes - bytes;
    }
  }

  private final MemoryTable memory;
  private final DeviceSignalWords deviceWords;
  private final long table;
  private final MemoryRegion region;
  private volatile @Nullable Registered[] registered = new Registered[16];
  private int next;

  /**
   * @throws HeddleException when there is no memory, or the device refuses it
   */
  Directory(MemoryTable memory, ProtectionDomain pd, DeviceSignalWords deviceWords) {
    this.memory = memory;
    this.deviceWords = deviceWords;
    table = MemoryCalls.mapMemory(BYTES);
    if (table < 0) {
      throw new HeddleException(
          "no memory for another one-sided group's directory: %s bytes, %s; %s"
              .formatted(BYTES, Errno.describe((int) -table), ProcessLimits.ofMemory()));
    }
    try {
      region =
          pd.registerMemory(
              table,
              BYTES,
              EnumSet.of(ProtectionDomain.Access.LOCAL_WRITE, ProtectionDomain.Access.REMOTE_READ));
    } catch (RuntimeException refused) {
      MemoryCalls.unmapMemory(table, BYTES);
      throw refused;
    }
  }

  long address() {
    return table;
  }

  int key() {
    return region.rkey();
  }

  /**
   * Registers memory. Every rank must register in the same order.
   *
   * @param type NCCL's pointer type
   * @return the registration's number, or a negated result code
   */
  synchronized long register(long address, long lengthBytes, int type) {
    requireRoom();
    return enter(memory.register(address, lengthBytes, type), address, lengthBytes);
  }

  /**
   * Registers a dma-buf, as for GPU memory. Every rank must register in the same order.
   *
   * @param offset offset of the range in the dma-buf
   * @param descriptor file descriptor of the dma-buf; the caller closes it
   * @return the registration's number, or a negated result code
   * @throws HeddleException when the device refuses it
   */
  synchronized long registerDmaBuf(
      long address, long lengthBytes, int type, long offset, int descriptor) {
    requireRoom();
    long handle = memory.registerDmaBuf(address, lengthBytes, type, offset, descriptor);
    if (memory.isOnDevice(handle)) {
      try {
        deviceWords.open();
      } catch (RuntimeException refused) {
        memory.deregister(handle);
        throw refused;
      }
    }
    return enter(handle, address, lengthBytes);
  }

  private void requireRoom() {
    if (next == MOST) {
      throw new HeddleException(
          "a one-sided group has made %s registrations, and can make no more".formatted(MOST));
    }
  }

  private long enter(long handle, long address, long lengthBytes) {
    if (handle < 0) {
      return handle;
    }
    long keys = memory.keys(handle);
    int number = next++;
    @Nullable Registered[] grown =
        Arrays.copyOf(registered, Math.max(registered.length, Integer.highestOneBit(number) * 2));
    grown[number] =
        new Registered(
            handle,
            address,
            lengthBytes,
            (int) (keys >>> 32),
            (int) keys,
            memory.isOnDevice(handle));
    registered = grown;
    DirectoryEntry.write(entry(number), number, address, lengthBytes, (int) keys);
    return number;
  }

  private long entry(int number) {
    return table + (long) number * DirectoryEntry.BYTES;
  }

  /** Returns the registration of this number; null where there is none. Any thread. */
  @Nullable Registered find(long number) {
    @Nullable Registered[] now = registered;
    return number >= 0 && number < now.length ? now[(int) number] : null;
  }

  /**
   * Ends a registration.
   *
   * @return false where there is no such registration
   */
  synchronized boolean deregister(long number) {
    Registered found = find(number);
    if (found == null) {
      return false;
    }
    DirectoryEntry.clear(entry((int) number));
    @Nullable Registered[] without = registered.clone();
    without[(int) number] = null;
    registered = without;
    deviceWords.forget(found);
    return memory.deregister(found.handle());
  }

  /**
   * Records that all bytes of an operation have arrived in this registration, whose number may be
   * invalid. Any thread.
   */
  void arrived(long registration) {
    Registered found = find(registration);
    if (found != null && found.onDevice()) {
      deviceWords.arrived(found);
    }
  }

  /**
   * Adds to a signal word, after the data whose arrival the caller reported earlier has been
   * flushed. Any thread.
   *
   * @param registration number of the word's registration
   * @param offset offset of the word in the registration
   * @param slot slot of the operation, for the listener
   */
  Addition add(
      long registration,
      long offset,
      long addend,
      DeviceSignalWords.AdditionListener listener,
      int slot) {
    Registered found = find(registration);
    if (found == null
        || !found.covers(offset, Long.BYTES)
        || (found.address() + offset) % Long.BYTES != 0) {
      return Addition.NOWHERE;
    }
    if (deviceWords.enqueueIfNeeded(found, found.address() + offset, addend, listener, slot)) {
      return Addition.LATER;
    }
    Memory.getAndAddLong(found.address() + offset, addend);
    return Addition.DONE;
  }

  /** Handles a plane's return, perhaps at another address. Any thread. */
  void planeReturned(LocalPlane plane) {
    deviceWords.planeReturned(plane);
  }

  /** Deregisters the remaining memory. */
  @Override
  public synchronized void close() {
    for (int number = 0; number < next; number++) {
      if (find(number) != null) {
        deregister(number);
      }
    }
    region.close();
    MemoryCalls.unmapMemory(table, BYTES);
  }
}
