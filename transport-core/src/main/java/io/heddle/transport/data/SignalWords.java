package io.heddle.transport.data;

import io.heddle.transport.device.LocalPlane;

/** Words to which peers' signals are added. Any thread. */
public interface SignalWords {
  /** Result of an addition. */
  enum Addition {
    /** The word is changed. */
    DONE,
    /**
     * The addition is deferred until the adapter has done its part; {@link AdditionListener} is
     * notified then.
     */
    LATER,
    /** There is no such word. */
    NOWHERE
  }

  /** Listener for deferred additions. */
  @FunctionalInterface
  interface AdditionListener {
    /**
     * Handles a completed addition. Called by the thread that drives the group; never waits.
     *
     * @param slot slot that was passed to {@link SignalWords#add}
     * @return false while another thread holds the baton, and nothing was done
     */
    boolean added(int slot);
  }

  /**
   * Records that all bytes of an operation have arrived in this registration, whose number may be
   * invalid.
   */
  void arrived(long registration);

  /**
   * Adds to a word, after all arrivals that the caller has reported before.
   *
   * @param registration number of the word's registration
   * @param offset offset of the word in the registration
   * @param slot slot of the operation, for {@link AdditionListener#added}
   */
  Addition add(long registration, long offset, long addend, AdditionListener listener, int slot);

  /** Handles a plane's return, perhaps at another address. */
  void planeReturned(LocalPlane plane);
}
