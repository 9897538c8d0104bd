package io.heddle.verbs;

/**
 * A reliable-connection queue pair.
 *
 * <p>Work completes in order of posting. When one request fails, its completion says why, the queue
 * pair goes to ERROR and everything behind it completes with WORK_REQUEST_FLUSHED, receives
 * included.
 */
public interface QueuePair extends AutoCloseable {
  /** Number on this device, 24 bits. */
  int number();

  QueuePairState state();

  /**
   * What the peer's provider needs to know about this end beyond what verbs exchange; opaque to the
   * transport, which carries it to the peer and hands it back in {@link
   * ReadyToReceiveAttributes#peerParameters}. At most 64 bytes, empty for a provider that needs
   * nothing.
   */
  byte[] endpointParameters();

  /**
   * RESET → INIT: binds the queue pair to a local GID and says what the peer may do.
   *
   * @param gidIndex position in the port's table; the address that it holds now is the one that is
   *     used
   */
  void initialise(int gidIndex);

  /** INIT → RTR: from here on packets of the peer are executed. */
  void readyToReceive(ReadyToReceiveAttributes attributes);

  /** RTR → RTS: from here on posted sends leave. */
  void readyToSend(ReadyToSendAttributes attributes);

  /**
   * Any state → ERR: everything outstanding is flushed to the completion queue; no later packet has
   * any effect.
   */
  void toError();

  /** Any state → RESET: as created; outstanding work vanishes without completions. */
  void reset();

  /**
   * Posts a list of requests, in order. No allocation; one thread at a time. In ERR they complete
   * as flushed.
   *
   * @return number of requests accepted when that is less than the list's length because the queue
   *     is full or a request is malformed, the whole length when all were; −EINVAL in a state that
   *     can't send
   */
  int postSend(SendWorkRequest first);

  /**
   * Posts {@code count} receives without memory, for writes with immediate.
   *
   * @return 0, −ENOMEM when the queue can't take them all (none was taken if there are more than it
   *     holds when empty), −EINVAL in state RESET
   */
  int postEmptyReceives(long id, int count);

  /**
   * Posts a receive into registered memory.
   *
   * @return 0, −ENOMEM when the queue is full, −EINVAL in state RESET
   */
  int postReceive(long id, long address, int lengthBytes, int lkey);

  /**
   * Packets that the device has sent again for this queue pair; 0 where it doesn't tell. Any
   * thread.
   */
  default long resentPackets() {
    return 0;
  }

  @Override
  void close();
}
