package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_device;
import io.heddle.platform.Errno;
import io.heddle.platform.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * List of devices from the library. Addresses in it are valid until it is closed; names stay valid.
 */
final class DeviceList implements AutoCloseable {
  private final long list;
  private final List<Entry> entries;

  /**
   * Device that exists now.
   *
   * @param address address of its ibv_device
   * @param systemPath its directory in sysfs
   */
  record Entry(long address, String name, String systemPath, int nodeType, int transport) {
    /**
     * Returns whether the device is RoCE or InfiniBand; iWARP and others use other wire protocols.
     */
    boolean isChannelAdapter() {
      return nodeType == VerbsConstants.IBV_NODE_CA()
          && transport == VerbsConstants.IBV_TRANSPORT_IB();
    }
  }

  private DeviceList(long list, List<Entry> entries) {
    this.list = list;
    this.entries = entries;
  }

  static DeviceList read() {
    try (Arena arena = Arena.ofConfined()) {
      long count = Memory.allocate(arena, Integer.BYTES, Integer.BYTES);
      long list = Verb.GET_DEVICE_LIST.attempt(count);
      List<Entry> entries = new ArrayList<>();
      if (list > 0) {
        int devices = Memory.ALL.get(Memory.NATIVE_INT, count);
        for (int i = 0; i < devices; i++) {
          entries.add(entry(Memory.ALL.get(Memory.NATIVE_LONG, list + 8L * i)));
        }
      }
      return new DeviceList(list, entries);
    }
  }

  private static Entry entry(long address) {
    MemorySegment device =
        MemorySegment.ofAddress(address).reinterpret(ibv_device.layout().byteSize());
    return new Entry(
        address,
        ibv_device.name(device).getString(0),
        ibv_device.ibdev_path(device).getString(0),
        ibv_device.node_type(device),
        ibv_device.transport_type(device));
  }

  List<Entry> entries() {
    return entries;
  }

  /**
   * Returns why there are no devices. Without the kernel's ib_uverbs the library returns no list at
   * all.
   */
  String reasonIfEmpty() {
    return list >= 0
        ? "the list is empty"
        : "get_device_list: " + Errno.describe((int) -list) + ", ENOSYS without ib_uverbs";
  }

  @Override
  public void close() {
    if (list > 0) {
      Verb.FREE_DEVICE_LIST.attempt(list);
    }
  }
}
