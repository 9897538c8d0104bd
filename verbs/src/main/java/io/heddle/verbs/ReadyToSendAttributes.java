package io.heddle.verbs;

/**
 * What a queue pair has to know to send.
 *
 * @param sendPsn first packet sequence number to send, 24 bits
 * @param timeoutCode local acknowledgement timeout: 4.096 µs · 2^code, 0 for none
 * @param retryCount tries after a timeout or sequence error before RETRY_EXCEEDED, 0 to 7
 * @param receiverNotReadyRetryCount tries after a receiver-not-ready NAK, 0 to 6; 7 is without end
 * @param peer {@link #ALONE}, or a number that the queue pairs of this device have in common that
 *     lead to the same peer by different ways. A device that can tell takes the silence of all of
 *     them for a slow peer, which is asked on and on ({@link QueuePair#peerSilentNs}): a retry
 *     counts only where the peer was heard meanwhile. Others don't look at it.
 */
public record ReadyToSendAttributes(
    int sendPsn, int timeoutCode, int retryCount, int receiverNotReadyRetryCount, long peer) {
  /** Silence is taken for that of the way, whatever other queue pairs hear. */
  public static final long ALONE = 0;

  /** Of one that is judged alone, as verbs have it. */
  public ReadyToSendAttributes(
      int sendPsn, int timeoutCode, int retryCount, int receiverNotReadyRetryCount) {
    this(sendPsn, timeoutCode, retryCount, receiverNotReadyRetryCount, ALONE);
  }
}
