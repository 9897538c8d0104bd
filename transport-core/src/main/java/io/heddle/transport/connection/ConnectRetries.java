package io.heddle.transport.connection;

import io.heddle.platform.Errno;
import io.heddle.platform.Log;
import io.heddle.verbs.VerbsException;

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

  /** Logs a device's refusal, and that retries follow. */
  void report(VerbsException refused, Log log) {
    log.info(
        "%s; trying up to %d times more, after %d ms each",
        String.valueOf(refused.getMessage()), maxRetries, pauseNs / 1_000_000);
  }
}
