package io.heddle.transport;

import io.heddle.platform.Log;
import io.heddle.verbs.WorkCompletion;

/**
 * The end of a communicator: the first failure is told in one line and to the peer, latched, and
 * returned by every later call. Owned by the thread that drives the communicator.
 */
final class CommFailure {
  private final Connection connection;
  private final String direction;
  private final Log log;
  private int result = TransportResult.SUCCESS;

  CommFailure(Connection connection, String direction, Log log) {
    this.connection = connection;
    this.direction = direction;
    this.log = log;
  }

  /** The latched result; SUCCESS while nothing failed. */
  int result() {
    return result;
  }

  /**
   * Latches a failure, tells it, and ends every pending request with it. Returns the latched
   * result.
   */
  int latch(int failure, String story) {
    if (result == TransportResult.SUCCESS) {
      result = failure;
      log.warn(
          "%s connection with %s over planes %s failed: %s",
          direction, connection.peer(), connection.planeKeys(), story);
      connection.lines().failPending(failure);
      connection.failedHere(story);
    }
    return result;
  }

  /** A work request failed. */
  int completion(WorkCompletion wc, SubFlow flow) {
    if (result != TransportResult.SUCCESS) {
      return result; // what is flushed behind the first failure says nothing new
    }
    return latch(
        TransportResult.REMOTE_ERROR,
        "%s: work request ended with %s (%d)".formatted(flow.pair, wc.status, wc.status.code())
            + (connection.peerState() == Connection.PEER_THERE
                ? ""
                : "; " + connection.peerReason()));
  }

  /** A queue pair didn't take what its queue must hold. */
  int posting(SubFlow flow, int code) {
    return latch(
        TransportResult.SYSTEM_ERROR,
        "%s: posting was refused with %s"
            .formatted(flow.pair, io.heddle.platform.Errno.describe(-code)));
  }

  /**
   * The device is broken, or a queue pair of the connection, and no completion said so before.
   * Returns the latched result.
   */
  int device(String story) {
    return latch(TransportResult.SYSTEM_ERROR, story);
  }

  /** Latches the peer's end, when it is gone and there is something that it will never finish. */
  int peerGone() {
    return latch(TransportResult.REMOTE_ERROR, connection.peerReason());
  }
}
