package io.heddle.roce.transport.requester;

import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PsnBits;

/**
 * Map from outstanding sequence numbers to the link of their last transmission, for several links.
 * It also has, for each link, the count of sequence numbers in flight and the highest number that
 * arrived without a retransmission. A queue pair with one link doesn't use it. Used under the
 * progress lock.
 *
 * <p>The arrival of a retransmitted sequence number says nothing about order on a link: either
 * transmission may have arrived.
 */
final class PsnLinks {
  private static final int RETRANSMITTED = 0x40;
  private static final int LINK = 0x3f;
  private static final int MASK = PsnBits.SIZE - 1;

  private byte[] linkOf = {};
  private final int[] inFlightOn = new int[EndpointParameters.MOST_LINKS];
  private final int[] arrivals = new int[EndpointParameters.MOST_LINKS];
  private final long[] highest = new long[EndpointParameters.MOST_LINKS];
  private int links = 1;

  /**
   * Resets to a state with nothing outstanding, in which {@code next} is the next sequence number
   * to send.
   */
  void start(int count, long next) {
    links = count;
    if (count > 1 && linkOf.length == 0) {
      linkOf = new byte[PsnBits.SIZE];
    }
    java.util.Arrays.fill(highest, next - 1);
    stop();
  }

  /** Clears all outstanding sequence numbers. */
  void stop() {
    java.util.Arrays.fill(inFlightOn, 0);
    clearArrivals();
  }

  boolean hasSeveral() {
    return links > 1;
  }

  /** Returns the link of this sequence number's last transmission. */
  int link(long psn) {
    return links == 1 ? 0 : linkOf[(int) psn & MASK] & LINK;
  }

  boolean wasRetransmitted(long psn) {
    return (linkOf[(int) psn & MASK] & RETRANSMITTED) != 0;
  }

  /** Returns the count of sequence numbers in flight on a link. */
  int inFlightOn(int link) {
    return inFlightOn[link];
  }

  /**
   * Returns the count of sequence numbers that arrived since the last {@link #clearArrivals} and
   * were sent only once, on this link.
   */
  int arrivals(int link) {
    return arrivals[link];
  }

  void clearArrivals() {
    java.util.Arrays.fill(arrivals, 0);
  }

  /** Returns the highest sequence number that arrived and was sent only once, on this link. */
  long highest(int link) {
    return highest[link];
  }

  /** Records the first transmission of the sequence numbers {@code [from, to)} on this link. */
  void sent(long from, long to, int link) {
    if (links == 1) {
      return;
    }
    for (long psn = from; psn < to; psn++) {
      linkOf[(int) psn & MASK] = (byte) link;
    }
    inFlightOn[link] += (int) (to - from);
  }

  /**
   * Records a retransmission. {@code counted} means that the previous transmission still counts as
   * in flight.
   */
  void retransmitted(long psn, int link, boolean counted) {
    int row = (int) psn & MASK;
    if (counted) {
      inFlightOn[linkOf[row] & LINK]--;
    }
    linkOf[row] = (byte) (link | RETRANSMITTED);
    inFlightOn[link]++;
  }

  /**
   * Records the arrival of a sequence number. {@code counted} means that the number counts as in
   * flight, not as lost.
   */
  void arrived(long psn, boolean counted) {
    int entry = linkOf[(int) psn & MASK];
    int link = entry & LINK;
    if (counted) {
      inFlightOn[link]--;
    }
    if ((entry & RETRANSMITTED) == 0) {
      arrivals[link]++;
      highest[link] = Math.max(highest[link], psn);
    }
  }

  /** Records the loss of a sequence number that was in flight. */
  void lost(long psn) {
    inFlightOn[linkOf[(int) psn & MASK] & LINK]--;
  }
}
