package io.heddle.verbs;

import io.heddle.platform.Errno;
import java.util.List;

/**
 * Reliable-connection queue pair.
 *
 * <p>Requests complete in order of posting. If one fails, its completion has the reason, the queue
 * pair goes to ERROR, and all later requests and receives complete with WORK_REQUEST_FLUSHED.
 */
public interface QueuePair extends AutoCloseable {
  /** Largest length of {@link #endpointParameters}, in bytes. */
  int MOST_PARAMETER_BYTES = 320;

  /** Returns the queue pair's number on this device, 24 bits. */
  int number();

  QueuePairState state();

  /**
   * Returns the largest payload, in bytes, of an {@link SendWorkRequest#inline} request; 0 if the
   * device supports no inline payload, or none was requested.
   */
  default int inlineBytes() {
    return 0;
  }

  /**
   * Returns parameters of this end for the peer's provider, beyond those of verbs. They are opaque
   * to the transport, which carries them to the peer and passes them in {@link
   * ReadyToReceiveAttributes#peerParameters}. At most {@link #MOST_PARAMETER_BYTES} bytes; empty if
   * the provider needs no parameters.
   */
  byte[] endpointParameters();

  /**
   * Moves from RESET to INIT: binds the queue pair to a local GID and sets the peer's access
   * rights.
   *
   * @param gidIndex index in the port's table; the queue pair uses the address that has this index
   *     now
   */
  void initialise(int gidIndex);

  /**
   * Moves from RESET to INIT, bound to several local GIDs. One packet sequence is spread over all
   * of them. Packets from each local GID go to the peer's GID at the same position. Such a queue
   * pair carries RDMA WRITEs only. Supported if {@link DeviceContext#maxLinks} is more than one.
   *
   * @param gidIndexes as for {@link #initialise(int)}; −1 for an address that is missing now, whose
   *     link carries nothing. At least one isn't −1.
   */
  default void initialise(int[] gidIndexes) {
    if (gidIndexes.length != 1) {
      throw new VerbsException(
          "modify_qp",
          this + " to INIT on " + gidIndexes.length + " addresses; this device binds to one",
          Errno.EOPNOTSUPP);
    }
    initialise(gidIndexes[0]);
  }

  /**
   * Sets the non-negative weights by which packets are distributed over the links. If all usable
   * links have weight 0, packets are distributed equally. Has no effect on a queue pair with one
   * link. Any thread except the posting one may call it.
   */
  default void setLinkWeights(int[] weights) {}

  /**
   * Reports to the queue pair that this link is down. The link's unacknowledged packets are
   * retransmitted on the other links at once. The link is used again when the peer answers on it.
   * Has no effect if no other link is usable. Any thread except the posting one may call it.
   */
  default void linkLost(int link) {}

  /**
   * Returns the counters of each link, by position; empty if there is only one link. Called on the
   * control thread.
   */
  default List<LinkCounts> linkCounts() {
    return List.of();
  }

  /** Moves from INIT to RTR, in which the peer's packets are executed. */
  void readyToReceive(ReadyToReceiveAttributes attributes);

  /** Moves from RTR to RTS, in which posted sends are transmitted. */
  void readyToSend(ReadyToSendAttributes attributes);

  /**
   * Refuses new requests of the peer: after the return of this method, none changes memory.
   * Duplicates of earlier requests are still acknowledged. The first new request is answered with
   * an error, which ends the queue pair at both ends. A device that can't refuse requests moves the
   * queue pair to ERR instead. Has no effect on an unconnected queue pair. Any thread may call it.
   */
  void refuseRequests();

  /**
   * Moves from any state to ERR: flushes outstanding requests to the completion queue. Later
   * packets have no effect.
   */
  void toError();

  /**
   * Moves from any state to RESET, the state after creation. Outstanding requests are dropped
   * without completions.
   */
  void reset();

  /**
   * Posts a list of requests, in order. In state ERR, requests complete as flushed. Called by one
   * thread at a time; allocates nothing.
   *
   * @return number of requests accepted, which is less than the number posted if the queue is full
   *     or a request is malformed; −EINVAL in a state that can't send
   */
  int postSend(SendWorkRequest first);

  /**
   * Posts {@code count} receives without memory, for writes with immediate.
   *
   * @return 0, −ENOMEM if the queue has no room for all of them (if they exceed its depth, none is
   *     posted), −EINVAL in state RESET
   */
  int postEmptyReceives(long id, int count);

  /**
   * Posts a receive into registered memory.
   *
   * @return 0, −ENOMEM if the queue is full, −EINVAL in state RESET
   */
  int postReceive(long id, long address, int lengthBytes, int lkey);

  /**
   * Returns the number of packets retransmitted for this queue pair; 0 if the device doesn't report
   * the number. Any thread may call it.
   */
  default long resentPackets() {
    return 0;
  }

  /**
   * Returns how long this queue pair's peer has been silent, in ns, while this queue pair waits for
   * an acknowledgement beyond its retries. The time counts from the last packet on any queue pair
   * with the same {@link ReadyToSendAttributes#peer}. Suspend time of this host doesn't count.
   * Returns 0 for a queue pair that doesn't wait, and always with {@link
   * ReadyToSendAttributes#NO_PEER_GROUP}. Any thread may call it.
   */
  default long peerSilentNs() {
    return 0;
  }

  /**
   * Returns the destination ports of this queue pair's packets as text, for firewall rules; empty
   * if the queue pair isn't connected, or the device has no ports of its own. For the control path.
   */
  default String destination() {
    return "";
  }

  @Override
  void close();
}
