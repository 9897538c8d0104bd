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

  String direction() {
    return direction;
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
      /* First, and without memory: the line below may fail for want of it. */
      connection.lines().failPending(failure);
      log.warn(
          "%s connection with %s over planes %s failed: %s",
          direction, connection.peer(), connection.planeKeys(), story);
      connection.standing().failedHere(story);
    }
    return result;
  }

  /**
   * A work request failed: what is wrong with the request would be wrong on every plane and ends
   * the communicator, anything else is the plane's failure.
   */
  void completion(WorkCompletion wc, SubFlow flow) {
    String story = "work request ended with %s (%s)".formatted(wc.status, wc.status.code());
    boolean ofPlane =
        switch (wc.status) {
          case LOCAL_LENGTH_ERROR,
              LOCAL_PROTECTION_ERROR,
              LOCAL_ACCESS_ERROR,
              REMOTE_INVALID_REQUEST_ERROR,
              REMOTE_ACCESS_ERROR ->
              false;
          case SUCCESS,
              LOCAL_QUEUE_PAIR_OPERATION_ERROR,
              WORK_REQUEST_FLUSHED,
              BAD_RESPONSE_ERROR,
              REMOTE_OPERATION_ERROR,
              RETRY_EXCEEDED,
              RECEIVER_NOT_READY_RETRY_EXCEEDED,
              FATAL_ERROR,
              GENERAL_ERROR ->
              true;
        };
    if (ofPlane) {
      plane(flow, story);
      return;
    }
    latch(
        TransportResult.REMOTE_ERROR,
        "%s: %s".formatted(flow.pair, story)
            + (connection.standing().isPeerThere()
                ? ""
                : "; " + connection.standing().peerReason()));
  }

  /** A queue pair didn't take what its queue must hold. */
  void posting(SubFlow flow, int code) {
    plane(flow, "posting was refused with " + io.heddle.platform.Errno.describe(-code));
  }

  /* What is flushed behind the first failure says nothing new. */
  private void plane(SubFlow flow, String story) {
    Failover failover = connection.failover();
    if (flow.markBroken() && failover != null) {
      failover.noticed(flow.plane, flow.epoch, story);
    }
  }

  /**
   * The device is broken, or a queue pair of the connection, and no completion said so before.
   * Returns the latched result.
   */
  int device(String story) {
    return latch(TransportResult.SYSTEM_ERROR, story);
  }

  /** A send is longer than its receive and was cut; told, and no failure. */
  void cut(long lengthBytes, long roomBytes, int tag) {
    log.warn(
        "%s connection with %s: a send of %s bytes (tag %s) meets a receive of %s bytes and is cut"
            + " to that; more of the kind on this connection are only counted",
        direction, connection.peer(), lengthBytes, tag, roomBytes);
  }

  /** Latches the peer's end, when it is gone and there is something that it will never finish. */
  int peerGone() {
    return latch(TransportResult.REMOTE_ERROR, connection.standing().peerReason());
  }
}
