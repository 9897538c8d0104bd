package io.heddle.verbs;

/**
 * What a queue pair has to know to send.
 *
 * @param sendPsn first packet sequence number to send, 24 bits
 * @param timeoutCode local acknowledgement timeout: 4.096 µs · 2^code, 0 for none
 * @param retryCount tries after a timeout or sequence error before RETRY_EXCEEDED, 0 to 7
 * @param receiverNotReadyRetryCount tries after a receiver-not-ready NAK, 0 to 6; 7 is without end
 */
public record ReadyToSendAttributes(
    int sendPsn, int timeoutCode, int retryCount, int receiverNotReadyRetryCount) {}
