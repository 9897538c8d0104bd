package io.heddle.cli.bridge;

import io.heddle.verbs.Gid;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** One group and direction of a test, with counters of its datagrams. */
final class TestedDirection {
  private static final double US_NS = 1e3;

  private final String name;
  private final Gid group;
  private final int origin;
  private final boolean open;
  private final BitSet heard = new BitSet();
  private long[] latenessNs = new long[16];
  private int timed;
  private long sent;
  private long duplicates;
  private long damaged;
  private long returned;
  private boolean settled;

  /**
   * @param origin end from which the datagrams are sent, 0 or 1
   * @param open whether the configuration forwards datagrams in this direction
   */
  TestedDirection(String name, Gid group, int origin, boolean open) {
    this.name = name;
    this.group = group;
    this.origin = origin;
    this.open = open;
  }

  Gid group() {
    return group;
  }

  int origin() {
    return origin;
  }

  boolean isOpen() {
    return open;
  }

  /** Returns whether a probe has arrived. */
  boolean isSettled() {
    return settled;
  }

  void countSent() {
    sent++;
  }

  /** Sets the number of datagrams that another host has sent. */
  void setSent(long count) {
    sent = count;
  }

  /** Returns whether all sent datagrams have arrived. */
  boolean isComplete() {
    return heard.cardinality() >= sent;
  }

  /**
   * Records a received datagram.
   *
   * @param end end that received the datagram, 0 or 1
   */
  void receive(TestDatagram.Received datagram, int end) {
    if (!datagram.isIntact()) {
      damaged++;
    } else if (end == origin) {
      returned++;
    } else if (datagram.number() < 0) {
      settled = true;
    } else if (heard.get((int) datagram.number())) {
      duplicates++;
    } else {
      heard.set((int) datagram.number());
      if (datagram.arrivedNs() >= 0) {
        addLateness(datagram.arrivedNs() - datagram.sentNs());
      }
    }
  }

  private void addLateness(long latenessNsOfOne) {
    if (timed == latenessNs.length) {
      latenessNs = Arrays.copyOf(latenessNs, 2 * timed);
    }
    latenessNs[timed] = latenessNsOfOne;
    timed++;
  }

  GroupTestReport.Direction report(String from, String to, boolean sender) {
    long[] sorted = Arrays.copyOf(latenessNs, timed);
    Arrays.sort(sorted);
    long arrived = heard.cardinality();
    return new GroupTestReport.Direction(
        name,
        from,
        to,
        sent,
        arrived,
        sender ? 0 : sent - arrived,
        duplicates,
        damaged,
        returned,
        microseconds(sorted, timed / 2),
        microseconds(sorted, timed - 1),
        sender ? GroupTestReport.SENT : state(arrived));
  }

  private static @Nullable Double microseconds(long[] sorted, int at) {
    return sorted.length == 0 ? null : sorted[at] / US_NS;
  }

  private String state(long arrived) {
    if (!open) {
      return arrived > 0 || settled ? GroupTestReport.LEAKS : GroupTestReport.SHUT;
    }
    if (arrived == 0 && damaged == 0) {
      return GroupTestReport.NOTHING;
    }
    if (damaged > 0) {
      return GroupTestReport.DAMAGED;
    }
    if (duplicates > 0) {
      return GroupTestReport.TWICE;
    }
    if (returned > 0) {
      return GroupTestReport.COMES_BACK;
    }
    return arrived < sent ? GroupTestReport.LOSES : GroupTestReport.FLOWS;
  }
}
