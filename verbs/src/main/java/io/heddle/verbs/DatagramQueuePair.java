package io.heddle.verbs;

/**
 * Unreliable-datagram queue pair. It has no peer, and losses aren't reported. {@link
 * DeviceContext#progress} and completion queues serve it as they serve reliable ones.
 */
public interface DatagramQueuePair extends AutoCloseable {
  /**
   * Space at the start of a receive buffer for the global route header (an IPv6 header). The
   * datagram follows; the completion's length counts both. On InfiniBand a packet without such a
   * header leaves the space unchanged.
   */
  int HEADER_BYTES = 40;

  /** Queue pair number that addresses all members of a multicast group. */
  int MULTICAST_NUMBER = 0xff_ffff;

  /** Returns the queue pair's number on this device, 24 bits. */
  int number();

  QueuePairState state();

  /**
   * RESET → INIT → RTR → RTS, in the port's first partition.
   *
   * @param queueKey key that senders must present; keys with the highest bit set are reserved for
   *     the kernel
   */
  default void start(int queueKey) {
    start(queueKey, 0);
  }

  /**
   * RESET → INIT → RTR → RTS, in any partition of the port.
   *
   * @param partitionIndex index in the port's table, from {@link DeviceContext#partitionIndex}
   */
  void start(int queueKey, int partitionIndex);

  /** Any state → ERR: everything outstanding is flushed to the completion queue. */
  void toError();

  /** Any state → RESET: as created. */
  void reset();

  /**
   * Posts a list of requests, in order. No allocation; one thread at a time.
   *
   * @return number of requests accepted, fewer than posted where the queue is full; −EINVAL in a
   *     state that can't send or without destination
   */
  int postSend(DatagramWorkRequest first);

  /**
   * Posts a receive into registered memory.
   *
   * @param lengthBytes {@link #HEADER_BYTES} plus the longest datagram
   * @return 0, −ENOMEM when the queue is full, −EINVAL in state RESET
   */
  int postReceive(long id, long address, int lengthBytes, int lkey);

  /**
   * Receives datagrams to this group from now on. Up to Linux 6.7, rxe receives them only while a
   * process on the host has joined the group on its interface.
   */
  default void attachMulticast(Gid group) {
    attachMulticast(group, 0);
  }

  /**
   * Receives datagrams to a group that the InfiniBand port has joined.
   *
   * @param lid LID of the group from the subnet manager's answer; 0 on Ethernet
   */
  void attachMulticast(Gid group, int lid);

  /** Undoes {@link #attachMulticast(Gid, int)}, for any LID. */
  void detachMulticast(Gid group);

  @Override
  void close();
}
