package io.heddle.transport.connection;

import io.heddle.platform.Errno;

/**
 * Rules for retries where a device fails to connect a queue pair, as NCCL_IB_MQP_RETRY_* set them.
 *
 * @param onAnyError whether to retry after any errno, or only after ETIMEDOUT
 * @param maxRetries number of retries
 * @param pauseNs pause before each retry
 */
record ConnectRetries(boolean onAnyError, int maxRetries, long pauseNs) {
  boolean allows(int already, int errno) {
    return already < maxRetries && (onAnyError || errno == Errno.ETIMEDOUT);
  }
}
