package io.heddle.cli.stat;

import io.heddle.addr.AddressText;
import io.heddle.addr.Plane;
import io.heddle.stats.Latencies;
import io.heddle.stats.OneSidedCounts;
import io.heddle.stats.ProcessStats;
import io.heddle.stats.StatsFile;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Traffic of a process with one peer over one plane in one direction: sums over all communicators.
 *
 * @param communicators number of open communicators
 * @param weight weight of the plane in the communicator whose weight changed last
 */
@SuppressWarnings("ArrayRecordComponent")
record Flow(
    Key key,
    String local,
    String remote,
    int communicators,
    int weight,
    String weightSource,
    long weightSinceMs,
    long bytes,
    long chunks,
    long messages,
    long inFlightBytes,
    long resentPackets,
    long duplicates,
    long wouldBlock,
    long cutSends,
    long failovers,
    long movedChunks,
    long movedBytes,
    OneSidedCounts oneSided,
    long[] reordering,
    Latencies latencies) {

  /**
   * Identity of a flow.
   *
   * @param namespace number of the process's PID namespace; empty if unknown
   */
  record Key(
      long processId, String namespace, String peer, String plane, StatsFile.Direction direction) {}

  private static final Comparator<Flow> BY_NAME =
      Comparator.<Flow>comparingLong(flow -> flow.key.processId)
          .thenComparing(flow -> flow.key.peer)
          .thenComparing(flow -> flow.key.direction)
          .thenComparing(flow -> flow.key.plane, Plane.KEY_ORDER);

  /** Returns the flows of a process, sorted by peer, direction and plane. */
  static List<Flow> of(ProcessStats process) {
    Map<Key, Flow> flows = new LinkedHashMap<>();
    for (ProcessStats.Row row : process.rows()) {
      Flow flow = of(process, row);
      flows.merge(flow.key, flow, Flow::plus);
    }
    List<Flow> sorted = new ArrayList<>(flows.values());
    sorted.sort(BY_NAME);
    return sorted;
  }

  private static Flow of(ProcessStats process, ProcessStats.Row row) {
    return new Flow(
        new Key(
            process.processId(), process.namespace(), row.peer(), row.planeKey(), row.direction()),
        text(row.local()),
        text(row.remote()),
        row.open() ? 1 : 0,
        row.weight(),
        row.weightSource(),
        row.weightSinceMs(),
        row.bytes(),
        row.chunks(),
        row.messages(),
        row.inFlightBytes(),
        row.resentPackets(),
        row.duplicates(),
        row.wouldBlock(),
        row.cutSends(),
        row.failovers(),
        row.movedChunks(),
        row.movedBytes(),
        row.oneSided(),
        row.reordering(),
        row.latencies());
  }

  private Flow plus(Flow other) {
    boolean newer = other.weightSinceMs >= weightSinceMs;
    long[] sums = reordering.clone();
    for (int i = 0; i < sums.length; i++) {
      sums[i] += other.reordering[i];
    }
    return new Flow(
        key,
        newer ? other.local : local,
        newer ? other.remote : remote,
        communicators + other.communicators,
        newer ? other.weight : weight,
        newer ? other.weightSource : weightSource,
        newer ? other.weightSinceMs : weightSinceMs,
        bytes + other.bytes,
        chunks + other.chunks,
        messages + other.messages,
        inFlightBytes + other.inFlightBytes,
        resentPackets + other.resentPackets,
        duplicates + other.duplicates,
        wouldBlock + other.wouldBlock,
        cutSends + other.cutSends,
        failovers + other.failovers,
        movedChunks + other.movedChunks,
        movedBytes + other.movedBytes,
        oneSided.plus(other.oneSided),
        sums,
        latencies.plus(other.latencies));
  }

  boolean isSend() {
    return key.direction == StatsFile.Direction.SEND;
  }

  /**
   * Returns a percentile of the chunks' distances from the first missing chunk of their message,
   * rounded up to the end of a histogram bucket. Buckets end at powers of two less one.
   *
   * @param part share of all chunks, 0 to 1; 0.99 for the 99th percentile
   */
  int aheadAtMost(double part) {
    long total = 0;
    for (long count : reordering) {
      total += count;
    }
    long rank = (long) Math.ceil(part * total);
    long seen = 0;
    for (int i = 0; i < reordering.length; i++) {
      seen += reordering[i];
      if (seen >= rank) {
        return (1 << i) - 1;
      }
    }
    throw new IllegalStateException("the counts of " + total + " don't reach " + rank);
  }

  private static String text(byte[] address) {
    for (byte part : address) {
      if (part != 0) {
        try {
          return AddressText.of(InetAddress.getByAddress(address));
        } catch (UnknownHostException impossible) {
          throw new IllegalStateException("sixteen bytes are an address", impossible);
        }
      }
    }
    return "";
  }
}
