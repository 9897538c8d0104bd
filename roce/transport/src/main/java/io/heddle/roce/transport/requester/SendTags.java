package io.heddle.roce.transport.requester;

import io.heddle.roce.wire.EndpointParameters;
import io.heddle.roce.wire.PacketFormat;
import java.util.Arrays;

/**
 * Which sending of a packet an acknowledgement answers. A soft peer returns the tag, seven bits
 * that the base transport header keeps free beside the request for an acknowledgement, of the
 * newest tagged packet that it has. So a round trip is known exactly though packets are sent again
 * and again, and so is what was sent before something that has come. A train's first packet has
 * one, and so has whatever is sent again. Under the progress lock.
 */
final class SendTags {
  private static final int TAGS = 128;
  private static final int MASK = TAGS - 1;

  /* For how many there is room before more are given; a power of two. */
  private static final int FIRST_TAGS = 16;

  private long[] sentAtNs = new long[FIRST_TAGS];
  private long[] serials = new long[FIRST_TAGS];
  private boolean[] probes = new boolean[FIRST_TAGS];
  private boolean[] questions = new boolean[FIRST_TAGS];
  private byte[] links = new byte[FIRST_TAGS];
  private int newest;
  /* The question of each link that may still be answered: its tag isn't given again meanwhile. */
  private final byte[] kept = new byte[EndpointParameters.MOST_LINKS];

  /* Sendings so far, the newest one of each link that has been answered, when the newest of all was made, and the probe
  that was answered last, or 0. */
  private long sendings;
  private final long[] answered = new long[EndpointParameters.MOST_LINKS];
  private long newestAnsweredNs;
  private long answeredProbe;

  /** Forgets all. */
  void clear() {
    Arrays.fill(serials, 0);
    newest = PacketFormat.NO_TAG;
    Arrays.fill(kept, (byte) PacketFormat.NO_TAG);
    sendings = 0;
    Arrays.fill(answered, 0);
    newestAnsweredNs = Long.MIN_VALUE / 2;
    answeredProbe = 0;
  }

  /** A tag for the sending by this link that {@link #sent} is told of next. */
  int next(int link, long nowNs, boolean probe) {
    do {
      newest = newest == MASK ? 1 : newest + 1;
      if (newest == serials.length) {
        grow();
      }
    } while (isKept(newest));
    serials[newest] = sendings + 1;
    sentAtNs[newest] = nowNs;
    probes[newest] = probe;
    questions[newest] = false;
    links[newest] = (byte) link;
    return newest;
  }

  /* There are far fewer links than tags. */
  private boolean isKept(int tag) {
    return serials[tag] != 0 && questions[tag] && kept[links[tag]] == tag;
  }

  private void grow() {
    int tags = 2 * serials.length;
    sentAtNs = Arrays.copyOf(sentAtNs, tags);
    serials = Arrays.copyOf(serials, tags);
    probes = Arrays.copyOf(probes, tags);
    questions = Arrays.copyOf(questions, tags);
    links = Arrays.copyOf(links, tags);
  }

  /* What a peer returns may be a tag that there never was: it is taken for none. */
  private int known(int tag) {
    return (tag & MASK) < serials.length ? tag & MASK : PacketFormat.NO_TAG;
  }

  /**
   * The same for a question whether a way carries wide packets. However many packets leave before
   * its answer comes, that is known for its own until the next question by this link.
   */
  int nextQuestion(int link, long nowNs) {
    int tag = next(link, nowNs, false);
    questions[tag] = true;
    kept[link] = (byte) tag;
    return tag;
  }

  /** Whether it is the tag of such a question. */
  boolean isQuestion(int tag) {
    return questions[known(tag)];
  }

  /** Something is sent, with a tag or without. Returns the sending's number, from 1. */
  long sent() {
    return ++sendings;
  }

  /** The link that the tagged packet went by. */
  int link(int tag) {
    return links[known(tag)];
  }

  long sentAtNs(int tag) {
    return sentAtNs[known(tag)];
  }

  /**
   * An acknowledgement brought this tag back.
   *
   * @return false where it has been answered before, or never was given
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

  /** Number of the newest sending by this link that has been answered. */
  long answered(int link) {
    return answered[link];
  }

  /** When the newest sending that has been answered was made. */
  long newestAnsweredNs() {
    return newestAnsweredNs;
  }

  /** Number of the probe that the acknowledgement in hand answers, or 0; once. */
  long takeAnsweredProbe() {
    long probe = answeredProbe;
    answeredProbe = 0;
    return probe;
  }
}
