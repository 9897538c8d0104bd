package io.heddle.roce.transport.requester;

import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PacketFormat;
import java.util.Arrays;

/**
 * Tags that identify the transmission which an acknowledgement answers. A tag uses the seven
 * reserved bits beside the acknowledge request of the BTH. A soft peer returns the tag of the
 * newest tagged packet that it has. So round trips are exact despite retransmissions, and it is
 * known which transmissions preceded the answered one. A train's first packet has a tag, and so has
 * every retransmission. Used under the progress lock.
 */
final class SendTags {
  private static final int TAGS = 128;
  private static final int MASK = TAGS - 1;

  /* Initial table size; a power of two. */
  private static final int FIRST_TAGS = 16;

  private long[] sentAtNs = new long[FIRST_TAGS];
  private long[] serials = new long[FIRST_TAGS];
  private boolean[] probes = new boolean[FIRST_TAGS];
  private boolean[] widthProbes = new boolean[FIRST_TAGS];
  private byte[] links = new byte[FIRST_TAGS];
  private int newest;
  /*
   * Tag of each link's unanswered width probe. The tag isn't reused until the answer or the next
   * width probe.
   */
  private final byte[] kept = new byte[EndpointParameters.MOST_LINKS];

  /* Number of transmissions so far. */
  private long transmissions;
  /* Serial number of each link's newest answered transmission. */
  private final long[] answered = new long[EndpointParameters.MOST_LINKS];
  /* Send time of the newest answered transmission. */
  private long newestAnsweredNs;
  /* Serial number of the probe that the current acknowledgement answers, or 0. */
  private long answeredProbe;

  /** Clears all tags. */
  void clear() {
    Arrays.fill(serials, 0);
    newest = PacketFormat.NO_TAG;
    Arrays.fill(kept, (byte) PacketFormat.NO_TAG);
    transmissions = 0;
    Arrays.fill(answered, 0);
    newestAnsweredNs = Long.MIN_VALUE / 2;
    answeredProbe = 0;
  }

  /** Returns a tag for the transmission on this link that {@link #sent} records next. */
  int next(int link, long nowNs, boolean probe) {
    do {
      newest = newest == MASK ? 1 : newest + 1;
      if (newest == serials.length) {
        grow();
      }
    } while (isKept(newest));
    serials[newest] = transmissions + 1;
    sentAtNs[newest] = nowNs;
    probes[newest] = probe;
    widthProbes[newest] = false;
    links[newest] = (byte) link;
    return newest;
  }

  /*
   * Returns whether a tag is reserved for an unanswered width probe. At most one tag per link is
   * reserved, and there are far fewer links than tags. So next() finds a free tag.
   */
  private boolean isKept(int tag) {
    return serials[tag] != 0 && widthProbes[tag] && kept[links[tag]] == tag;
  }

  private void grow() {
    int tags = 2 * serials.length;
    sentAtNs = Arrays.copyOf(sentAtNs, tags);
    serials = Arrays.copyOf(serials, tags);
    probes = Arrays.copyOf(probes, tags);
    widthProbes = Arrays.copyOf(widthProbes, tags);
    links = Arrays.copyOf(links, tags);
  }

  /*
   * Returns the index of a tag in the tables. A peer may return a tag that was never assigned,
   * which counts as no tag.
   */
  private int known(int tag) {
    return (tag & MASK) < serials.length ? tag & MASK : PacketFormat.NO_TAG;
  }

  /**
   * Returns a tag for a width probe. It stays reserved until the next width probe on this link,
   * however many packets are sent meanwhile.
   */
  int nextWidthProbe(int link, long nowNs) {
    int tag = next(link, nowNs, false);
    widthProbes[tag] = true;
    kept[link] = (byte) tag;
    return tag;
  }

  /** Returns whether the tag is that of a width probe. */
  boolean isWidthProbe(int tag) {
    return widthProbes[known(tag)];
  }

  /** Records a transmission, tagged or not. Returns its serial number, from 1. */
  long sent() {
    return ++transmissions;
  }

  /** Returns the link of the tagged packet. */
  int link(int tag) {
    return links[known(tag)];
  }

  long sentAtNs(int tag) {
    return sentAtNs[known(tag)];
  }

  /**
   * Records that an acknowledgement returned this tag.
   *
   * @return false if the tag was answered before or never assigned
   */
  boolean answer(int tag) {
    long sending = serials[known(tag)];
    answeredProbe = 0;
    if (sending == 0) {
      return false;
    }
    serials[known(tag)] = 0;
    int link = links[known(tag)];
    answered[link] = Math.max(answered[link], sending);
    newestAnsweredNs = Math.max(newestAnsweredNs, sentAtNs[known(tag)]);
    if (probes[known(tag)]) {
      answeredProbe = sending;
    }
    return true;
  }

  /** Returns the serial number of this link's newest answered transmission. */
  long answered(int link) {
    return answered[link];
  }

  /** Returns the send time of the newest answered transmission. */
  long newestAnsweredNs() {
    return newestAnsweredNs;
  }

  /**
   * Returns and clears the serial number of the probe that the current acknowledgement answers; 0
   * if it answers none.
   */
  long takeAnsweredProbe() {
    long probe = answeredProbe;
    answeredProbe = 0;
    return probe;
  }
}
