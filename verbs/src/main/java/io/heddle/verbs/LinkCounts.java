package io.heddle.verbs;

import java.util.Arrays;

/**
 * Counters of one link of a queue pair. A link is a pair of a local and a remote address.
 *
 * @param sentBytes payload sent, without retransmissions
 * @param acknowledgedBytes part of the sent payload that the peer has acknowledged
 * @param resentPackets packets lost on this link and retransmitted over any link
 * @param receivedBytes payload received, without duplicates
 * @param ahead numbers of packets received, by their distance from the first missing packet: 0, 1,
 *     2–3, 4–7 and so on
 * @param silences number of times that the link was taken out of use because nothing was
 *     acknowledged
 * @param resting whether the link is out of use now
 */
public record LinkCounts(
    long sentBytes,
    long acknowledgedBytes,
    long resentPackets,
    long receivedBytes,
    long[] ahead,
    long silences,
    boolean resting) {
  /** Returns the difference to earlier counters. */
  public LinkCounts since(LinkCounts earlier) {
    long[] newly = ahead.clone();
    Arrays.setAll(newly, i -> newly[i] - earlier.ahead[i]);
    return new LinkCounts(
        sentBytes - earlier.sentBytes,
        acknowledgedBytes - earlier.acknowledgedBytes,
        resentPackets - earlier.resentPackets,
        receivedBytes - earlier.receivedBytes,
        newly,
        silences - earlier.silences,
        resting);
  }
}
