package io.heddle.transport.data;

import io.heddle.transport.device.LocalPlane;

/** The words that peers' signals are added to. Any thread. */
public interface SignalWords {
  /** What becomes of an addition. */
  enum Addition {
    /** It is done. */
    DONE,
    /** The adapter has to do something first; {@link Waiting} hears of it. */
    LATER,
    /** There is no such word. */
    NOWHERE
  }

  /** Whose additions were put off. */
  @FunctionalInterface
  interface Waiting {
    /**
     * The addition is done. Called by the thread that drives the group; never waits.
     *
     * @param slot as it was given with the addition
     * @return false while another thread is at work here, and nothing was done
     */
    boolean added(int slot);
  }

  /** All bytes of an operation have come into this registration, whatever number it is. */
  void arrived(long registration);

  /**
   * Adds to a word, after all that the caller has done and told of before.
   *
   * @param registration whose memory it is in
   * @param offset of its first byte there
   * @param slot of the operation
   */
  Addition add(long registration, long offset, long addend, Waiting waiting, int slot);

  /** A plane carries again, perhaps at another address. */
  void planeReturned(LocalPlane plane);
}
