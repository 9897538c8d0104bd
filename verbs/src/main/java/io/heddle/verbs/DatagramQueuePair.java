package io.heddle.verbs;

/**
 * An unreliable-datagram queue pair: it has no peer, and what gets lost is lost without a word.
 * {@link DeviceContext#progress} and completion queues serve it as they serve the reliable ones.
 */
public interface DatagramQueuePair extends AutoCloseable {
  /**
   * What a receive buffer begins with: room for the global route header, which is an IPv6 header;
   * the datagram follows, and the completion's length counts both. On InfiniBand the room stays as
   * it was where the packet had no such header.
   */
  int HEADER_BYTES = 40;

  /** The number that stands for all members of a multicast group. */
  int MULTICAST_NUMBER = 0xff_ffff;

  /** Number on this device, 24 bits. */
  int number();

  QueuePairState state();

  /**
   * RESET → INIT → RTR → RTS, in the port's first partition.
   *
   * @param queueKey what senders have to know; keys with the highest bit are the kernel's
   */
  default void start(int queueKey) {
    start(queueKey, 0);
  }

  /**
   * The same in another partition.
   *
   * @param partitionIndex place in the port's table, as {@link DeviceContext#partitionIndex} tells
   */
  void start(int queueKey, int partitionIndex);

  /** Any state → ERR: everything outstanding is flushed to the completion queue. */
  void toError();

  /** Any state → RESET: as created. */
  void reset();

  /**
   * Posts a list of requests, in order. No allocation; one thread at a time.
   *
   * @return number of requests accepted when that is less than the list's length because the queue
   *     is full; −EINVAL in a state that can't send or without destination
   */
  int postSend(DatagramWorkRequest first);

  /**
   * Posts a receive into registered memory.
   *
   * @param lengthBytes {@link #HEADER_BYTES} and the longest datagram
   * @return 0, −ENOMEM when the queue is full, −EINVAL in state RESET
   */
  int postReceive(long id, long address, int lengthBytes, int lkey);

  /**
   * Takes datagrams to this group from now on. Up to Linux 6.7 rxe gets them only while somebody on
   * the host has joined the group on its interface.
   */
  default void attachMulticast(Gid group) {
    attachMulticast(group, 0);
  }

  /**
   * The same on InfiniBand, where the port has joined the group.
   *
   * @param lid the group's, as the subnet manager has answered; 0 on Ethernet
   */
  void attachMulticast(Gid group, int lid);

  /** The reverse of {@link #attachMulticast(Gid, int)}, whatever its LID was. */
  void detachMulticast(Gid group);

  @Override
  void close();
}
