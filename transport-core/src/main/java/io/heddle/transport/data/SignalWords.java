package io.heddle.transport.data;

import io.heddle.transport.device.LocalPlane;

/** Words to which peers' signals are added. Any thread. */
public interface SignalWords {
  /** Result of an addition. */
  enum Addition {
    /** It is done. */
    DONE,
    /** The adapter has work to do first; {@link Waiting} is notified. */
    LATER,
    /** There is no such word. */
    NOWHERE
  }

  /** Owner of deferred additions. */
  @FunctionalInterface
  interface Waiting {
    /**
     * Handles a completed addition. Called by the thread that drives the group; never waits.
     *
     * @param slot as it was given with the addition
     * @return false while another thread holds the baton, and nothing was done
     */
    boolean added(int slot);
  }

  /**
   * Notes that all bytes of an operation have come into this registration; its number may be
   * invalid.
   */
  void arrived(long registration);

  /**
   * Adds to a word, after all arrivals that the caller has reported before.
   *
   * @param registration of the word
   * @param offset of its first byte there
   * @param slot of the operation
   */
  Addition add(long registration, long offset, long addend, Waiting waiting, int slot);

  /** Handles a plane's return, perhaps at another address. */
  void planeReturned(LocalPlane plane);
}
