package io.heddle.verbs.libibverbs;

import io.heddle.jextract.VerbsConstants;
import io.heddle.jextract.ibv_device_attr;
import io.heddle.platform.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Limits of a device from ibv_query_device, as far as they are used.
 *
 * @param guid GUID of the adapter in host order: its chip's if the vendor's driver reports one,
 *     else the device's own
 * @param maxRegionBytes largest memory region; unsigned
 * @param readsAsTarget largest number of RDMA READs that a queue pair can serve at a time
 * @param readsAsInitiator largest number of RDMA READs that a queue pair can have outstanding
 */
record DeviceQuery(
    long guid,
    int ports,
    int maxQueuePairs,
    int maxWorkRequests,
    int maxCompletionQueues,
    int maxCompletions,
    long maxRegionBytes,
    int readsAsTarget,
    int readsAsInitiator) {
  /* NVIDIA's IEEE identifier, which mlx4 and mlx5 report, and its PCI identifier. */
  private static final Set<Integer> VENDORS_WITH_CHIP_GUID = Set.of(0x02c9, 0x15b3);

  static DeviceQuery read(long context, String device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attr = ibv_device_attr.allocate(arena);
      Verb.QUERY_DEVICE.call("device " + device, context, attr.address());
      return new DeviceQuery(
          Long.reverseBytes(guid(attr)),
          Byte.toUnsignedInt(ibv_device_attr.phys_port_cnt(attr)),
          ibv_device_attr.max_qp(attr),
          ibv_device_attr.max_qp_wr(attr),
          ibv_device_attr.max_cq(attr),
          ibv_device_attr.max_cqe(attr),
          ibv_device_attr.max_mr_size(attr),
          ibv_device_attr.max_qp_rd_atom(attr),
          ibv_device_attr.max_qp_init_rd_atom(attr));
    }
  }

  /*
   * Only NVIDIA's drivers report a chip as the system image. Others report the port's own address,
   * the host, or nothing.
   */
  private static long guid(MemorySegment attr) {
    long chip = ibv_device_attr.sys_image_guid(attr);
    return chip != 0 && VENDORS_WITH_CHIP_GUID.contains(ibv_device_attr.vendor_id(attr))
        ? chip
        : ibv_device_attr.node_guid(attr);
  }

  /**
   * Describes a region for an error message, with the device's limit if the region exceeds it. Some
   * devices accept more than their limit.
   */
  String describeRegion(long lengthBytes) {
    return maxRegionBytes != 0 && Long.compareUnsigned(lengthBytes, maxRegionBytes) > 0
        ? lengthBytes + " bytes (max_mr_size " + Long.toUnsignedString(maxRegionBytes) + ")"
        : lengthBytes + " bytes";
  }

  /**
   * Returns whether device and kernel can register a dma-buf. The probe passes an invalid
   * descriptor: if the verb is supported, the probe fails because of the descriptor, otherwise with
   * an errno such as EOPNOTSUPP.
   */
  static boolean supportsDmaBufs(long pd) {
    if (!Verb.REG_DMABUF_MR.isPresent()) {
      return false;
    }
    long answer =
        Verb.REG_DMABUF_MR.attempt(pd, 0, 0, 0, -1, VerbsConstants.IBV_ACCESS_LOCAL_WRITE());
    if (answer > 0) {
      Verb.DEREG_MR.call("memory region of no dma-buf", answer);
      return true;
    }
    return switch ((int) -answer) {
      case Errno.EOPNOTSUPP, Errno.EPROTONOSUPPORT, Errno.ENOSYS -> false;
      default -> true;
    };
  }
}
