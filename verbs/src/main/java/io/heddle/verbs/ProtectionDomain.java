package io.heddle.verbs;

import io.heddle.platform.Errno;
import java.util.Set;

/** What ties memory regions and queue pairs together: a key works only in its own domain. */
public interface ProtectionDomain extends AutoCloseable {
  /** What a region may be used for (ibv_access_flags). */
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
   * Registers a range of a dma-buf, as GPU memory is exported. Where {@link
   * DeviceAttributes#supportsDmaBuf} is false, it is refused with EOPNOTSUPP.
   *
   * @param descriptor of the dma-buf; may be closed afterwards
   * @param offset of the range's first byte in the dma-buf
   * @param address what work requests will call the first byte
   */
  default MemoryRegion registerDmaBuf(
      int descriptor, long offset, long lengthBytes, long address, Set<Access> access) {
    throw new VerbsException(
        "reg_dmabuf_mr", context().device().name() + ", host memory only", Errno.EOPNOTSUPP);
  }

  /** Creates a reliable-connection queue pair in state RESET. */
  QueuePair createQueuePair(QueuePairAttributes attributes);

  /** Creates an unreliable-datagram queue pair in state RESET; EOPNOTSUPP where there are none. */
  default DatagramQueuePair createDatagramQueuePair(QueuePairAttributes attributes) {
    throw new VerbsException(
        "create_qp", context().device().name() + ", which has no datagrams", Errno.EOPNOTSUPP);
  }

  /** Resolves where datagrams go; EOPNOTSUPP where there are none. */
  default AddressHandle createAddressHandle(AddressHandleAttributes attributes) {
    throw new VerbsException(
        "create_ah", context().device().name() + ", which has no datagrams", Errno.EOPNOTSUPP);
  }

  @Override
  void close();
}
