package io.heddle.stats;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Everything that a process tells of itself, as it was at one moment.
 *
 * @param file where it was read
 * @param processId the number that the process has for itself; in a container it isn't the host's
 * @param startMs milliseconds since 1970
 * @param rows open communicators by plane, and the sums of the closed ones
 * @param deviceCounters {@code device/counter} to value, in the order in which they appeared
 * @param errors oldest first
 * @param errorsLost warnings that found no room in the file
 */
public record ProcessStats(
    Path file,
    long processId,
    long startMs,
    List<Row> rows,
    Map<String, Long> deviceCounters,
    List<DistinctError> errors,
    long errorsLost) {

  /**
   * One communicator on one plane, or the sum of the closed ones of a plane.
   *
   * @param open false for the sum of the closed ones
   * @param direction which way the data goes
   * @param planeKey the plane
   * @param weight what the plane was asked to carry
   * @param peer the other end
   * @param cutSends sends that were longer than their receives
   * @param acknowledgedBytes of those sent, what the peer's device has
   * @param resentPackets what the device sent again, where it tells
   * @param failovers how often communicators went on without the plane
   * @param movedChunks chunks sent here that went over another plane in the end
   * @param movedBytes bytes of them
   * @param oneSided puts, signals, gets and flushes
   * @param local this end's address, 16 bytes, zero where unknown
   * @param remote the peer's, likewise
   * @param weightSource where the weight comes from, at most 23 bytes of it
   * @param openedMs milliseconds since 1970
   * @param weightSinceMs likewise, 0 where it was never told
   * @param reordering chunks that arrived 0, 1, 2–3, 4–7 … 32–63 ahead of their message's gap
   * @param latencies of work requests, from post to acknowledgement
   */
  @SuppressWarnings("ArrayRecordComponent")
  public record Row(
      boolean open,
      StatsFile.Direction direction,
      String planeKey,
      int weight,
      String peer,
      long bytes,
      long chunks,
      long messages,
      long duplicates,
      long wouldBlock,
      long cutSends,
      long acknowledgedBytes,
      long resentPackets,
      long failovers,
      long movedChunks,
      long movedBytes,
      OneSidedCounts oneSided,
      byte[] local,
      byte[] remote,
      String weightSource,
      long openedMs,
      long weightSinceMs,
      long[] reordering,
      Latencies latencies) {
    /** Bytes on their way; 0 for received ones. */
    public long inFlightBytes() {
      return direction == StatsFile.Direction.RECEIVE
          ? 0
          : Math.max(0, bytes - acknowledgedBytes - movedBytes);
    }
  }

  /**
   * A warning and its like.
   *
   * @param sentence the first one's words
   * @param firstMs milliseconds since 1970
   */
  public record DistinctError(String sentence, long count, long firstMs, long lastMs) {}
}
