package io.heddle.transport.data;

import io.heddle.platform.Log;
import io.heddle.transport.device.PeerEvents;
import io.heddle.transport.device.TransportResult;
import io.heddle.verbs.WorkCompletion;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Failure of a communicator: the first one is logged in one line, reported to the peer, latched,
 * and returned by every later call. Owned by the thread that drives the communicator.
 */
public final class CommFailure {
  private static final String SILENCE = "silence, nothing was acknowledged within the retries: ";

  private final ConnectionParts parts;
  private final String direction;
  private final Log log;
  private int result = TransportResult.SUCCESS;
  /* Set before the communicator is driven. */
  private @Nullable PlaneFailureListener planeListener;

  CommFailure(ConnectionParts parts, String direction, Log log) {
    this.parts = parts;
    this.direction = direction;
    this.log = log;
  }

  void setPlaneFailureListener(PlaneFailureListener listener) {
    planeListener = listener;
  }

  String direction() {
    return direction;
  }

  /** Returns the latched result; SUCCESS while nothing failed. */
  public int result() {
    return result;
  }

  /**
   * Latches a failure, logs it, and ends every pending request with it. Returns the latched result.
   */
  public int latch(int failure, String reason) {
    if (result == TransportResult.SUCCESS) {
      result = failure;
      /* Logged first: NCCL's thread may end the process as soon as it sees a failed request. */
      try {
        parts
            .device()
            .events()
            .report(
                PeerEvents.Kind.FAILED,
                this,
                parts.peer(),
                log,
                List.of(
                    "%s connection with %s over planes %s failed: %s"
                        .formatted(direction, parts.peer(), parts.planeKeys(), reason)));
      } finally {
        /* Needs no memory: logging may have failed for lack of it. */
        parts.lines().failPending(failure);
      }
      parts.health().reportOwnFailure(reason);
    }
    return result;
  }

  /**
   * Handles a failed work request. An error of the request itself would recur on every plane and
   * ends the communicator; any other is the plane's failure. A probe carries no data, so its error
   * is always the plane's: a peer that has just closed its end refuses it.
   */
  void onFailedCompletion(WorkCompletion wc, SubFlow flow) {
    String reason =
        "%swork request ended with %s (%s)"
            .formatted(
                wc.status == WorkCompletion.Status.RETRY_EXCEEDED ? SILENCE : "",
                wc.status,
                wc.status.code());
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
    if (ofPlane || SubFlow.isProbe(wc.workRequestId)) {
      failPlane(flow, reason);
      return;
    }
    latch(
        TransportResult.REMOTE_ERROR,
        "%s: %s".formatted(flow.pair, reason)
            + (parts.health().isPeerAlive() ? "" : "; " + parts.health().peerReason()));
  }

  /** Handles a queue pair's refusal of requests for which its queue must have room. */
  public void onRefusedPost(SubFlow flow, int code) {
    failPlane(flow, "posting was refused with " + io.heddle.platform.Errno.describe(-code));
  }

  /*
   * Reports the failure of the sub-flow's plane, once: flushed requests after the first failure
   * carry no new information.
   */
  private void failPlane(SubFlow flow, String reason) {
    if (flow.markBroken()) {
      reportPlaneFailure(flow.plane, flow.epoch, reason);
    }
  }

  /** Reports a plane failure. Any thread. */
  void reportPlaneFailure(int plane, int epoch, String cause) {
    PlaneFailureListener listener = planeListener;
    if (listener != null) {
      listener.onPlaneFailure(plane, epoch, cause);
    }
  }

  /**
   * Latches the failure of a device or queue pair that no completion has reported. Returns the
   * latched result.
   */
  int onDeviceFailure(String reason) {
    return latch(TransportResult.SYSTEM_ERROR, reason);
  }

  /** Logs a send that is longer than its receive and was truncated; no failure. */
  void logTruncatedSend(long lengthBytes, long roomBytes, int tag) {
    log.warn(
        "%s connection with %s: a send of %s bytes (tag %s) meets a receive of %s bytes and is cut"
            + " to that; later ones on this connection are only counted",
        direction, parts.peer(), lengthBytes, tag, roomBytes);
  }

  /** Latches the loss of the peer, when requests remain that the peer will never finish. */
  public int onPeerGone() {
    return latch(TransportResult.REMOTE_ERROR, parts.health().peerReason());
  }
}
