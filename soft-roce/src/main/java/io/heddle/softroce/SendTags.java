package io.heddle.softroce;

/**
 * Which sending of a packet an acknowledgement answers. A soft peer returns the tag, seven bits
 * that the base transport header keeps free beside the request for an acknowledgement, of the
 * newest tagged packet that it has. So a round trip is known exactly though packets are sent again
 * and again, and so is what was sent before something that has come. A train's first packet has
 * one, and so has whatever is sent again. Under the progress lock.
 */
final class SendTags {
  /** No tag. */
  static final int NONE = 0;

  private static final int TAGS = 128;
  private static final int MASK = TAGS - 1;

  private final long[] sentAtNs = new long[TAGS];
  private final long[] serials = new long[TAGS];
  private final boolean[] probes = new boolean[TAGS];
  private int newest;

  /** Forgets all. */
  void clear() {
    java.util.Arrays.fill(serials, 0);
    newest = NONE;
  }

  /** A tag for the sending with this number, which is positive and rises. */
  int next(long serial, long nowNs, boolean probe) {
    newest = newest == MASK ? 1 : newest + 1;
    serials[newest] = serial;
    sentAtNs[newest] = nowNs;
    probes[newest] = probe;
    return newest;
  }

  /** The number of the sending, or 0 where the tag has been answered before or never was given. */
  long serial(int tag) {
    return serials[tag & MASK];
  }

  long sentAtNs(int tag) {
    return sentAtNs[tag & MASK];
  }

  boolean isProbe(int tag) {
    return probes[tag & MASK];
  }

  /** Answered: a second answer is a duplicate's. */
  void answered(int tag) {
    serials[tag & MASK] = 0;
  }
}
