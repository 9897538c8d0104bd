package io.heddle.stats;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Snapshot of a process's statistics.
 *
 * @param file statistics file that was read
 * @param processId PID of the process in its own PID namespace; in a container not the host's PID
 * @param startMs start of the statistics, in milliseconds since 1970
 * @param rows open communicators by plane, and the sums of the closed ones
 * @param deviceCounters {@code device/counter} to value, in the order in which they appeared
 * @param errors distinct warnings, oldest first
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
   * Returns the number of the process's PID namespace, which tells containers with equal PIDs
   * apart; empty if the process couldn't read it.
   */
  public String namespace() {
    return StaleStats.namespace(file);
  }

  /**
   * Counters of one communicator on one plane, or sums of the counters of all closed communicators
   * on a plane.
   *
   * @param open false for sums of closed communicators
   * @param direction direction of the data
   * @param planeKey key of the plane
   * @param weight assigned weight of the plane
   * @param peer name of the peer
   * @param cutSends sends that were longer than their receives
   * @param acknowledgedBytes sent bytes that the peer's device has acknowledged
   * @param resentPackets packets that the device resent, if it reports them
   * @param failovers how often communicators continued without the plane
   * @param movedChunks chunks sent over this plane that had to be sent again over another one
   * @param movedBytes bytes of these chunks
   * @param oneSided puts, signals, gets and flushes
   * @param local this end's address, 16 bytes, zero if unknown
   * @param remote the peer's address, 16 bytes, zero if unknown
   * @param weightSource origin of the weight, at most 23 bytes of it
   * @param openedMs time at which the communicator was opened, in milliseconds since 1970
   * @param weightSinceMs time at which the weight was last changed, in milliseconds since 1970; 0
   *     if the weight was never set
   * @param reordering chunks that arrived 0, 1, 2–3, 4–7 … 32–63 ahead of their message's gap
   * @param latencies times of work requests, from post to acknowledgement
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
    /** Returns the bytes in flight; 0 at the receiver. */
    public long inFlightBytes() {
      return direction == StatsFile.Direction.RECEIVE
          ? 0
          : Math.max(0, bytes - acknowledgedBytes - movedBytes);
    }
  }

  /**
   * Warning with the count of all its occurrences.
   *
   * @param sentence sentence of the first occurrence
   * @param firstMs time of the first occurrence, in milliseconds since 1970
   * @param lastMs time of the last occurrence, in milliseconds since 1970
   */
  public record DistinctError(String sentence, long count, long firstMs, long lastMs) {}
}
