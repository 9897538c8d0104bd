package io.heddle.verbs;

/**
 * Unreliable-datagram queue pair. It has no peer, and losses aren't reported. {@link
 * DeviceContext#progress} drives it, and completion queues get its completions, as for reliable
 * queue pairs.
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
   * Moves from RESET through INIT and RTR to RTS, in the port's first partition.
   *
   * @param queueKey key that senders must present; keys with the highest bit set are reserved for
   *     the kernel
   */
  default void start(int queueKey) {
    start(queueKey, 0);
  }

  /**
   * Moves from RESET through INIT and RTR to RTS, in any partition of the port.
   *
   * @param partitionIndex index in the port's table, from {@link DeviceContext#partitionIndex}
   */
  void start(int queueKey, int partitionIndex);

  /** Moves from any state to ERR: all outstanding requests are flushed to the completion queue. */
  void toError();

  /** Moves from any state to RESET, the state after creation. */
  void reset();

  /**
   * Posts a list of requests, in order. Called by one thread at a time; allocates nothing.
   *
   * @return number of requests accepted, which is less than the number posted if the queue is full;
   *     −EINVAL in a state that can't send, or if a request has no destination
   */
  int postSend(DatagramWorkRequest first);

  /**
   * Posts a receive into registered memory.
   *
   * @param lengthBytes {@link #HEADER_BYTES} plus the longest datagram
   * @return 0, −ENOMEM if the queue is full, −EINVAL in state RESET
   */
  int postReceive(long id, long address, int lengthBytes, int lkey);

  /**
   * Starts to receive datagrams to this group. Up to Linux 6.7, rxe receives them only while a
   * process on the host has joined the group on its interface.
   */
  default void attachMulticast(Gid group) {
    attachMulticast(group, 0);
  }

  /**
   * Starts to receive datagrams to a group. On InfiniBand, the port must have joined the group.
   *
   * @param lid LID of the group from the subnet manager's answer; 0 on Ethernet
   */
  void attachMulticast(Gid group, int lid);

  /** Undoes {@link #attachMulticast(Gid, int)}, whatever LID the group was attached with. */
  void detachMulticast(Gid group);

  @Override
  void close();
}
