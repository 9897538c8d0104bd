package io.heddle.verbs;

import io.heddle.platform.Errno;
import java.util.List;

/**
 * A reliable-connection queue pair.
 *
 * <p>Work completes in order of posting. When one request fails, its completion says why, the queue
 * pair goes to ERROR and everything behind it completes with WORK_REQUEST_FLUSHED, receives
 * included.
 */
public interface QueuePair extends AutoCloseable {
  /** What {@link #endpointParameters} may have at most. */
  int MOST_PARAMETER_BYTES = 320;

  /** Number on this device, 24 bits. */
  int number();

  QueuePairState state();

  /**
   * How long the payload of a {@link SendWorkRequest#inline} request may be; 0 where the device has
   * none, or none was wished for.
   */
  default int inlineBytes() {
    return 0;
  }

  /**
   * What the peer's provider needs to know about this end beyond what verbs exchange; opaque to the
   * transport, which carries it to the peer and hands it back in {@link
   * ReadyToReceiveAttributes#peerParameters}. At most {@link #MOST_PARAMETER_BYTES}, empty for a
   * provider that needs nothing.
   */
  byte[] endpointParameters();

  /**
   * RESET → INIT: binds the queue pair to a local GID and says what the peer may do.
   *
   * @param gidIndex position in the port's table; the address that it holds now is the one that is
   *     used
   */
  void initialise(int gidIndex);

  /**
   * RESET → INIT on several local GIDs: one sequence of packets goes over all of them, each to the
   * peer's GID with the same position. Such a queue pair carries RDMA WRITEs only. A device has
   * this where {@link DeviceContext#mostLinks} is more than one.
   *
   * @param gidIndexes as for {@link #initialise(int)}; −1 for an address that isn't there now,
   *     whose link carries nothing. One at least is there.
   */
  default void initialise(int[] gidIndexes) {
    if (gidIndexes.length != 1) {
      throw new VerbsException(
          "modify_qp",
          this + " to INIT on " + gidIndexes.length + " addresses, of a device that binds to one",
          Errno.EOPNOTSUPP);
    }
    initialise(gidIndexes[0]);
  }

  /**
   * From now on packets are shared out over the links by these weights, none negative; where all
   * that carry weigh nothing, equally. Nothing to do with one link. Any thread but one that posts.
   */
  default void weighLinks(int[] weights) {}

  /**
   * The host knows that this link of several carries nothing now. What is under way on it goes by
   * the others at once, and it is used again when it answers. Nothing to do with one link, or where
   * no other carries. Any thread but one that posts.
   */
  default void linkLost(int link) {}

  /** What the links have done so far, by position; empty where there is one. Control thread. */
  default List<LinkCounts> linkCounts() {
    return List.of();
  }

  /** INIT → RTR: from here on packets of the peer are executed. */
  void readyToReceive(ReadyToReceiveAttributes attributes);

  /** RTR → RTS: from here on posted sends leave. */
  void readyToSend(ReadyToSendAttributes attributes);

  /**
   * Begins no request of the peer from now on: when this returns, none changes memory any more.
   * Earlier requests are still acknowledged, as often as the peer asks. The first new request is
   * answered with an error, which ends the queue pair at both ends. A device that can't do that
   * moves it to ERR. Nothing to do for one that isn't connected. Any thread.
   */
  void refuseRequests();

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

  /**
   * For how long nothing has come from the peer by any of the queue pairs that have its number
   * ({@link ReadyToSendAttributes#peer}), while this one waits for an answer beyond its retries, in
   * ns; what this host slept meanwhile doesn't count. 0 where it doesn't wait so, or is judged
   * alone. Any thread.
   */
  default long peerSilentNs() {
    return 0;
  }

  /**
   * The ports that its packets go to, as a person reads them, where a firewall may know them by
   * those; empty where it isn't connected or the device has no ports of its own. Control path.
   */
  default String destination() {
    return "";
  }

  @Override
  void close();
}
