package io.heddle.bridge.table;

import io.heddle.verbs.Gid;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Hash table by address: open addressing, at most half full. Immutable: the data thread reads one
 * table while another thread builds the next.
 *
 * @param <T> type of the values, one for each address
 */
public final class AddressTable<T> {
  private static final long MIX = 0x9E37_79B9_7F4A_7C15L;

  private final long[] high;
  private final long[] low;
  private final @Nullable Object[] values;
  private final int mask;

  public AddressTable(Map<Gid, T> entries) {
    int size = Integer.highestOneBit(Math.max(4, entries.size() * 4 - 1));
    mask = size - 1;
    high = new long[size];
    low = new long[size];
    values = new Object[size];
    entries.forEach((address, value) -> {
      int at = place(address.high(), address.low());
      while (values[at] != null) {
        at = at + 1 & mask;
      }
      high[at] = address.high();
      low[at] = address.low();
      values[at] = value;
    });
  }

  private int place(long addressHigh, long addressLow) {
    long mixed = (addressHigh * MIX ^ addressLow) * MIX;
    return (int) (mixed >>> 32) & mask;
  }

  /** Returns the value of this address; null if the table has none. */
  @SuppressWarnings("unchecked")
  public @Nullable T find(long addressHigh, long addressLow) {
    int at = place(addressHigh, addressLow);
    while (values[at] != null) {
      if (low[at] == addressLow && high[at] == addressHigh) {
        return (T) values[at];
      }
      at = at + 1 & mask;
    }
    return null;
  }
}
