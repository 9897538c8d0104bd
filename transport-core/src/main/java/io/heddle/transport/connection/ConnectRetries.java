package io.heddle.transport.connection;

import io.heddle.platform.Errno;

/**
 * How often a queue pair that couldn't be connected is tried again, as NCCL_IB_MQP_RETRY_* ask.
 *
 * @param any whether whatever the device says, or only where it says that it took too long
 * @param most how often
 * @param pauseNs how long to wait before each
 */
record ConnectRetries(boolean any, int most, long pauseNs) {
  boolean allows(int already, int errno) {
    return already < most && (any || errno == Errno.ETIMEDOUT);
  }
}
