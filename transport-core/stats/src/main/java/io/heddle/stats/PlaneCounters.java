package io.heddle.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.Memory;
import io.heddle.verbs.LinkCounts;
import java.lang.foreign.Arena;

/**
 * Counters of one communicator on one plane. One thread writes, unless said otherwise; each
 * increment is a plain read and a release write, so that a reader in another process sees no torn
 * or ancient value.
 */
public final class PlaneCounters {
  private final long record;
  /* What links of one queue pair count is told by the control thread, not by who drives the communicator. */
  private final boolean linksCount;

  PlaneCounters(long record) {
    this(record, false);
  }

  private PlaneCounters(long record, boolean linksCount) {
    this.record = record;
    this.linksCount = linksCount;
  }

  /** The same counters, without what {@link #link} counts. */
  public PlaneCounters withoutLinks() {
    return new PlaneCounters(record, true);
  }

  /** Counters that no file shows. */
  public static PlaneCounters unpublished(Arena arena) {
    return new PlaneCounters(Memory.allocate(arena, StatsLayout.RECORD_BYTES, Long.BYTES));
  }

  long record() {
    return record;
  }

  /** A chunk of this length was sent, or arrived. */
  public void chunk(int lengthBytes) {
    if (!linksCount) {
      add(StatsLayout.BYTES, lengthBytes);
    }
    add(StatsLayout.CHUNKS, 1);
  }

  /**
   * The peer's device acknowledged a work request.
   *
   * @param lengthBytes of a chunk; 0 for what isn't one
   * @param tookNs since it was posted
   */
  public void acknowledged(int lengthBytes, long tookNs) {
    if (!linksCount) {
      add(StatsLayout.ACKNOWLEDGED, lengthBytes);
    }
    add(StatsLayout.LATENCIES + Latencies.bucket(tookNs) * Long.BYTES, 1);
  }

  /** A chunk that was sent over this plane goes over another one, since this one failed. */
  public void moved(int lengthBytes) {
    add(StatsLayout.MOVED_BYTES, lengthBytes);
    add(StatsLayout.MOVED_CHUNKS, 1);
  }

  /** The communicator goes on without this plane. */
  public void failover() {
    add(StatsLayout.FAILOVERS, 1);
  }

  /**
   * A chunk arrived out of order, or in it.
   *
   * @param ahead how many chunks it is ahead of the first one of its message that is missing, 0 to
   *     63; 0 where it is that one
   */
  public void reordered(int ahead) {
    if (linksCount) {
      return;
    }
    add(StatsLayout.REORDERING + (Integer.SIZE - Integer.numberOfLeadingZeros(ahead)) * 8, 1);
  }

  /**
   * What a queue pair over all planes has done on the one of this record; the control thread's.
   *
   * @param sends whether the record is a sender's
   */
  public void link(LinkCounts newly, boolean sends) {
    add(StatsLayout.BYTES, sends ? newly.sentBytes() : newly.receivedBytes());
    add(StatsLayout.ACKNOWLEDGED, sends ? newly.acknowledgedBytes() : 0);
    add(StatsLayout.FAILOVERS, newly.silences());
    resent(newly.resentPackets());
    long[] ahead = newly.ahead();
    for (int i = 0; !sends && i < ahead.length; i++) {
      /* The last one has what is further, where a device tells more. */
      int bucket = Math.min(i, StatsLayout.REORDERINGS - 1);
      add(StatsLayout.REORDERING + bucket * Long.BYTES, ahead[i]);
    }
  }

  /** The device sent this many packets again; the control thread's. */
  public void resent(long packets) {
    if (packets != 0) {
      add(StatsLayout.RESENT, packets);
    }
  }

  /**
   * The plane's weight is another now; not on the data path.
   *
   * @param source where it comes from; cut to 23 bytes
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

  /** The two addresses, 16 bytes each in network order. */
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

  /** A send was longer than its receive. */
  public void cut() {
    add(StatsLayout.CUT, 1);
  }

  /** A one-sided write began here, or all of one has come. */
  public void put() {
    add(StatsLayout.PUTS, 1);
  }

  /** A write with a signal began here, or a signal was applied. */
  public void signal() {
    add(StatsLayout.SIGNALS, 1);
  }

  /** A one-sided read began. */
  public void get() {
    add(StatsLayout.GETS, 1);
  }

  /** A chunk of a one-sided read is here. */
  public void gotten(int lengthBytes) {
    add(StatsLayout.GET_BYTES, lengthBytes);
  }

  /** What one-sided reads have brought is to be visible. */
  public void flush() {
    add(StatsLayout.FLUSHES, 1);
  }

  private void add(int field, long amount) {
    long address = record + field;
    Memory.setLongRelease(address, Memory.ALL.get(Memory.NATIVE_LONG, address) + amount);
  }
}
