package io.heddle.roce.transport.requester;

import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PsnBits;

/**
 * By which link of several each outstanding sequence number went out last, and with that how many
 * are under way on each link and how far each has come. With one link it keeps nothing: there the
 * numbers themselves say all. Under the progress lock.
 *
 * <p>A number that was sent more than once tells nothing about order on a link when it arrives: it
 * may be either sending that did.
 */
final class LinkNumbers {
  private static final int AGAIN = 0x40;
  private static final int LINK = 0x3f;
  private static final int MASK = PsnBits.SIZE - 1;

  private byte[] by = {};
  private final int[] underWay = new int[EndpointParameters.MOST_LINKS];
  private final int[] arrivals = new int[EndpointParameters.MOST_LINKS];
  private final long[] highest = new long[EndpointParameters.MOST_LINKS];
  private int links = 1;

  /** Nothing is outstanding; what comes next has this number. */
  void start(int count, long next) {
    links = count;
    if (count > 1 && by.length == 0) {
      by = new byte[PsnBits.SIZE];
    }
    java.util.Arrays.fill(highest, next - 1);
    stop();
  }

  /** Nothing is outstanding any more. */
  void stop() {
    java.util.Arrays.fill(underWay, 0);
    clearArrivals();
  }

  boolean several() {
    return links > 1;
  }

  /** The link that this number went by last. */
  int link(long psn) {
    return links == 1 ? 0 : by[(int) psn & MASK] & LINK;
  }

  boolean wasSentAgain(long psn) {
    return (by[(int) psn & MASK] & AGAIN) != 0;
  }

  /** Numbers under way on a link. */
  int underWay(int link) {
    return underWay[link];
  }

  /** Numbers that have arrived over a link since the last {@link #clearArrivals}. */
  int arrivals(int link) {
    return arrivals[link];
  }

  void clearArrivals() {
    java.util.Arrays.fill(arrivals, 0);
  }

  /** The highest number that has arrived of those that this link took the first time. */
  long highest(int link) {
    return highest[link];
  }

  /** These go out for the first time. */
  void sent(long from, long to, int link) {
    if (links == 1) {
      return;
    }
    for (long psn = from; psn < to; psn++) {
      by[(int) psn & MASK] = (byte) link;
    }
    underWay[link] += (int) (to - from);
  }

  /** This one goes out again; {@code counted} where its last sending still counts as under way. */
  void sentAgain(long psn, int link, boolean counted) {
    int row = (int) psn & MASK;
    if (counted) {
      underWay[by[row] & LINK]--;
    }
    by[row] = (byte) (link | AGAIN);
    underWay[link]++;
  }

  /** This one has arrived; {@code counted} where it counts as under way, not as lost. */
  void arrived(long psn, boolean counted) {
    int how = by[(int) psn & MASK];
    int link = how & LINK;
    if (counted) {
      underWay[link]--;
    }
    if ((how & AGAIN) == 0) {
      arrivals[link]++;
      highest[link] = Math.max(highest[link], psn);
    }
  }

  /** This one, which was under way, counts as lost. */
  void lost(long psn) {
    underWay[by[(int) psn & MASK] & LINK]--;
  }
}
