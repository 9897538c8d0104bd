package io.heddle.transport.data;

/** Listener of plane failures that a communicator detects. */
public interface PlaneFailureListener {
  /** Handles a plane failure. Any thread. */
  void onPlaneFailure(int plane, int epoch, String cause);
}
