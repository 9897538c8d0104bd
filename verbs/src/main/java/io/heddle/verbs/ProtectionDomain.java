package io.heddle.verbs;

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

  /** Creates a reliable-connection queue pair in state RESET. */
  QueuePair createQueuePair(QueuePairAttributes attributes);

  @Override
  void close();
}
