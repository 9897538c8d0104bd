package io.heddle.transport.data;

/** The words that peers' signals are added to. Any thread. */
public interface SignalWords {
  /**
   * Adds to a word, after all that the caller has done before.
   *
   * @param registration whose memory it is in
   * @param offset of its first byte there
   * @return false where there is no such word
   */
  boolean add(long registration, long offset, long addend);
}
