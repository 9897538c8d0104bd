package io.heddle.verbs;

/**
 * Attributes for RTR → RTS.
 *
 * @param sendPsn first packet sequence number to send, 24 bits
 * @param timeoutCode local acknowledgement timeout: 4.096 µs · 2^code, 0 for none
 * @param retryCount retries after a timeout or sequence error before RETRY_EXCEEDED, 0 to 7
 * @param receiverNotReadyRetryCount retries after a receiver-not-ready NAK, 0 to 6; 7 for no limit
 * @param peer {@link #NO_PEER_GROUP}, or a number shared by all queue pairs of this device to the
 *     same peer over different paths. A device that supports this counts a retry only if the peer
 *     has answered on another path. While none of these queue pairs receives anything, the device
 *     assumes a slow peer and retries without limit ({@link QueuePair#peerSilentNs}). Other devices
 *     ignore the number.
 */
public record ReadyToSendAttributes(
    int sendPsn, int timeoutCode, int retryCount, int receiverNotReadyRetryCount, long peer) {
  /**
   * No shared peer: missing acknowledgements count as a failure of this path, whether or not the
   * peer answers on other paths.
   */
  public static final long NO_PEER_GROUP = 0;

  /** Creates attributes without shared peer, as in verbs. */
  public ReadyToSendAttributes(
      int sendPsn, int timeoutCode, int retryCount, int receiverNotReadyRetryCount) {
    this(sendPsn, timeoutCode, retryCount, receiverNotReadyRetryCount, NO_PEER_GROUP);
  }
}
