package io.heddle.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.Memory;
import io.heddle.verbs.LinkCounts;
import java.lang.foreign.Arena;

/**
 * Counters of one communicator on one plane. Written by the thread that drives the communicator,
 * except where a method names another thread. Each increment is a plain read and a release write,
 * so that a reader in another process sees no torn value.
 */
public final class PlaneCounters {
  private final long record;
  /*
   * Whether the control thread counts bytes, acknowledged bytes and reordering with
   * addLinkCounts(). The other methods then leave these counters alone.
   */
  private final boolean linksCount;

  PlaneCounters(long record) {
    this(record, false);
  }

  private PlaneCounters(long record, boolean linksCount) {
    this.record = record;
    this.linksCount = linksCount;
  }

  /**
   * Returns a view of these counters whose methods, except {@link #addLinkCounts}, leave alone the
   * counters that {@link #addLinkCounts} adds to.
   */
  public PlaneCounters withoutLinks() {
    return new PlaneCounters(record, true);
  }

  /** Creates counters that no file shows. */
  public static PlaneCounters unpublished(Arena arena) {
    return new PlaneCounters(Memory.allocate(arena, StatsLayout.RECORD_BYTES, Long.BYTES));
  }

  long record() {
    return record;
  }

  /** Counts a chunk of this length that was sent, or arrived. */
  public void chunk(int lengthBytes) {
    if (!linksCount) {
      add(StatsLayout.BYTES, lengthBytes);
    }
    add(StatsLayout.CHUNKS, 1);
  }

  /**
   * Counts a work request that the peer's device acknowledged.
   *
   * @param lengthBytes length of a chunk; 0 for any other request
   * @param tookNs time since the request was posted
   */
  public void acknowledged(int lengthBytes, long tookNs) {
    if (!linksCount) {
      add(StatsLayout.ACKNOWLEDGED, lengthBytes);
    }
    add(StatsLayout.LATENCIES + Latencies.bucket(tookNs) * Long.BYTES, 1);
  }

  /** Counts a chunk that was sent over this plane and moves to another one after a failover. */
  public void countMoved(int lengthBytes) {
    add(StatsLayout.MOVED_BYTES, lengthBytes);
    add(StatsLayout.MOVED_CHUNKS, 1);
  }

  /** Counts a failover: the communicator continues without this plane. */
  public void failover() {
    add(StatsLayout.FAILOVERS, 1);
  }

  /**
   * Counts a chunk by how far out of order it arrived.
   *
   * @param ahead distance of the chunk from the first missing chunk of its message, 0 to 63; 0 if
   *     it is the first missing chunk
   */
  public void reordered(int ahead) {
    if (linksCount) {
      return;
    }
    add(StatsLayout.REORDERING + (Integer.SIZE - Integer.numberOfLeadingZeros(ahead)) * 8, 1);
  }

  /**
   * Adds the counts of one link of a queue pair that spans all planes: the link on the plane of
   * these counters. Called by the control thread.
   *
   * @param newly counts since the previous call
   * @param sends whether this end sends
   */
  public void addLinkCounts(LinkCounts newly, boolean sends) {
    add(StatsLayout.BYTES, sends ? newly.sentBytes() : newly.receivedBytes());
    add(StatsLayout.ACKNOWLEDGED, sends ? newly.acknowledgedBytes() : 0);
    add(StatsLayout.FAILOVERS, newly.silences());
    resent(newly.resentPackets());
    long[] ahead = newly.ahead();
    for (int i = 0; !sends && i < ahead.length; i++) {
      /* A device may count distances beyond the last bucket, which takes them too. */
      int bucket = Math.min(i, StatsLayout.REORDERINGS - 1);
      add(StatsLayout.REORDERING + bucket * Long.BYTES, ahead[i]);
    }
  }

  /** Counts packets that the device resent; called by the control thread. */
  public void resent(long packets) {
    if (packets != 0) {
      add(StatsLayout.RESENT, packets);
    }
  }

  /**
   * Sets the plane's weight; not on the data path.
   *
   * @param source origin of the weight; cut to 23 bytes
   */
  public void setWeight(int weight, String source) {
    if (weight != Memory.ALL.get(Memory.NATIVE_INT, record + StatsLayout.WEIGHT)
        || Memory.ALL.get(Memory.NATIVE_LONG, record + StatsLayout.WEIGHT_SINCE) == 0) {
      Memory.ALL.set(Memory.NATIVE_INT, record + StatsLayout.WEIGHT, weight);
      Memory.ALL.set(
          Memory.NATIVE_LONG, record + StatsLayout.WEIGHT_SINCE, System.currentTimeMillis());
    }
    StatsFile.putText(record + StatsLayout.SOURCE, StatsLayout.SOURCE_BYTES, source);
  }

  /** Sets the addresses of this end and of the peer, 16 bytes each in network order. */
  public void setAddresses(byte[] local, byte[] remote) {
    for (int i = 0; i < StatsLayout.ADDRESS_BYTES; i++) {
      Memory.ALL.set(JAVA_BYTE, record + StatsLayout.LOCAL + i, local[i]);
      Memory.ALL.set(JAVA_BYTE, record + StatsLayout.REMOTE + i, remote[i]);
    }
  }

  public void message() {
    add(StatsLayout.MESSAGES, 1);
  }

  public void duplicate() {
    add(StatsLayout.DUPLICATES, 1);
  }

  public void wouldBlock() {
    add(StatsLayout.WOULD_BLOCK, 1);
  }

  /** Counts a send that was longer than its receive. */
  public void countTruncatedSend() {
    add(StatsLayout.CUT, 1);
  }

  /** Counts a one-sided write that began here, or arrived completely. */
  public void put() {
    add(StatsLayout.PUTS, 1);
  }

  /** Counts a signal: of a put that began here, or of the peer's put when it is applied here. */
  public void signal() {
    add(StatsLayout.SIGNALS, 1);
  }

  /** Counts a one-sided read that began. */
  public void get() {
    add(StatsLayout.GETS, 1);
  }

  /** Counts a chunk of a one-sided read that arrived. */
  public void getArrived(int lengthBytes) {
    add(StatsLayout.GET_BYTES, lengthBytes);
  }

  /** Counts a flush of one-sided reads. */
  public void flush() {
    add(StatsLayout.FLUSHES, 1);
  }

  private void add(int field, long amount) {
    long address = record + field;
    Memory.setLongRelease(address, Memory.ALL.get(Memory.NATIVE_LONG, address) + amount);
  }
}
