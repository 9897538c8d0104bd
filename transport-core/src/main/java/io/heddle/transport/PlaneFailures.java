package io.heddle.transport;

/** Hears from a communicator that a plane has failed. */
interface PlaneFailures {
  /** Any thread. */
  void noticed(int plane, int epoch, String cause);
}
