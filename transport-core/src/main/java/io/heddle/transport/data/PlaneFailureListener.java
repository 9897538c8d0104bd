package io.heddle.transport.data;

/** Hears from a communicator that a plane has failed. */
public interface PlaneFailureListener {
  /** Any thread. */
  void noticed(int plane, int epoch, String cause);
}
