package io.heddle.transport.stats;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.heddle.platform.Memory;
import java.lang.foreign.Arena;

/**
 * Counters of one communicator on one plane. One thread writes; each increment is a plain read and
 * a release write, so that a reader in another process sees no torn or ancient value.
 */
public final class PlaneCounters {
  private final long record;

  PlaneCounters(long record) {
    this.record = record;
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
    add(StatsLayout.BYTES, lengthBytes);
    add(StatsLayout.CHUNKS, 1);
  }

  /**
   * The plane's weight is another now; not on the data path.
   *
   * @param source where it comes from; cut to 23 bytes
   */
  public void setWeight(int weight, String source) {
    Memory.ALL.set(Memory.NATIVE_INT, record + StatsLayout.WEIGHT, weight);
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

  private void add(int field, long amount) {
    long address = record + field;
    Memory.setLongRelease(address, Memory.ALL.get(Memory.NATIVE_LONG, address) + amount);
  }
}
