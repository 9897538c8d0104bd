package io.heddle.verbs;

import io.heddle.platform.Errno;
import java.util.Set;

/**
 * Protection domain (ibv_pd): owner of memory regions and queue pairs. A key works only in its own
 * domain.
 */
public interface ProtectionDomain extends AutoCloseable {
  /** Access rights of a region (ibv_access_flags). */
  enum Access {
    LOCAL_WRITE,
    REMOTE_WRITE,
    REMOTE_READ,
    RELAXED_ORDERING
  }

  DeviceContext context();

  /**
   * Registers a range of this process's memory. A length of zero is refused.
   *
   * @param address first byte
   * @param lengthBytes 1 or more
   */
  MemoryRegion registerMemory(long address, long lengthBytes, Set<Access> access);

  /**
   * Registers a range of a dma-buf (exported GPU memory). Fails with EOPNOTSUPP if {@link
   * DeviceAttributes#supportsDmaBuf} is false.
   *
   * @param descriptor descriptor of the dma-buf; may be closed afterwards
   * @param offset offset of the range's first byte in the dma-buf
   * @param address address by which work requests refer to the range's first byte
   */
  default MemoryRegion registerDmaBuf(
      int descriptor, long offset, long lengthBytes, long address, Set<Access> access) {
    throw new VerbsException(
        "reg_dmabuf_mr", context().device().name() + ", host memory only", Errno.EOPNOTSUPP);
  }

  /** Creates a reliable-connection queue pair in state RESET. */
  QueuePair createQueuePair(QueuePairAttributes attributes);

  /**
   * Creates an unreliable-datagram queue pair in state RESET. Fails with EOPNOTSUPP if the device
   * has no datagram service.
   */
  default DatagramQueuePair createDatagramQueuePair(QueuePairAttributes attributes) {
    throw new VerbsException(
        "create_qp",
        context().device().name() + ", which has no unreliable datagrams",
        Errno.EOPNOTSUPP);
  }

  /**
   * Resolves a destination of datagrams. Fails with EOPNOTSUPP if the device has no datagram
   * service.
   */
  default AddressHandle createAddressHandle(AddressHandleAttributes attributes) {
    throw new VerbsException(
        "create_ah",
        context().device().name() + ", which has no unreliable datagrams",
        Errno.EOPNOTSUPP);
  }

  @Override
  void close();
}
