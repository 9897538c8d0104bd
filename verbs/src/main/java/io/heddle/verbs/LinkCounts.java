package io.heddle.verbs;

import java.util.Arrays;

/**
 * What one link of a queue pair has done: one local and one remote address out of several.
 *
 * @param sentBytes payload of packets that were sent the first time
 * @param acknowledgedBytes payload that the peer has acknowledged of them
 * @param resentPackets packets that were lost on this link and sent again, over whichever
 * @param receivedBytes payload that came over it, without what had come before
 * @param ahead packets that came over it ahead of the first missing one: by 0, 1, 2–3, 4–7 numbers
 *     and so on
 * @param silences how often it was left since it answered nothing
 * @param resting whether it is left at present
 */
public record LinkCounts(
    long sentBytes,
    long acknowledgedBytes,
    long resentPackets,
    long receivedBytes,
    long[] ahead,
    long silences,
    boolean resting) {
  /** What has been done since then. */
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
